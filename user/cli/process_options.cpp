// SPDX-License-Identifier: GPL-2.0-only
#include "cli/process_options.h"

namespace argtrace {

void add_pid_option(CLI::App &command, std::vector<std::uint32_t> &pids, const char *description) {
    command
        .add_option_function<std::vector<std::string>>(
            "-p,--pid",
            [&pids](const std::vector<std::string> &texts) {
                try {
                    for (const std::string &text : texts)
                        parse_pids("-p", text, pids);
                } catch (const Error &error) {
                    throw CLI::ValidationError(std::string(error.what()));
                }
            },
            description)
        ->type_name("PID[,PID...]")
        ->allow_extra_args(false);
}

void add_process_options(CLI::App &command, ProcessOptions &options, const char *follow,
                         const char *follow_names) {
    add_pid_option(command, options.pids, "Only calls of that process, all its threads; may be given several times");
    command.add_flag(follow_names, options.follow, follow);
}

void check_follow(const ProcessOptions &options, bool runs_command) {
    if (options.follow && options.pids.empty() && !runs_command)
        throw CLI::ValidationError("--follow needs a process to follow: name it "
                                   "with -p, or with trace and record a COMMAND after --");
}

} // namespace argtrace
