// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/recording_options.h"
#include "export/folder_target.h"
#include "export/formats.h"
#include "file/writer.h"
#include "report/output.h"
#include "report/recording.h"
#include "util/error.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

struct ExportOptions {
    RecordingOptions recording;
    std::optional<ExportFormat> format;
    std::string output;
    std::optional<ExportFrames> by;
    bool per_function = false;
};

/// build.dat -> build.pftrace, in the current folder.
std::string default_output(const std::string &input, std::string_view suffix) {
    std::string name = input.substr(input.rfind('/') + 1);
    if (name.ends_with(".dat"))
        name.resize(name.size() - 4);
    return name + std::string(suffix);
}

bool is_folder(const ExportOptions &options) {
    return options.per_function || options.format == ExportFormat::ctf;
}

/// What was asked for makes sense; fills in what was not.
void complete(ExportOptions &options) {
    if (!options.format && options.per_function)
        options.format = ExportFormat::parquet;
    if (!options.format) {
        if (options.output.empty() || options.output == "-")
            throw Error(fmt::format("a format is missing, as in `argtrace export --to perfetto` or "
                                    "`argtrace export -o OUT.pftrace`; the formats are {}",
                                    export_format_names()));
        options.format = export_format_of(options.output);
    }
    if (options.format == ExportFormat::pprof)
        options.recording.naming.lines = true; // they have a place of their own there
    if (!is_made_of_stacks(*options.format) && options.by)
        throw Error(
            fmt::format("--by is for flame, folded and pprof, not for {}", export_name(*options.format)));
    if (options.per_function && options.format != ExportFormat::parquet)
        throw Error(
            fmt::format("--per-function is for parquet, not for {}", export_name(*options.format)));
    if (is_folder(options) && options.output == "-")
        throw Error(fmt::format("{} is a folder: name it with -o",
                                options.per_function ? "--per-function" : "ctf"));
    if (options.output.empty()) {
        if (options.recording.path() == "-")
            throw Error("standard input has no name to derive the output from: give one with -o");
        options.output = default_output(options.recording.path(),
                                        options.per_function ? "" : export_suffix(*options.format));
    }
}

bool is_same_file(int one, const std::string &path) {
    struct stat a {
    }, b{};
    return ::fstat(one, &a) == 0 && ::stat(path.c_str(), &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Opens what is written to. Throws Error.
TraceTarget open_target(const std::string &path, const Fd &input) {
    if (path == "-" && ::isatty(STDOUT_FILENO))
        throw Error("standard output is a terminal: let it go to a file or a pipe, or name a file "
                    "with -o");
    if (is_same_file(input.get(), path))
        throw Error(
            fmt::format("{}: that is the recording itself: name another file with -o", path));
    TraceTarget target(path);
    if (::isatty(target.fd()))
        throw Error(fmt::format("{}: it is a terminal: name a file with -o", path));
    return target;
}

/// What has been written, and how it went.
void summarize(ReportOutput &report, const std::string &target, std::uint64_t size,
               const Exporter &exporter) {
    report.set_done(fmt::format("exported to {}, {} bytes", target, size));
    report.print_summary();
    if (const std::string left_out = exporter.left_out(); !left_out.empty())
        message("{}: {}", target, left_out);
}

void export_to_file(const ExportOptions &options, const Fd &input, ReportOutput &report,
                    const ExportSource &source, WorkerPool &workers) {
    TraceTarget target = open_target(options.output, input);
    ExportFile file(target.fd(), target.name(), workers,
                    export_compression(*options.format, options.output));
    const auto exporter = make_exporter(*options.format, options.output, file, workers, source,
                                        options.by.value_or(ExportFrames::stack));
    report.export_events(*exporter, options.recording.max_events);
    target.keep();
    summarize(report, target.name(), file.size(), *exporter);
}

void export_to_folder(const ExportOptions &options, ReportOutput &report,
                      const ExportSource &source, WorkerPool &workers) {
    FolderTarget target(options.output);
    const auto exporter = make_folder_exporter(*options.format, target.folder(), workers, source);
    report.export_events(*exporter, options.recording.max_events);
    target.keep();
    summarize(report, options.output, exporter->size(), *exporter);
}

// As the formats of other tools are given.
void refuse_format_as_file(const std::vector<std::string> &words) {
    if (words.empty() || !is_export_format(words.front()) || ::access(words.front().c_str(), F_OK) == 0)
        return;
    throw Error(fmt::format("{0}: there is no such file; the format is given by an option: `argtrace export --to {0}{1}`", words.front(),
                            words.size() > 1 ? " " + words[1] : ""));
}

void run_export(ExportOptions &options) {
    RecordingOptions &recording = options.recording;
    refuse_format_as_file(recording.words);
    recording.resolve();
    complete(options);
    const std::string name = trace_name(recording.path(), true);
    const Fd input = open_recording(recording.path());
    WorkerPool workers(reading_threads(recording.jobs));
    DecodeJob job;
    job.naming = recording.naming;
    job.filter = &recording.filter;
    job.shared = true;
    TraceReader reader(input.get(), name, workers, job);

    ReportOutput report(reader, name, size_of(input), nullptr);
    const ExportSource source{reader.info(), reader.symbols()};
    if (is_folder(options))
        export_to_folder(options, report, source, workers);
    else
        export_to_file(options, input, report, source, workers);
    report.tell_pids(recording.filter);
    const std::vector<std::string> unknown = report.unknown_functions(recording.filter);
    for (const std::string &sentence : unknown)
        write_message(sentence);
    if (report.damaged() || !unknown.empty())
        throw ExitStatus{1};
}

} // namespace

void setup_export(CLI::App &app) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App *command = app.add_subcommand(
        "export", "Write the events of a file for other tools, such as Perfetto");
    add_parsed_option(
        *command, "--to",
        [options](const std::string &text) { options->format = parse_export_format(text); },
        "The format; if not given, the suffix of OUT decides")
        ->type_name(export_format_names());
    command
        ->add_option("-o,--output", options->output,
                     "Write to OUT, or - for stdout; the default is named like FILE")
        ->type_name("OUT");
    add_parsed_option(
        *command, "--by",
        [options](const std::string &text) {
            if (text == "stack")
                options->by = ExportFrames::stack;
            else if (text == "duration")
                options->by = ExportFrames::duration;
            else
                throw Error(fmt::format("--by is stack or duration, not '{}'", text));
        },
        "flame, folded, pprof: made of the stacks that `record --stack` took (the default), or of nested calls, "
        "each as wide as its duration")
        ->type_name("stack|duration");
    command->add_flag("--per-function", options->per_function,
                      "parquet: OUT is a folder, with files for each function in which arguments "
                      "are columns");
    add_recording_options(*command, options->recording);
    add_reading_options(*command, options->recording);
    command->footer(
        "The numbers of events written and lost, and damage to the file, are reported on "
        "stderr.\n\nExamples:\n"
        "  argtrace export -o build.pftrace build.dat              for ui.perfetto.dev\n"
        "  argtrace export -o build.svg --by duration build.dat    for any browser\n"
        "  argtrace export --to pprof build.dat                    for go tool pprof");
    command->callback([options] { run_export(*options); });
}

} // namespace argtrace
