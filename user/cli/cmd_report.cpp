// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/recording_options.h"
#include "file/writer.h"
#include "render/trace_info.h"
#include "report/output.h"
#include "report/recording.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

struct ReportOptions {
    RecordingOptions recording;
    OutputOptions output;
    bool stats = false;
    bool header = false;
};

BlockWriter::MakeRenderer renderer_maker(const OutputOptions &options, const TraceInfo &info) {
    const TimeFormat time{options.time, info.begin_monotonic, info.begin_realtime};
    const Screen screen = screen_of(STDOUT_FILENO);
    return [options, time, screen](CallerNames &callers) {
        return make_renderer(options, callers, time, screen);
    };
}

/// False when nobody reads it any more.
bool show(ReportOutput &report, TraceReader &reader, WorkerPool &workers,
          const ReportOptions &options) {
    if (options.stats)
        return report.show_stats(options.output.json, options.recording.filter);
    const auto maker = renderer_maker(options.output, reader.info());
    if (!options.output.tree)
        return report.show_events(workers, maker, options.recording.max_events);
    CallerNames callers(reader.symbols());
    return report.show_stream(*maker(callers), options.recording.max_events);
}

void run_report(ReportOptions &options) {
    check_output(options.output);
    RecordingOptions &recording = options.recording;
    recording.resolve();

    const std::string name = trace_name(recording.path(), true);
    const Fd file = open_recording(recording.path());
    WorkerPool workers(reading_threads(recording.jobs));
    DecodeJob job;
    job.naming = recording.naming;
    job.filter = &recording.filter;
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

    ReportOutput report(reader, name, size_of(file), &output);
    const bool read_by_somebody = show(report, reader, workers, options);
    if (!read_by_somebody || (options.output.json && !options.stats && !report.show_summary_json()))
        return;
    report.print_summary();
    if (!options.stats)
        report.tell_pids(recording.filter);
    const std::vector<std::string> unknown = report.unknown_functions(recording.filter);
    for (const std::string &sentence : unknown)
        write_message(sentence);
    if (report.damaged() || !unknown.empty())
        throw ExitStatus{1};
}

} // namespace

void setup_report(CLI::App &app) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App *command = app.add_subcommand("report", "Show the events of a file, on any machine");
    add_recording_options(*command, options->recording, [options](const std::string &text) {
        const auto style = parse_time_style(text);
        if (style)
            options->output.time = *style;
        return style.has_value();
    });
    add_output_options(*command, options->output);
    add_parsed_option( // as --fields was called before `trace` had it, where -F is --follow
        *command, "-F",
        [options](const std::string &text) { options->output.columns = parse_columns("-F", text); },
        "")
        ->group("");
    command->add_flag("--stats", options->stats,
                      "Instead of events: calls and rate by function, events and loss by CPU");
    command->add_flag("--header", options->header, "Instead of events: where the file comes from");
    add_reading_options(*command, options->recording);
    command->footer("Events go to stdout, what was lost and what is wrong with the file to "
                    "stderr.\n\nExamples:\n"
                    "  argtrace report\n"
                    "  argtrace report build.dat 'vfs_*' '!vfs_fsync' --comm make\n"
                    "  argtrace report -f time,func,args --time 12.5,13 argtrace.dat\n"
                    "  argtrace report --stats");
    command->callback([options] { run_report(*options); });
}

} // namespace argtrace
