// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "util/error.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;

constexpr const char *examples = R"(Examples:
  argtrace trace vfs_read            watch every call of vfs_read, until Ctrl-C
  argtrace trace -n 10 'tcp_v4_*'    the next ten calls of these functions
  argtrace list 'vfs_*'              what can be traced, with prototypes

  argtrace record vfs_read -- make   record to a file, argtrace.dat, while make runs ...
  argtrace report --json             ... and show it, here or on another machine

  argtrace add vfs_read vfs_write    trace in the background ...
  argtrace status                    ... count ...
  argtrace trace --json              ... watch what has been called since ...
  argtrace clear                     ... and end it

`argtrace COMMAND --help` says more.)";

void complain(std::string_view sentence) {
    fmt::print(stderr, "argtrace: {}\n", sentence);
}

std::vector<std::string> command_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        names.push_back(command->get_name());
    return names;
}

/// The first word is meant as a command, but is none.
bool is_unknown_command(const CLI::App &app, const std::vector<std::string> &words) {
    auto names = command_names(app);
    return !words[0].starts_with('-') &&
           std::find(names.begin(), names.end(), words[0]) == names.end();
}

int complain_about_command(const CLI::App &app, std::string_view word) {
    auto names = command_names(app);
    std::vector<std::string_view> candidates(names.begin(), names.end());
    std::string_view near = near_match(word, candidates);
    complain(fmt::format("{}: no such command{}; `argtrace --help` lists them", word,
                         near.empty() ? "" : fmt::format(", did you mean {}?", near)));
    return exit_usage;
}

/// `argtrace help` and `argtrace help COMMAND` as people write them.
std::vector<std::string> expand_help(std::vector<std::string> words) {
    if (words.empty() || words[0] != "help")
        return words;
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.push_back("--help");
    return words;
}

int usage_error(const CLI::App &app, const CLI::ParseError &error) {
    auto chosen = app.get_subcommands();
    std::string name = chosen.empty() ? "" : " " + chosen[0]->get_name();
    std::string_view sentence = error.what();
    while (sentence.ends_with('\n') || sentence.ends_with('.'))
        sentence.remove_suffix(1);
    complain(fmt::format("{}; see `argtrace{} --help`", sentence, name));
    return exit_usage;
}

/// Takes what stands behind `--` off the words of a command that runs another one.
std::vector<std::string> take_command(std::vector<std::string> &words) {
    if (words.empty() || words[0] != "record")
        return {};
    const auto end = std::find(words.begin(), words.end(), "--");
    if (end == words.end())
        return {};
    std::vector<std::string> command(end + 1, words.end());
    words.erase(end, words.end());
    return command;
}

int run(std::vector<std::string> words) {
    const std::vector<std::string> command = take_command(words);
    CLI::App app("Show the calls of live kernel functions, with typed arguments", "argtrace");
    app.set_version_flag("--version", "argtrace " ARGTRACE_VERSION, "Show the version and exit");
    app.set_help_flag("-h,--help", "Show this help and exit");
    setup_trace(app);
    setup_record(app, command);
    setup_report(app);
    setup_snapshot(app);
    setup_list(app);
    setup_add(app);
    setup_rm(app);
    setup_clear(app);
    setup_status(app);
    setup_info(app);
    app.footer(examples); // last: the commands would inherit it

    words = expand_help(std::move(words));
    if (words.empty()) {
        fmt::print("{}", app.help());
        return exit_failure;
    }
    if (is_unknown_command(app, words))
        return complain_about_command(app, words[0]);
    std::reverse(words.begin(), words.end()); // as CLI11 wants them
    try {
        app.parse(words);
    } catch (const CLI::Success &help_or_version) {
        return app.exit(help_or_version);
    } catch (const CLI::ParseError &error) {
        return usage_error(app, error);
    } catch (const ExitStatus &exit) {
        return exit.status;
    }
    return 0;
}

} // namespace

} // namespace argtrace

int main(int argc, char **argv) {
    std::signal(SIGPIPE, SIG_IGN); // a reader that goes away is told by write()
    try {
        return argtrace::run({argv + 1, argv + argc});
    } catch (const std::exception &error) {
        argtrace::complain(error.what());
        return argtrace::exit_failure;
    }
}
