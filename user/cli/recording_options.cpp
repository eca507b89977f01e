// SPDX-License-Identifier: GPL-2.0-only
#include "cli/recording_options.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report_output.h"
#include "file/writer.h"
#include "spec/spec.h"
#include "util/glob.h"
#include "util/units.h"

namespace argtrace {

namespace {

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
    const auto syntax = regex ? PatternSyntax::regex : PatternSyntax::glob;
    for (Spec &spec : parse_specs(functions, syntax)) {
        if ((spec.module && spec.source == Source::function) || spec.values || spec.condition)
            throw error_in(spec, "the functions of a trace go by their names alone, without "
                                 "module and arguments");
        (spec.exclude ? filter.excluded : filter.functions).push_back(std::move(spec));
    }
}

unsigned RecordingOptions::workers() const {
    return jobs ? jobs : std::max(std::thread::hardware_concurrency(), 1u);
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
}

Fd open_recording(const std::string &path) {
    if (path == "-") {
        if (::isatty(STDIN_FILENO))
            throw Error("standard input is a terminal: name a file, or let `argtrace record -o -` "
                        "write here");
        return Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    }
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT && path == default_trace_file)
        throw Error(fmt::format("{}: there is none: make one with `argtrace record FUNC`, or name "
                                "another file",
                                path));
    if (!file)
        throw Error(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    return file;
}

std::optional<std::uint64_t> size_of(const Fd &file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

} // namespace argtrace
