// SPDX-License-Identifier: GPL-2.0-only
#include "cli/usage.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "spec/strace_line.h"
#include "util/near_match.h"

namespace argtrace {

namespace {

/// A word of other tools, and the command that does the same here.
struct OtherWord {
    std::string_view word;
    std::string_view command;
    std::string_view does;
};

constexpr auto other_words = std::to_array<OtherWord>({
    {"stat", "status", "counts the calls"},
    {"stats", "status", "counts the calls"},
    {"st", "status", "counts the calls"},
    {"ls", "list", "shows what can be traced"},
    {"functions", "list", "shows what can be traced"},
    {"funcs", "list", "shows what can be traced"},
    {"search", "list", "shows what can be traced"},
    {"find", "list", "shows what can be traced"},
    {"probe", "add", "traces functions in the background"},
    {"start", "add", "traces functions in the background"},
    {"enable", "add", "traces functions in the background"},
    {"set", "add", "traces functions in the background"},
    {"del", "rm", "stops tracing some functions"},
    {"delete", "rm", "stops tracing some functions"},
    {"remove", "rm", "stops tracing some functions"},
    {"disable", "rm", "stops tracing some functions"},
    {"stop", "clear", "ends what `argtrace add` has begun"},
    {"end", "clear", "ends what `argtrace add` has begun"},
    {"reset", "clear", "ends what `argtrace add` has begun"},
    {"funccount", "count", "counts calls"},
    {"stackcount", "stacks", "counts calls by their stacks"},
    {"stack", "stacks", "counts calls by their stacks"},
    {"prof", "profile", "shows where the processors are"},
    {"cpuprofile", "profile", "shows where the processors are"},
    {"argdist", "hist", "shows how a value is distributed"},
    {"histogram", "hist", "shows how a value is distributed"},
    {"lhist", "hist", "shows how a value is distributed"},
    {"bitehist", "hist", "shows how a value is distributed"},
    {"quantize", "hist", "shows how a value is distributed"},
    {"funclatency", "latency", "shows how long calls take"},
    {"vfsreadlat", "latency", "shows how long calls take"},
    {"biolatency", "latency", "shows how long calls take"},
    {"disklatency", "latency", "shows how long calls take"},
    {"offcputime", "offcpu", "shows where tasks wait"},
    {"offwaketime", "offcpu --wakers", "shows where tasks wait, and who wakes them"},
    {"runqlat", "offcpu --sort runnable", "shows who waits for a CPU"},
    {"timehist", "offcpu", "shows where tasks wait"},
    {"total", "sum", "adds up a value"},
    {"mean", "avg", "shows the mean of a value"},
    {"average", "avg", "shows the mean of a value"},
    {"show", "trace", "shows calls as they happen"},
    {"watch", "trace", "shows calls as they happen"},
    {"stream", "trace", "shows calls as they happen"},
    {"live", "trace", "shows calls as they happen"},
    {"script", "report", "shows a recording"},
    {"dump", "report", "shows a recording"},
    {"view", "report", "shows a recording"},
    {"extract", "snapshot", "saves what a flight recorder holds"},
    {"save", "snapshot", "saves what a flight recorder holds"},
    {"version", "--version", "shows the version"},
    {"features", "info", "shows what tool and module can do"},
    {"check", "doctor", "shows what can be traced here, and what not"},
    {"diagnose", "doctor", "shows what can be traced here, and what not"},
});

/// Options of other tools which take a function's name.
constexpr std::array<std::string_view, 6> function_options{"-e",      "-l",       "-f",
                                                           "--event", "--filter", "--func"};

/// As a shell takes it.
std::string quoted(const std::string &word) {
    const bool plain =
        !word.empty() && word.find_first_of(" \t'\"*?()!^$[]{}|&;<>\\#~`") == word.npos;
    return plain ? word : fmt::format("'{}'", word);
}

std::string command_line(std::string_view command, const std::vector<std::string> &words) {
    std::string line = fmt::format("argtrace {}", command);
    for (const std::string &word : words)
        line += ' ' + quoted(word);
    return line;
}

std::vector<std::string> command_names(const CLI::App &app) {
    std::vector<std::string> names;
    for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::vector<std::string> option_names(const CLI::App &command) {
    std::vector<std::string> names;
    for (const CLI::Option *option : command.get_options()) {
        for (const std::string &name : option->get_lnames())
            names.push_back("--" + name);
        for (const std::string &name : option->get_snames())
            names.push_back("-" + name);
    }
    return names;
}

std::vector<std::string_view> views(const std::vector<std::string> &names) {
    return {names.begin(), names.end()};
}

/// Might be a function's name, or another SPEC.
bool could_be_spec(std::string_view word) {
    return word.find_first_of("_*:") != word.npos;
}

/// Only letters are compared, so that `--maxevents` finds `--max-events`.
std::string near_option(std::string_view word, const std::vector<std::string> &names) {
    std::vector<std::string> starting;
    for (const std::string &name : names)
        if (word.size() > 2 && name.starts_with(word))
            starting.push_back(name);
    if (!starting.empty())
        return fmt::format("{}", fmt::join(starting, " or "));
    return word.starts_with("--") ? std::string(near_match(word, views(names))) : std::string();
}

std::string explain_option(const CLI::App &app, const CLI::App &all, const CLI::App &command, std::string word) {
    word.resize(std::min(word.find('='), word.size()));
    const auto is_known = [&word](const CLI::App &one) {
        const std::vector<std::string> names = option_names(one);
        return std::find(names.begin(), names.end(), word) != names.end();
    };
    std::vector<std::string> others; // commands that have it
    for (const CLI::App *one : all.get_subcommands([](const CLI::App *) { return true; }))
        if (one->get_name() != command.get_name() && is_known(*one))
            others.push_back(one->get_name());

    const bool takes_functions = command.get_option_no_throw("SPEC") != nullptr;
    std::string sentence = &command == &app
                               ? fmt::format("{}: no such option", word)
                               : fmt::format("{}: {} has no such option", word, command.get_name());
    const std::string near = near_option(word, option_names(command));
    if (!near.empty())
        sentence += fmt::format("; did you mean {}?", near);
    else if (takes_functions && std::find(function_options.begin(), function_options.end(), word) !=
                                    function_options.end())
        sentence += fmt::format("; functions are named without an option: `argtrace {} vfs_read`",
                                command.get_name());
    else if (!others.empty())
        sentence += fmt::format(", but {} {}", fmt::join(others, ", "),
                                others.size() == 1 ? "has" : "have");
    return sentence;
}

std::string explain_extras(const CLI::App &app, const CLI::App &all, const CLI::App &command,
                           const std::vector<std::string> &words) {
    const std::vector<std::string> extras = app.remaining(true);
    std::vector<std::string> sentences;
    std::vector<std::string> unexpected;
    // In the order in which they were typed, which CLI11 does not keep.
    for (const std::string &word : words) {
        if (std::find(extras.begin(), extras.end(), word) == extras.end())
            continue;
        if (word.size() > 1 && word.starts_with('-'))
            sentences.push_back(explain_option(app, all, command, word));
        else
            unexpected.push_back(quoted(word));
    }
    if (command.get_name() == "info" && unexpected.size() == 1)
        sentences.push_back(fmt::format("{0}: info is about argtrace itself; what is in a recording is told by `argtrace report --info {0}`", unexpected.front()));
    else if (!unexpected.empty())
        sentences.push_back(fmt::format("{}: {} takes no such argument{}",
                                        fmt::join(unexpected, " "), command.get_name(),
                                        unexpected.size() == 1 ? "" : "s"));
    return fmt::format("{}", fmt::join(sentences, "\n"));
}

/// `sentence`: as CLI11 puts it, "--duration: 1 required SECONDS missing".
std::string explain_missing_value(const CLI::App &command, const std::string &sentence) {
    const std::string name = sentence.substr(0, sentence.find(':'));
    const CLI::Option *option = command.get_option_no_throw(name);
    if (!option || sentence.find("missing") == sentence.npos)
        return sentence;
    return fmt::format("{} needs a value: {} {}", name, name, option->get_type_name());
}

} // namespace

bool is_unknown_command(const CLI::App &app, const std::vector<std::string> &words) {
    const std::vector<std::string> names = command_names(app);
    return !words[0].starts_with('-') &&
           std::find(names.begin(), names.end(), words[0]) == names.end();
}

std::string explain_unknown_command(const CLI::App &app, const std::vector<std::string> &words) {
    const std::string &word = words[0];
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (word == "strace") {
        const std::vector<std::string> line = strace_line(rest);
        return fmt::format("strace: no such command; `{}` shows system calls", command_line(line.front(), {line.begin() + 1, line.end()}));
    }
    const auto other = std::find_if(other_words.begin(), other_words.end(),
                                    [&word](const OtherWord &one) { return one.word == word; });
    if (other != other_words.end())
        return fmt::format("{}: no such command; `{}` {}", word, command_line(other->command, rest),
                           other->does);
    const std::vector<std::string> names = command_names(app);
    const std::string_view near = near_match(word, views(names));
    if (!near.empty())
        return fmt::format("{}: no such command; did you mean `{}`?", word,
                           command_line(near, rest));
    if (could_be_spec(word))
        return fmt::format("{}: no such command; `{}` traces a function", word,
                           command_line("trace", words));
    return fmt::format("{}: no such command; `argtrace --help` lists them", word);
}

std::string explain_usage(const CLI::App &app, const CLI::App &all, const CLI::ParseError &error,
                          const std::vector<std::string> &words) {
    const auto chosen = app.get_subcommands();
    const CLI::App &command = chosen.empty() ? app : *chosen[0];
    std::string sentence = error.what();
    if (dynamic_cast<const CLI::ExtrasError *>(&error))
        sentence = explain_extras(app, all, command, words);
    else if (dynamic_cast<const CLI::RequiredError *>(&error) &&
             command.get_option_no_throw("SPEC"))
        sentence =
            fmt::format("a function is missing, as in `argtrace {} vfs_read`", command.get_name());
    else if (dynamic_cast<const CLI::ArgumentMismatch *>(&error))
        sentence = explain_missing_value(command, sentence);
    while (sentence.ends_with('\n') || sentence.ends_with('.'))
        sentence.pop_back();
    return fmt::format("{}{} see `argtrace{} --help`", sentence, sentence.ends_with('?') ? "" : ";",
                       chosen.empty() ? "" : " " + command.get_name());
}

} // namespace argtrace
