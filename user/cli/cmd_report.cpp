// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <cerrno>
#include <cstdio>
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
#include "cli/report_output.h"
#include "file/writer.h"
#include "render/columns.h"
#include "render/json.h"
#include "render/text.h"
#include "render/trace_info.h"
#include "spec/spec.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct ReportOptions {
    std::vector<std::string> words; // the file, then functions
    EventFilter filter;
    std::vector<std::string> tids;
    std::vector<std::string> pids;
    std::vector<std::string> cpus;
    std::optional<std::uint64_t> max_events;
    std::vector<Column> columns;
    unsigned jobs = 0;
    bool regex = false;
    bool json = false;
    bool types = false;
    bool no_header = false;
    bool stats = false;
    bool header = false;
};

void add_functions(EventFilter &filter, const ReportOptions &options) {
    const std::vector<std::string> words(options.words.begin() + 1, options.words.end());
    const auto syntax = options.regex ? PatternSyntax::regex : PatternSyntax::glob;
    for (Spec &spec : parse_specs(words, syntax)) {
        if (spec.module || spec.args)
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

BlockWriter::MakeRenderer renderer_maker(const ReportOptions &options) {
    return [options](CallerNames &callers) -> std::unique_ptr<Renderer> {
        if (options.json)
            return std::make_unique<JsonRenderer>(callers, options.types);
        if (!options.columns.empty())
            return std::make_unique<ColumnRenderer>(callers, options.columns, !options.no_header);
        return std::make_unique<TextRenderer>(callers, !options.no_header);
    };
}

void run_report(ReportOptions &options) {
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
    job.widths = !options.json;
    TraceReader reader(file.get(), name, workers, job);
    Output output(STDOUT_FILENO);
    if (options.header) {
        auto append = options.json ? append_trace_info_json : append_trace_info_text;
        append(output.buffer(), reader.info());
        (void)output.flush(); // a reader that has gone is no failure
        return;
    }

    ReportOutput report(reader, name, size_of(file), output);
    const bool read_by_somebody =
        options.stats ? report.show_stats(options.json)
                      : report.show_events(workers, renderer_maker(options), options.max_events);
    if (!read_by_somebody)
        return;
    report.print_summary();
    if (report.damaged())
        throw ExitStatus{1};
}

void add_filter_options(CLI::App &command, ReportOptions &options) {
    add_parsed_option(
        command, "--time",
        [&options](const std::string &text) { parse_time_range(text, options.filter); },
        "Only events from FROM to TO, in seconds as in TIME; either may be left out")
        ->type_name("FROM,TO");
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
        ->allow_extra_args(false);
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
    add_filter_options(*command, *options);
    add_parsed_option(
        *command, "-n,--max-events",
        [options](const std::string &text) {
            options->max_events = parse_count("--max-events", text);
        },
        "End after N events")
        ->type_name("N");
    auto json = command->add_flag("--json", options->json, "One JSON object a line");
    command->add_flag("--types", options->types, "With --json: the types of the arguments, too")
        ->needs(json);
    add_parsed_option(
        *command, "-F,--fields",
        [options](const std::string &text) { options->columns = parse_columns(text); },
        "The columns: " + column_names())
        ->type_name("COLUMN,...")
        ->excludes(json);
    command->add_flag("--no-header", options->no_header, "Leave out the line of column names");
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
        "How many threads work at it (as many as there are CPUs)")
        ->type_name("N");
    command->footer("Events go to stdout, what was lost and what is wrong with the file to "
                    "stderr.\n\nExamples:\n"
                    "  argtrace report\n"
                    "  argtrace report build.dat 'vfs_*' '!vfs_fsync' --comm make\n"
                    "  argtrace report -F time,func,args --time 12.5,13 argtrace.dat\n"
                    "  argtrace report --stats");
    command->callback([options] { run_report(*options); });
}

} // namespace argtrace
