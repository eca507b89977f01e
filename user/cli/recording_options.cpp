// SPDX-License-Identifier: GPL-2.0-only
#include "cli/recording_options.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cli/options.h"
#include "file/writer.h"
#include "spec/spec.h"
#include "util/error.h"
#include "util/glob.h"
#include "util/units.h"

namespace argtrace {

namespace {

/// Splits at the commas.
std::vector<std::string_view> parts(std::string_view text) {
    std::vector<std::string_view> all;
    for (;;) {
        const std::size_t end = std::min(text.find(','), text.size());
        all.push_back(text.substr(0, end));
        if (end == text.size())
            return all;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const char *end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc{} || rest != end)
        return std::nullopt;
    return value;
}

void parse_time_range(const std::string &text, EventFilter &filter) {
    const std::size_t comma = text.find(',');
    const auto from = text.substr(0, comma);
    const auto to = comma == text.npos ? "" : text.substr(comma + 1);
    if (comma == text.npos || (from.empty() && to.empty()) || to.find(',') != to.npos)
        throw Error(fmt::format("--time takes two moments such as 12.5,13 (one may be left out), "
                                "or mono, delta or wall, not '{}'",
                                text));
    if (!from.empty())
        filter.from = parse_moment("--time", from);
    if (!to.empty())
        filter.to = parse_moment("--time", to);
    if (filter.from > filter.to)
        throw Error(fmt::format("--time {}: it ends before it begins", text));
}

std::vector<std::uint32_t> parse_number_list(const std::string &what, const std::string &text) {
    std::vector<std::uint32_t> list;
    for (const std::string_view part : parts(text)) {
        const auto value = number(part);
        if (!value)
            throw Error(fmt::format("{} takes numbers such as 1,23, not '{}'", what, text));
        list.push_back(*value);
    }
    return list;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> parse_cpu_list(const std::string &text) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    for (const std::string_view part : parts(text)) {
        const std::size_t dash = std::min(part.find('-'), part.size());
        const auto from = number(part.substr(0, dash));
        const auto to = dash == part.size() ? from : number(part.substr(dash + 1));
        if (!from || !to || *from > *to)
            throw Error(fmt::format("--cpu takes CPUs such as 0,4-7, not '{}'", text));
        list.emplace_back(*from, *to);
    }
    return list;
}

/// What is wrong with the name of a task; "" if nothing is, as CLI11 wants it.
std::string check_comm(const std::string &name) {
    constexpr std::size_t length_max = ARGTRACE_COMM_LEN - 1;
    if (name.size() <= length_max || is_glob(name))
        return "";
    return fmt::format("{}: a task's name has at most {} characters, as {}", name, length_max,
                       name.substr(0, length_max));
}

void parse_time(const std::string &text, EventFilter &filter, const TakeTimeStyle &take_style) {
    try {
        if (!take_style || !take_style(text))
            parse_time_range(text, filter);
    } catch (const Error &error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
}

} // namespace

void RecordingOptions::resolve() {
    if (!input.empty())
        words.insert(words.begin(), input);
    if (words.empty())
        words.push_back(default_trace_file);
    const std::vector<std::string> functions(words.begin() + 1, words.end());
    for (const std::string &function : functions)
        if (function.find('/') != function.npos && ::access(function.c_str(), F_OK) == 0)
            throw Error(fmt::format("{}: one file is read at a time, and that is {}; the arguments behind it are functions", function, path()));
    const auto syntax = regex ? PatternSyntax::regex : PatternSyntax::glob;
    for (Spec &spec : parse_specs(functions, syntax)) {
        if ((spec.module && spec.kind->qualifier == Qualifier::module) || spec.values || spec.condition)
            throw error_in(spec, "the functions of a trace go by their names alone, without "
                                 "module and arguments");
        (spec.exclude ? filter.excluded : filter.functions).push_back(std::move(spec));
    }
}

void add_recording_options(CLI::App &command, RecordingOptions &options,
                           const TakeTimeStyle &take_style) {
    command.add_option("FILE", options.words,
                       "The file (argtrace.dat), or - for stdin; then functions: names, globs, "
                       "'!pattern' for those to leave out");
    command.add_option("-i,--input", options.input, "The file; all arguments are functions then")
        ->type_name("FILE");
    const std::string range =
        "Only events from FROM to TO, in seconds of CLOCK_MONOTONIC; either may be left out";
    command
        .add_option_function<std::vector<std::string>>(
            "--time",
            [&options, take_style](const std::vector<std::string> &texts) {
                for (const std::string &text : texts)
                    parse_time(text, options.filter, take_style);
            },
            take_style ? range + ". Or what TIME shows: mono, these seconds, the default; delta, "
                                 "those since the event before; wall, the time of day. May be "
                                 "given twice"
                       : range)
        ->type_name(take_style ? "FROM,TO|mono|delta|wall" : "FROM,TO")
        ->allow_extra_args(false);
    const auto numbers = [&command](const char *name, std::vector<std::uint32_t> &to,
                                    const char *help) {
        add_parsed_option(
            command, name,
            [&to, name](const std::string &text) { to = parse_number_list(name, text); }, help)
            ->type_name("N,...");
    };
    numbers("--tid", options.filter.tids, "Only these threads");
    numbers("--pid", options.filter.pids, "Only these processes");
    command.add_option("--comm", options.filter.comms, "Only tasks of these names (or globs)")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(check_comm);
    add_parsed_option(
        command, "--cpu",
        [&options](const std::string &text) { options.filter.cpus = parse_cpu_list(text); },
        "Only these CPUs, as in 0,4-7")
        ->type_name("N,...");
    add_parsed_option(
        command, "-n,--max-events",
        [&options](const std::string &text) {
            options.max_events = parse_count("--max-events", text);
        },
        "End after N events")
        ->type_name("N");
}

void add_reading_options(CLI::App &command, RecordingOptions &options) {
    command.add_flag("--regex", options.regex, "Patterns are POSIX extended regular expressions");
    add_parsed_option(
        command, "-j,--jobs",
        [&options](const std::string &text) {
            options.jobs = static_cast<unsigned>(
                std::min<std::uint64_t>(parse_count("--jobs", text), jobs_max));
        },
        "How many threads to use (one for each CPU)")
        ->type_name("N");
    add_lines_option(command, options.naming);
    add_objects_option(command, options.naming);
}

} // namespace argtrace
