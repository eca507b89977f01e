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
#include "live/run.h"
#include "live/tracing.h"
#include "render/profile.h"
#include "session/authority.h"
#include "spec/aggregate.h"
#include "spec/resolve.h"
#include "util/message.h"

namespace argtrace {

namespace {

/// Each event tells these without their being recorded.
constexpr std::array<std::string_view, 5> known_of_all{"comm", "pid", "tid", "cpu", "caller"};

/// The other keys of --by, so that ticks can be told apart by them later.
std::vector<lang::ArgumentExpression> values_beside(const AggregateOptions &options) {
    std::vector<lang::ArgumentExpression> values = parse_keys(options).values;
    const StackChoice stacks = key_stacks(options);
    values.erase(values.end() - stacks.kernel - stacks.user, values.end());
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
    Run run(options);
    request.stack = key_stacks(options);
    if (!options.stack_choice && !takes_user_stacks(run.session().info()))
        request.stack = kernel_stack;
    std::vector<Probe> probes = resolve(run.kernel(), request).probes;
    run.create(options.session, {.own_calls = options.include_self});
    Session &session = run.session();
    TraceInfo info = describe_session(session);
    info.command = options.command;

    StopSignal stop;
    Recording recording(run, TraceTarget(options.output), std::nullopt, info);
    TickWatch watch = run.arm(*options.timer, probes.front());
    recording.begin();
    message("recording ticks to {}: {}, {}", options.output, describe_timer(*options.timer, probes.front()),
            options.until(options.duration));
    run.start_command();
    const LiveLoop::End end = recording.run(options.duration, stop);
    session.remove_all();
    watch.end();
    recording.end();
    const argtrace_counts total = total_of(recording.finish());
    run.tell_end(end);
    TraceWriter &writer = recording.writer();
    if (writer.target().kept())
        message("{}; {}: {} bytes: `argtrace profile --in {}` shows them", recorded_ticks(total), writer.name(),
                writer.written(), options.output);
    watch.print_missing(total, std::nullopt);
    print_remedies(session, total, true);
    run.exit_as_command();
}

} // namespace argtrace
