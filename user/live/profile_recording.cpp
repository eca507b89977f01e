// SPDX-License-Identifier: GPL-2.0-only
#include "live/profile_recording.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "answer/aggregate_keys.h"
#include "live/profile_timer.h"
#include "live/record.h"
#include "live/tracing.h"
#include "record/recorder.h"
#include "render/profile.h"
#include "session/live_rings.h"
#include "session/live_symbols.h"
#include "spec/aggregate.h"
#include "spec/resolve.h"
#include "util/clock.h"
#include "util/exit_status.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Each event tells these without their being recorded.
constexpr std::array<std::string_view, 5> known_of_all{"comm", "pid", "tid", "cpu", "caller"};

/// The other keys of --by, so that ticks can be told apart by them later.
std::vector<lang::ArgumentExpression> values_beside(const AggregateOptions &options) {
    std::vector<lang::ArgumentExpression> values = parse_keys(options).values;
    values.pop_back(); // the stack
    std::erase_if(values, [](const lang::ArgumentExpression &value) {
        std::string_view name = value.expression.written();
        if (name.starts_with('$'))
            name.remove_prefix(1);
        return is_function_key(value) ||
               (!value.named && std::find(known_of_all.begin(), known_of_all.end(), name) != known_of_all.end());
    });
    return values;
}

} // namespace

void record_profile(const AggregateOptions &options) {
    Request request = make_request(options.functions);
    request.timer = options.timer->timer;
    request.tick_values = values_beside(options);
    request.stack = true;

    Session session(Device::open());
    ProcessWatch processes(options.processes.pids);
    Kernel kernel;
    std::vector<Probe> probes = resolve(kernel, request).probes;
    session.create("", options.session);
    session.become_reader(options.include_self);
    std::optional<ChildCommand> command;
    if (!options.command.empty())
        command.emplace(options.command, false);
    choose_processes(session, options, command, false);
    LiveRings rings(session);
    const LiveSymbols symbols(session.device());
    TraceInfo info = describe_session(session);
    info.command = options.command;

    StopSignal stop;
    TraceWriter writer(TraceTarget(options.output), std::nullopt);
    writer.info(info);
    add_timer(session, *options.timer, probes.front());
    TickWatch watch(*options.timer, probes.front());
    RecordedSpan span{monotonic_now(), 0};
    Recorder recorder(
        rings.views(), session.attributes().format, [&session] { return session.probes(true); }, symbols, writer);
    writer.flush();
    UnloadedModules modules(session);
    message("recording ticks to {}: {}, {}", options.output, describe_timer(*options.timer, probes.front()),
            options.until(options.duration));
    if (command)
        start(*command);
    LiveRecord record({session, rings, modules, command ? &*command : nullptr,
                       options.ends_with_processes() ? &processes : nullptr},
                      recorder, writer);
    const LiveLoop::End end = record.run(options.duration, stop);
    session.remove_all();
    watch.end();
    span.end = monotonic_now();
    record.finish();
    const std::vector<argtrace_counts> counts = session.counts(true);
    finish_recording(writer, counts, recorder, span);
    const argtrace_counts total = total_of(counts);
    if (end == LiveLoop::End::ended)
        print_ended(options.processes.pids);
    if (writer.target().kept())
        message("{}; {}: {} bytes: `argtrace profile --in {}` shows them", recorded_ticks(total), writer.name(),
                writer.written(), options.output);
    watch.print_missing(total, std::nullopt);
    print_remedies(session, total, true);
    if (command)
        throw ExitStatus{command->finish()};
}

} // namespace argtrace
