// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/report_output.h"
#include "file/writer.h"
#include "render/trace_info.h"
#include "spec/spec.h"
#include "util/glob.h"
#include "util/message.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct ReportOptions {
    std::string input;              // the file, where -i names it
    std::vector<std::string> words; // the file, where -i does not name it, then functions
    EventFilter filter;
    std::vector<std::string> tids;
    std::vector<std::string> pids;
    std::vector<std::string> cpus;
    std::optional<std::uint64_t> max_events;
    OutputOptions output;
    unsigned jobs = 0;
    bool regex = false;
    bool stats = false;
    bool header = false;
};

void add_functions(EventFilter &filter, const ReportOptions &options) {
    const std::vector<std::string> words(options.words.begin() + 1, options.words.end());
    const auto syntax = options.regex ? PatternSyntax::regex : PatternSyntax::glob;
    for (Spec &spec : parse_specs(words, syntax)) {
        if (spec.module || spec.args || !spec.expressions.empty() || spec.condition)
            throw error_in(spec, "the functions of a trace go by their names alone, without "
                                 "module and arguments");
        (spec.exclude ? filter.excluded : filter.functions).push_back(std::move(spec.pattern));
    }
}

Fd open_trace(const std::string &path) {
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

/// Where that can be told.
std::optional<std::uint64_t> size_of(const Fd &file) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return std::nullopt;
    return static_cast<std::uint64_t>(status.st_size);
}

BlockWriter::MakeRenderer renderer_maker(const OutputOptions &options, const TraceInfo &info) {
    const TimeFormat time{options.time, info.begin_monotonic, info.begin_realtime};
    const bool narrow = is_narrow(STDOUT_FILENO);
    return [options, time, narrow](CallerNames &callers) {
        return make_renderer(options, callers, time, narrow);
    };
}

void run_report(ReportOptions &options) {
    check_output(options.output);
    if (!options.input.empty())
        options.words.insert(options.words.begin(), options.input);
    if (options.words.empty())
        options.words.push_back(default_trace_file);
    add_functions(options.filter, options);

    const std::string name = trace_name(options.words[0], true);
    const Fd file = open_trace(options.words[0]);
    WorkerPool workers(options.jobs ? options.jobs
                                    : std::max(std::thread::hardware_concurrency(), 1u));
    DecodeJob job;
    job.filter = &options.filter;
    job.events = !options.stats;
    job.widths = !options.output.json;
    TraceReader reader(file.get(), name, workers, job);
    Output output(STDOUT_FILENO);
    if (options.header) {
        auto append = options.output.json ? append_trace_info_json : append_trace_info_text;
        append(output.buffer(), reader.info());
        (void)output.flush(); // a reader that has gone is no failure
        return;
    }

    ReportOutput report(reader, name, size_of(file), output);
    const bool read_by_somebody =
        options.stats ? report.show_stats(options.output.json, options.filter)
                      : report.show_events(workers, renderer_maker(options.output, reader.info()),
                                           options.max_events);
    if (!read_by_somebody || (options.output.json && !options.stats && !report.show_summary_json()))
        return;
    report.print_summary();
    const std::vector<std::string> unknown = report.unknown_functions(options.filter);
    for (const std::string &sentence : unknown)
        write_message(sentence);
    if (report.damaged() || !unknown.empty())
        throw ExitStatus{1};
}

/// What is wrong with the name of a task; "" if nothing is, as CLI11 wants it.
std::string check_comm(const std::string &name) {
    constexpr std::size_t length_max = ARGTRACE_COMM_LEN - 1;
    if (name.size() <= length_max || is_glob(name))
        return "";
    return fmt::format("{}: a task's name has at most {} characters, as {}", name, length_max,
                       name.substr(0, length_max));
}

void parse_time(const std::string &text, ReportOptions &options) {
    try {
        if (const auto style = parse_time_style(text))
            options.output.time = *style;
        else
            parse_time_range(text, options.filter);
    } catch (const Error &error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
}

void add_filter_options(CLI::App &command, ReportOptions &options) {
    command
        .add_option_function<std::vector<std::string>>(
            "--time",
            [&options](const std::vector<std::string> &texts) {
                for (const std::string &text : texts)
                    parse_time(text, options);
            },
            "Only events from FROM to TO, in seconds of CLOCK_MONOTONIC; either may be left out. "
            "Or "
            "what TIME shows: mono, these seconds, the default; delta, those since the event "
            "before; wall, the time of day. May be given twice")
        ->type_name("FROM,TO|mono|delta|wall")
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
}

} // namespace

void setup_report(CLI::App &app) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App *command = app.add_subcommand("report", "Show the events of a file, on any machine");
    command->add_option("FILE", options->words,
                        "The file (argtrace.dat), or - for stdin; then functions: names, globs, "
                        "'!pattern' for those to leave out");
    command->add_option("-i,--input", options->input, "The file; all arguments are functions then")
        ->type_name("FILE");
    add_filter_options(*command, *options);
    add_parsed_option(
        *command, "-n,--max-events",
        [options](const std::string &text) {
            options->max_events = parse_count("--max-events", text);
        },
        "End after N events")
        ->type_name("N");
    add_output_options(*command, options->output);
    add_parsed_option( // as --fields was called before `trace` had it, where -F is --follow
        *command, "-F",
        [options](const std::string &text) { options->output.columns = parse_columns("-F", text); },
        "")
        ->group("");
    command->add_flag("--stats", options->stats,
                      "Instead of events: calls and rate by function, events and loss by CPU");
    command->add_flag("--header", options->header, "Instead of events: where the file comes from");
    command->add_flag("--regex", options->regex, "Patterns are POSIX extended regular expressions");
    add_parsed_option(
        *command, "-j,--jobs",
        [options](const std::string &text) {
            options->jobs = static_cast<unsigned>(
                std::min<std::uint64_t>(parse_count("--jobs", text), jobs_max));
        },
        "How many threads to use (one for each CPU)")
        ->type_name("N");
    command->footer("Events go to stdout, what was lost and what is wrong with the file to "
                    "stderr.\n\nExamples:\n"
                    "  argtrace report\n"
                    "  argtrace report build.dat 'vfs_*' '!vfs_fsync' --comm make\n"
                    "  argtrace report -f time,func,args --time 12.5,13 argtrace.dat\n"
                    "  argtrace report --stats");
    command->callback([options] { run_report(*options); });
}

} // namespace argtrace
