// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/process_options.h"
#include "cli/tracing_options.h"
#include "file/writer.h"
#include "live/record.h"
#include "live/run.h"
#include "live/tracing.h"
#include "model/counts.h"
#include "render/status.h"
#include "util/message.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct RecordOptions : TracingOptions {
    std::string file = default_trace_file;
    std::string compress; // the level, or empty: not at all
    std::optional<std::uint64_t> duration;
};

/// On stderr, so that a script can wait for it: no call is missed from here on.
void print_armed(const Session &session, const Wanted &wanted, const RecordOptions &options) {
    message("recording {} to {}, {}", describe_traced(session, wanted),
            trace_name(options.file, false), options.until(options.duration));
}

void print_summary(const argtrace_counts &total, TraceWriter &writer, const RecordOptions &options,
                   const Session &session, const UnloadedModules &modules) {
    const std::string calls = calls_summary(total, std::nullopt, session.returns());
    if (writer.target().kept())
        message("{}; {}: {} bytes in {} packets", calls, writer.name(), writer.written(),
                writer.packets());
    else
        write_message(calls);
    print_remedies(session, total, options.own_session());
    note_silence(session, options, modules);
}

/// Nothing is recorded from now on.
void take_back(Session &session, const RecordOptions &options) {
    if (!options.own_session())
        return;
    session.remove_all_on_load();
    session.remove_all();
}

void run_record(const RecordOptions &options) {
    check_usage(options);
    const std::optional<int> level = parse_compression(options.compress);
    const Request request = make_request(options);
    const bool to_stdout = options.file == "-";
    Run run(options);
    Wanted wanted = run.open(request, "record",
                             {.own_calls = options.include_self, .stdout_is_taken = to_stdout, .streams = to_stdout});
    Session &session = run.session();
    TraceInfo info = describe_session(session);
    info.command = options.command;

    StopSignal stop; // from here on Ctrl-C ends in a summary, and there is a file that has an end
    Recording recording(run, TraceTarget(options.file), level, info);
    run.arm(wanted);
    recording.begin();
    print_armed(session, wanted, options);
    if (wanted.on_load)
        note_loaded(wanted.on_load->module);
    run.start_command();

    LiveRecord::End end = LiveRecord::End::reached;
    std::vector<argtrace_counts> counts;
    std::optional<Error> failure;
    try {
        end = recording.run(options.duration, stop);
        recording.running(list_calls_in_flight(session)); // of which nothing is known once the probes are removed
        take_back(session, options);
        recording.end();
        counts = recording.finish();
    } catch (
        const Error &error) { // what has been written can be read, and what was called is known
        failure = error;
        take_back(session, options);
        counts = session.counts(true);
    }
    run.tell_end(end);
    print_summary(total_of(counts), recording.writer(), options, session, run.modules());
    if (failure)
        throw *failure;
    run.exit_as_command();
}

} // namespace

void setup_record(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<RecordOptions>();
    options->command = words;
    CLI::App *command =
        app.add_subcommand("record", "Record calls to a file, until Ctrl-C or a command ends");
    add_function_options(*command, options->functions,
                         "Functions, see below; without any, those of `add`");
    add_limit_options(*command, options->functions);
    add_on_load_option(*command, options->functions);
    command->add_option("-o,--output", options->file, "The file, or - for stdout (argtrace.dat)")
        ->type_name("FILE");
    command
        ->add_flag("--compress{1}", options->compress,
                   "Compress with zstd; LEVEL is from 1 (fast, the default) to 19")
        ->type_name("[=LEVEL]");
    add_parsed_option(
        *command, "--duration",
        [options](const std::string &text) {
            options->duration = parse_duration("--duration", text);
        },
        "End after that time, in seconds or as in 500ms, 10s, 2m, 1h")
        ->type_name("TIME");
    add_process_options(*command, options->processes,
                        "Only calls of COMMAND and of what it starts; with -p also of what that "
                        "process starts from now on");
    add_include_self_option(*command, *options);
    add_session_options(*command, options->session);
    add_stack_table_option(*command, options->session);
    command->footer(
        std::string(spec_help) +
        "\n\nWith functions, it traces them while it runs and leaves nothing traced. Without any, "
        "it "
        "records what `argtrace add` has added, beginning with the oldest call in the buffer.\n\n"
        "With a COMMAND, recording begins before it, ends with it, and exits as it does; the calls "
        "of all processes are recorded unless -F or -p says otherwise. With -p and no "
        "COMMAND, it ends when those processes have ended. `argtrace report` shows the file, on "
        "any "
        "machine.\n\n"
        "Examples:\n"
        "  argtrace record vfs_read vfs_write\n"
        "  argtrace record -o build.dat 'vmlinux:vfs_*' -- make -j8\n"
        "  argtrace record -F 'vmlinux:vfs_*' -- make -j8\n"
        "  argtrace record -p 1234 'tcp_*' -- sleep 10\n"
        "  argtrace record -o - vfs_open | argtrace report -");
    command->callback([options] {
        options->session.naming.lines = true; // for whoever reads the file
        run_record(*options);
    });
}

} // namespace argtrace
