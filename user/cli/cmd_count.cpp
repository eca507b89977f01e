// SPDX-License-Identifier: GPL-2.0-only
#include <memory>

#include "cli/aggregate_options.h"
#include "cli/commands.h"
#include "cli/function_options.h"

namespace argtrace {

void setup_count(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<AggregateOptions>();
    options->command = words;
    CLI::App *command = app.add_subcommand("count", "Count calls, by function or by any expression");
    add_aggregate_options(*command, *options);
    command->footer(std::string(spec_help) + "\n\n" + aggregate_help +
                    "\n\nExamples:\n"
                    "  argtrace count 'vfs_*'                          calls by function\n"
                    "  argtrace count -i 1 'tcp_*'                     in each second\n"
                    "  argtrace count --by comm,ret vfs_read           who reads, and what it gets\n"
                    "  argtrace count --by 'str(file->f_path.dentry->d_name.name) as file' vfs_read\n"
                    "  argtrace count --in argtrace.dat --by pid       of a recording");
    command->callback([options] { run_aggregate(*options); });
}

} // namespace argtrace
