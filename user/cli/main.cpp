// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/help.h"
#include "cli/usage.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

namespace {

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;

constexpr const char *version = "argtrace " ARGTRACE_VERSION;

constexpr const char *examples = R"(Examples:
  argtrace trace vfs_read            watch every call of vfs_read, until Ctrl-C
  argtrace trace -n 10 'tcp_v4_*'    the next ten calls of these functions
  argtrace list 'vfs_*'              what can be traced, with prototypes

  argtrace count 'vfs_*'             how often they are called ...
  argtrace hist 'vfs_read(count)'    ... with which values, and ...
  argtrace latency vfs_read          ... how long that takes

  argtrace record vfs_read -- make   record to argtrace.dat while make runs ...
  argtrace report --json             ... and show it, here or elsewhere ...
  argtrace export -o make.pftrace    ... or look at it in ui.perfetto.dev

  argtrace add vfs_read vfs_write    trace in the background ...
  argtrace status                    ... count ...
  argtrace trace --json              ... watch what has been called since ...
  argtrace clear                     ... and end it

`argtrace COMMAND --help` says more.)";

/// `argtrace help` and `argtrace help COMMAND` as people write them.
std::vector<std::string> expand_help(std::vector<std::string> words) {
    if (words.empty() || words[0] != "help")
        return words;
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.push_back("--help");
    return words;
}

/// CLI11 makes two arguments of "[a,b]", unless a blank follows it, which a SPEC ignores.
std::vector<std::string> keep_brackets(std::vector<std::string> words) {
    for (std::size_t i = 1; i < words.size(); ++i)
        if (words[i].starts_with('[') && words[i].ends_with(']') && !words[i - 1].starts_with('-'))
            words[i] += ' ';
    return words;
}

/// Takes what follows `--` off the words of a command that runs another one.
std::vector<std::string> take_command(std::vector<std::string> &words) {
    constexpr auto with_command = std::to_array<std::string_view>(
        {"trace", "record", "count", "stacks", "hist", "sum", "min", "max", "avg", "latency", "offcpu",
         "profile", "top"});
    if (words.empty() ||
        std::find(with_command.begin(), with_command.end(), words[0]) == with_command.end())
        return {};
    const auto end = std::find(words.begin(), words.end(), "--");
    if (end == words.end())
        return {};
    std::vector<std::string> command(end + 1, words.end());
    words.erase(end, words.end());
    return command;
}

/// Takes a number after --compress for its level. Whatever else may follow is no level: a flag
/// takes no word of its own.
void join_level(std::vector<std::string> &words) {
    const auto flag = std::find(words.begin(), words.end(), "--compress");
    if (flag == words.end() || flag + 1 == words.end())
        return;
    const std::string &next = flag[1];
    if (next.empty() || next.find_first_not_of("0123456789") != next.npos)
        return;
    *flag += "=" + next;
    words.erase(flag + 1);
}

/// Sees to it that what went to std::cout has been written; `status` if so. That a reader has gone is
/// no failure: `argtrace trace --help | head`.
int end_output(int status) {
    if (std::cout.flush() || errno == EPIPE)
        return status;
    message("cannot write the output: {}", std::strerror(errno));
    return exit_failure;
}

int run(std::vector<std::string> words) {
    const std::vector<std::string> command = take_command(words);
    join_level(words);
    CLI::App app("Show the calls of live kernel functions, with typed arguments", "argtrace");
    app.set_version_flag("--version", version, "Show the version and exit");
    app.set_help_flag("-h,--help", "Show this help and exit");
    app.formatter(std::make_shared<HelpFormatter>());
    app.get_formatter()->label("Positionals", "Arguments");
    setup_trace(app, command);
    setup_record(app, command);
    setup_count(app, command);
    setup_stacks(app, command);
    setup_profile(app, command);
    setup_hist(app, command);
    setup_sum(app, command);
    setup_latency(app, command);
    setup_offcpu(app, command);
    setup_top(app, command);
    setup_report(app);
    setup_export(app);
    setup_snapshot(app);
    setup_list(app);
    setup_add(app);
    setup_rm(app);
    setup_clear(app);
    setup_status(app);
    setup_types(app);
    setup_info(app);
    setup_doctor(app);
    for (CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
        command->group("Commands");
        command->set_version_flag("--version", version, "Show the version and exit");
    }
    app.footer(examples); // last: the commands would inherit it

    words = keep_brackets(expand_help(std::move(words)));
    if (words.empty()) {
        std::cout << app.help();
        return end_output(exit_failure);
    }
    if (is_unknown_command(app, words)) {
        write_message(explain_unknown_command(app, words));
        return exit_usage;
    }
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend())); // as CLI11 wants them
    } catch (const CLI::Success &help_or_version) {
        return end_output(app.exit(help_or_version));
    } catch (const CLI::ParseError &error) {
        write_message(explain_usage(app, error, words));
        return exit_usage;
    } catch (const ExitStatus &exit) {
        return exit.status;
    }
    return 0;
}

/// Gives those of the descriptors 0 to 2 that are closed to /dev/null: else the first files that
/// are opened would get their numbers, and with them what is meant for stdout or stderr.
bool occupy_standard_descriptors() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        // open() returns the lowest number that is free, which is `fd`: those below are taken.
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd)
            return false;
    }
    return true;
}

} // namespace

} // namespace argtrace

int main(int argc, char **argv) {
    if (!argtrace::occupy_standard_descriptors())
        return argtrace::exit_failure; // there may be no stderr to say so
    // write() reports a reader that has gone, and a file that may not grow.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    try {
        return argtrace::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        argtrace::write_message(error.what());
        return argtrace::exit_failure;
    }
}
