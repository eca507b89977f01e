// SPDX-License-Identifier: GPL-2.0-only
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/process_options.h"
#include "cli/tracing_options.h"
#include "live/output_processes.h"
#include "live/run.h"
#include "live/trace.h"
#include "live/tracing.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/live_symbols.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct TraceOptions : TracingOptions {
    LiveTrace::Limits limits;
    OutputOptions output;
};

void check_usage(const TraceOptions &options) {
    check_usage(static_cast<const TracingOptions &>(options));
    check_output(options.output);
}

/// On stderr, so that a script can wait for it: no call is missed from here on.
void print_armed(const Session &session, const Wanted &wanted, const TraceOptions &options) {
    message("tracing {}, {}", describe_traced(session, wanted), options.until(options.limits.duration));
}

void print_summary(const TraceOptions &options, const Session &session, const LiveTrace &trace,
                   const std::vector<argtrace_counts> &counts, const UnloadedModules &modules) {
    const argtrace_counts total = total_of(counts);
    write_message(trace_summary(trace.shown(), total, session.returns(), trace.unread_values()));
    if (const std::string hint = trace.unread_values().hint(counts); !hint.empty())
        write_message(hint);
    print_remedies(session, total, options.own_session());
    note_silence(session, options, modules);

    Unreadable bad = trace.unreadable();
    if (bad.records + bad.packets > 0)
        message("{} records and {} packets could not be read: {}", bad.records, bad.packets,
                describe(bad.why));
}

void run_trace(TraceOptions options) {
    options.functions.returns =
        options.functions.returns || (options.output.tree && options.own_session());
    check_usage(options);
    Request request = make_request(options);
    request.goroutines = options.output.tree && options.own_session();
    request.goroutines_of_threads = request.goroutines && (!options.processes.pids.empty() || options.follows_command());
    Run run(options);
    Wanted wanted = run.open(request, "trace", {.own_calls = options.include_self, .stdout_is_taken = true, .streams = true});
    Session &session = run.session();

    StopSignal stop; // from here on Ctrl-C ends in a summary
    run.arm(wanted);
    print_armed(session, wanted, options);
    if (wanted.on_load)
        note_loaded(wanted.on_load->module);

    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    const LiveSymbols symbols(session);
    CallerNames callers(symbols);
    auto renderer = make_renderer(options.output, callers,
                                  {options.output.time, monotonic_now(), realtime_now()},
                                  screen_of(STDOUT_FILENO));
    Output output(STDOUT_FILENO);
    LiveTrace trace(run.sources(), options.own_session(), schema, *renderer, output);
    trace.hide(choose_hidden(session, options));
    trace.begin();
    run.start_command();
    LiveTrace::End end = LiveTrace::End::reached;
    std::optional<Error> failure;
    try {
        end = trace.run(options.limits, stop);
    } catch (const Error &error) { // the output cannot be written: what was called is known
        failure = error;
    }
    run.tell_end(end);
    if (end == LiveTrace::End::abandoned)
        return;
    const std::vector<argtrace_counts> counts = session.counts(true);
    if (options.output.json && !failure) {
        const argtrace_counts total = total_of(counts);
        const ReturnTotals returns = session.returns();
        const std::optional<StackLoss> stacks = session.stack_loss();
        const std::optional<UserStackLoss> user_stacks = session.user_stack_loss();
        append_summary_json(output.buffer(), trace.shown(), &total,
                            options.functions.returns ? &returns : nullptr, stacks ? &*stacks : nullptr, trace.unread_values(),
                            user_stacks ? &*user_stacks : nullptr);
        (void)output.flush(); // a reader that has gone is no failure
    }
    print_summary(options, session, trace, counts, run.modules());
    if (failure)
        throw *failure;
    run.exit_as_command();
}

} // namespace

void setup_trace(CLI::App &app, const std::vector<std::string> &words) {
    auto options = std::make_shared<TraceOptions>();
    options->command = words;
    CLI::App *command = app.add_subcommand("trace", "Show calls as they happen, until Ctrl-C");
    add_function_options(*command, options->functions,
                         "Functions, see below; without any, those of `add`");
    add_limit_options(*command, options->functions);
    add_on_load_option(*command, options->functions);
    add_parsed_option(
        *command, "-n,--max-events",
        [options](const std::string &text) {
            options->limits.events = parse_count("--max-events", text);
        },
        "End after N events")
        ->type_name("N");
    add_parsed_option(
        *command, "--duration",
        [options](const std::string &text) {
            options->limits.duration = parse_duration("--duration", text);
        },
        "End after that time, in seconds or as in 500ms, 10s, 2m, 1h")
        ->type_name("TIME");
    add_output_options(*command, options->output);
    command->get_option("--no-describe")->excludes("--describe");
    add_parsed_option(
        *command, "--time",
        [options](const std::string &text) {
            const auto style = parse_time_style(text);
            if (!style)
                throw Error(fmt::format("--time is {}, not '{}'", time_style_names(), text));
            options->output.time = *style;
        },
        "What TIME shows: mono, seconds of CLOCK_MONOTONIC, the default; delta, those since the "
        "event before; wall, the time of day")
        ->type_name("mono|delta|wall");
    add_process_options(*command, options->processes,
                        "Only calls of COMMAND and of what it starts; with -p also of what that "
                        "process starts from now on");
    add_include_self_option(*command, *options);
    add_session_options(*command, options->session);
    add_stack_table_option(*command, options->session);
    add_lines_option(*command, options->session.naming);
    command->footer(
        std::string(spec_help) +
        "\n\nWith functions, it traces them while it runs and leaves nothing traced. Without any, "
        "it "
        "shows what `argtrace add` has added, beginning with the oldest call in the buffer. Its "
        "own calls are not shown. With -p it ends when those processes have ended. Events go to "
        "stdout; losses and the summary to stderr.\n\n"
        "FLAGS are those of ftrace: interrupts off (d), bottom halves off (b), need-resched (n p "
        "N), hardirq, softirq, NMI (h s H z Z), preempt depth.\n\n"
        "Examples:\n"
        "  argtrace trace vfs_read vfs_write\n"
        "  argtrace trace 'vfs_*(file, count)' '!vfs_fsync'\n"
        "  argtrace trace -n 100 --json 'tcp_*' | jq .args\n"
        "  argtrace add vfs_open; argtrace trace --duration 10");
    command->callback([options] { run_trace(*options); });
}

} // namespace argtrace
