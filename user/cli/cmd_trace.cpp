// SPDX-License-Identifier: GPL-2.0-only
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/function_options.h"
#include "cli/live_trace.h"
#include "cli/options.h"
#include "cli/output_options.h"
#include "cli/process_options.h"
#include "cli/process_watch.h"
#include "cli/tracing.h"
#include "model/counts.h"
#include "render/status.h"
#include "session/live_symbols.h"
#include "session/session.h"
#include "util/clock.h"
#include "util/units.h"

namespace argtrace {

namespace {

struct TraceOptions {
    FunctionOptions functions;
    LiveTrace::Limits limits;
    SessionOptions session;
    ProcessOptions processes;
    OutputOptions output;

    bool own_session() const { return !functions.specs.empty(); }
};

void check_usage(const TraceOptions &options) {
    if ((options.session.given() || options.processes.given()) && !options.own_session())
        throw CLI::ValidationError(
            "-p, --follow, --buffer, --encoding, --clock and --no-caller are chosen when functions "
            "are added: give them to `argtrace add`, or name functions here");
    check_follow(options.processes);
    check_output(options.output);
    if (options.functions.given() && !options.own_session())
        throw CLI::ValidationError(
            "--regex, --force, --raw, --btf and --on-load say which functions are "
            "meant: name them here");
}

/// On stderr, so that whoever waits for it knows that from now on no call is missed.
void print_armed(std::size_t functions) {
    fmt::print(stderr, "argtrace: tracing {} function{}, until Ctrl-C\n", functions,
               functions == 1 ? "" : "s");
}

void print_waiting(const OnLoad &on_load) {
    fmt::print(stderr,
               "argtrace: {} function{} of {} will be traced when it is loaded, until "
               "Ctrl-C\n",
               on_load.probes.size(), on_load.probes.size() == 1 ? "" : "s", on_load.module);
}

void print_summary(const TraceOptions &options, const Session &session, const LiveTrace &trace) {
    argtrace_counts total{};
    for (const argtrace_counts &counts : session.counts(true))
        add_counts(total, counts);
    fmt::print(stderr, "argtrace: {}\n", trace_summary(trace.shown(), total));
    print_remedies(session, total, options.own_session());

    Unreadable bad = trace.unreadable();
    if (bad.records + bad.packets > 0)
        fmt::print(stderr, "argtrace: {} records and {} packets could not be read: {}\n",
                   bad.records, bad.packets, describe(bad.why));
}

void run_trace(const TraceOptions &options) {
    check_usage(options);
    const Request request = make_request(options.functions);
    Session session(Device::open());
    std::optional<ProcessWatch> processes;
    if (options.processes.given())
        processes.emplace(options.processes.pids);
    Kernel kernel;
    Wanted wanted;
    if (options.own_session()) {
        wanted = resolve_wanted(kernel, options.functions, request);
        session.create("", options.session);
    } else {
        attach_default(session, "trace");
    }
    if (processes)
        session.set_processes(options.processes.filter());
    session.become_reader();
    std::vector<RingMapping> mappings = session.map_rings();
    std::vector<RingView> rings;
    for (const RingMapping &mapping : mappings)
        rings.push_back(mapping.view());

    StopSignal stop; // from here on Ctrl-C ends in a summary
    add_wanted(session, kernel, wanted);
    if (wanted.on_load) {
        print_waiting(*wanted.on_load);
        note_loaded(wanted.on_load->module);
    } else {
        print_armed(session.probes(false).size());
    }

    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    const LiveSymbols symbols(session.device());
    CallerNames callers(symbols);
    auto renderer = make_renderer(options.output, callers,
                                  {options.output.time, monotonic_now(), realtime_now()},
                                  is_narrow(STDOUT_FILENO));
    Output output(STDOUT_FILENO);
    LiveTrace trace(session, rings, options.own_session(), processes ? &*processes : nullptr,
                    schema, *renderer, output);
    LiveTrace::End end = trace.run(options.limits, stop);
    if (end == LiveTrace::End::removed)
        fmt::print(stderr, "argtrace: the session was removed (`argtrace clear`)\n");
    if (end == LiveTrace::End::ended)
        print_ended(options.processes.pids);
    if (end != LiveTrace::End::abandoned)
        print_summary(options, session, trace);
}

} // namespace

void setup_trace(CLI::App &app) {
    auto options = std::make_shared<TraceOptions>();
    CLI::App *command = app.add_subcommand("trace", "Show calls as they happen, until Ctrl-C");
    add_function_options(*command, options->functions,
                         "Functions, see below; without any, those of `add`");
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
            options->limits.duration = parse_seconds("--duration", text);
        },
        "End after that time; fractions are allowed")
        ->type_name("SECONDS");
    add_output_options(*command, options->output);
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
                        "With -p: and of the processes that it starts from now on, and so forth");
    add_session_options(*command, options->session);
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
