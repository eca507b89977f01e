// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/usage.h"
#include "util/error.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;

constexpr const char *description = "Show the calls of live kernel functions, with typed arguments";
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

struct Command {
    std::string_view name;
    void (*setup)(CLI::App &app) = nullptr;
    /// For one that may run a program: what follows `--`.
    void (*setup_with)(CLI::App &app, const std::vector<std::string> &program) = nullptr;
};

/// In the order of `argtrace --help`.
constexpr auto commands = std::to_array<Command>({
    {"trace", nullptr, setup_trace},
    {"record", nullptr, setup_record},
    {"count", nullptr, setup_count},
    {"stacks", nullptr, setup_stacks},
    {"profile", nullptr, setup_profile},
    {"hist", nullptr, setup_hist},
    {"sum", nullptr, setup_sum},
    {"min", nullptr, setup_min},
    {"max", nullptr, setup_max},
    {"avg", nullptr, setup_avg},
    {"latency", nullptr, setup_latency},
    {"offcpu", nullptr, setup_offcpu},
    {"top", nullptr, setup_top},
    {"report", setup_report},
    {"export", setup_export},
    {"snapshot", setup_snapshot},
    {"list", setup_list},
    {"add", setup_add},
    {"rm", setup_rm},
    {"clear", setup_clear},
    {"status", setup_status},
    {"types", setup_types},
    {"info", setup_info},
    {"doctor", setup_doctor},
});

/// The command that the first word names, or null.
const Command *chosen_command(const std::vector<std::string> &words) {
    if (words.empty())
        return nullptr;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&words](const Command &command) { return command.name == words[0]; });
    return found == commands.end() ? nullptr : &*found;
}

/// Takes what follows `--` off the words of a command that runs another one.
std::vector<std::string> take_program(const Command *command, std::vector<std::string> &words) {
    if (!command || !command->setup_with)
        return {};
    const auto end = std::find(words.begin(), words.end(), "--");
    if (end == words.end())
        return {};
    std::vector<std::string> program(end + 1, words.end());
    words.erase(end, words.end());
    return program;
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

/// Adds one command to the App, or all: their options take eight million instructions.
void set_up(CLI::App &app, const Command *only, const std::vector<std::string> &program) {
    app.set_version_flag("--version", version, "Show the version and exit");
    app.set_help_flag("-h,--help", "Show this help and exit");
    app.formatter(std::make_shared<HelpFormatter>());
    app.get_formatter()->label("Positionals", "Arguments");
    for (const Command &command : commands) {
        if (only && only != &command)
            continue;
        if (command.setup)
            command.setup(app);
        else
            command.setup_with(app, program);
    }
    for (CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; })) {
        command->group("Commands");
        command->set_version_flag("--version", version, "Show the version and exit");
    }
    app.footer(examples); // last: the commands would inherit it
}

int run(std::vector<std::string> words) {
    words = expand_help(std::move(words));
    const Command *const chosen = chosen_command(words);
    const std::vector<std::string> program = take_program(chosen, words);
    join_level(words);
    words = keep_brackets(std::move(words));
    CLI::App app(description, "argtrace");
    set_up(app, chosen, program);

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
        CLI::App all(description, "argtrace");
        set_up(all, nullptr, program);
        write_message(explain_usage(app, all, error, words));
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
    // Libraries that read debug files are not to look for them on the network.
    ::unsetenv("DEBUGINFOD_URLS");
    try {
        return argtrace::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        argtrace::write_message(error.what());
        return argtrace::exit_failure;
    }
}
