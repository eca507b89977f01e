// SPDX-License-Identifier: GPL-2.0-only
#include "live/aggregate.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "analyze/map_aggregation.h"
#include "analyze/ticks.h"
#include "answer/aggregate_keys.h"
#include "answer/aggregate_output.h"
#include "btf/format.h"
#include "live/aggregate_rounds.h"
#include "live/loop.h"
#include "live/paired_latency.h"
#include "live/profile_timer.h"
#include "live/run.h"
#include "live/top_view.h"
#include "live/tracing.h"
#include "model/counts.h"
#include "render/profile.h"
#include "render/stack.h"
#include "render/stack_summary.h"
#include "session/authority.h"
#include "session/live_map.h"
#include "session/live_symbols.h"
#include "spec/common_form.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/nanoseconds.h"

namespace argtrace {

namespace {

argtrace_map wanted_map(const AggregateOptions &options, const AggregatedFunctions &functions) {
    argtrace_map map{};
    map.size = sizeof(map);
    map.slots = options.map_size;
    map.key_words = functions.key_words();
    if (options.value != Aggregate::Value::none)
        map.flags |= ARGTRACE_MAP_VALUE;
    if (functions.is_signed)
        map.flags |= ARGTRACE_MAP_SIGNED;
    const Buckets &buckets = options.buckets;
    if (buckets.kind == Buckets::Kind::log2)
        map.buckets = ARGTRACE_BUCKETS_LOG2;
    if (buckets.kind == Buckets::Kind::linear) {
        map.buckets = ARGTRACE_BUCKETS_LINEAR;
        map.low = buckets.low;
        map.step = buckets.step;
        map.nr_buckets = buckets.count;
    }
    return map;
}

/// How a key is shown that is an argument of all functions, or what they return.
std::optional<ShownAs> form_of(const AggregatedFunctions &functions, const lang::Expression &key) {
    const std::string_view name = key.plain_name();
    if (name.empty())
        return std::nullopt;
    CommonForm form(Calls::shared());
    for (const Function &function : functions.functions)
        form.add(function, name);
    return form.form();
}

std::vector<KeyColumn> columns_of(const AggregatedFunctions &functions,
                                  const ProbeFormats &formats,
                                  const std::vector<lang::ArgumentExpression> &keys) {
    std::vector<KeyColumn> columns;
    // A user function has errors of its own.
    const bool have_errors = std::ranges::none_of(functions.functions, [](const Function &function) { return *function.kind == user_kind; });
    if (functions.counts_only) {
        for (const lang::ArgumentExpression &key : keys)
            columns.push_back({key.name, true});
        return columns;
    }
    for (std::size_t i = 0; i < functions.keys.size(); ++i) {
        const KeyDescription &key = functions.keys[i];
        columns.push_back({key.name, key.is_function, key.is_result && have_errors,
                           key.is_caller ? caller_format() : formats.argument(i)});
        columns.back().is_user_stack = key.is_user_stack;
        const bool is_behind_function = functions.only_function_at && i >= *functions.only_function_at;
        if (const std::size_t written = i + is_behind_function; written < keys.size())
            columns.back().shown = form_of(functions, keys[written].expression);
    }
    if (const auto at = functions.only_function_at)
        columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(*at), {"func", true});
    return columns;
}

bool has_argument(const AggregatedFunctions &functions, std::string_view name) {
    return std::any_of(functions.functions.begin(), functions.functions.end(), [name](const Function &function) {
        const auto &parameters = function.prototype.parameters;
        return std::any_of(parameters.begin(), parameters.end(), [name](const Parameter &one) { return one.name == name; });
    });
}

/// What the functions are called on top of their stacks.
TopFrames top_frames(const AggregatedFunctions &functions) {
    TopFrames frames;
    for (const Function &function : functions.functions) {
        const std::string name(function.name());
        add_top_frame(frames, name, function_frame(name, function.symbol.module));
    }
    return frames;
}

/// Shows how a session's map grows.
class LiveAggregate : private LiveLoop {
public:
    using LiveLoop::End;

    LiveAggregate(const LiveSources &sources, const AggregateOptions &options, LiveMap *map,
                  AggregateView &view, AggregateOutput &output)
        : LiveLoop(sources, output.fd()), options_(options), map_(map), view_(view), output_(output) {}

    End run(const StopSignal &stop) {
        const std::uint64_t start = monotonic_now();
        view_.begin(start);
        const End end = run_rounds(start, options_.duration, stop);
        if (end == End::abandoned)
            return end;
        session().remove_all();
        follow_changes();
        add({});
        output_.set_missing(missing());
        return view_.finish(monotonic_now()) ? end : End::abandoned;
    }

private:
    // A CPU that has got a ring has got slots, too.
    void add(std::span<const RingView>) override {
        if (map_)
            map_->map_new();
    }

    std::string missing() {
        const auto stacks = session().stack_loss();
        const std::uint64_t without = stacks ? std::accumulate(stacks->begin(), stacks->end(), std::uint64_t{0}) : 0;
        return describe(MissingStacks{lost_total(total_of(session().counts(true))), without}, options_.timer ? "tick" : "call");
    }

    std::optional<End> round(const Now &now) override { return view_.round(now.ns); }

    std::optional<std::uint64_t> next_round(std::uint64_t now) override {
        // No event wakes us.
        constexpr std::uint64_t hour = 3600 * nanoseconds_per_second;
        return view_.next().value_or(now + hour);
    }

    const AggregateOptions &options_;
    LiveMap *map_;
    AggregateView &view_;
    AggregateOutput &output_;
};

void report_totals(const AggregateOptions &options, const Session &session,
                   const argtrace_counts &total, const ReturnTotals &returns, std::uint64_t idle) {
    write_message(options.timer ? tick_totals(total, idle) : aggregate_totals(total, returns));
    const std::uint64_t overflow = total.lost[ARGTRACE_LOST_FULL];
    if (overflow > 0)
        message("{} {} were lost because there was no room for more keys: make more with "
                "--map-size {}, or fewer with other keys",
                overflow, options.timer ? "ticks" : "calls", std::min<std::uint64_t>(std::uint64_t{options.map_size} * 8,
                                                  ARGTRACE_MAP_SLOTS_MAX));
    argtrace_counts others = total;
    others.lost[ARGTRACE_LOST_FULL] = 0;
    print_remedies(session, others, true);
}

} // namespace

void run_live_aggregate(const AggregateOptions &given) {
    if (given.pairs()) {
        run_live_pairs(given);
        return;
    }
    Request request = make_request(given);
    check_values(given, request.specs);
    (void)parse_keys(given); // mistakes there are told first
    Run run(given);
    AggregateOptions options = given;
    if (!options.stack_choice && !takes_user_stacks(run.session().info()))
        options.style.stack = kernel_stack;
    const Keys keys = parse_keys(options);
    Aggregate aggregate{keys.values, options.value};
    aggregate.func_of_stacks = keys.func_of_stacks;
    if (options.top && options.value == Aggregate::Value::duration)
        aggregate.keys.push_back(error_key());
    // To count calls takes no arguments, so that it does not matter whether they are known.
    request.raw = request.raw || options.value == Aggregate::Value::none;
    if (options.timer)
        request.timer = options.timer->timer;
    request.aggregate = std::make_shared<const Aggregate>(aggregate);

    Kernel &kernel = run.kernel();
    use_btf(kernel, options.functions);
    const AggregatedFunctions functions = resolve_aggregate(kernel, request);
    write_messages(functions.left);
    Buckets buckets = options.buckets;
    buckets.is_signed = functions.is_signed;
    check_linear(buckets);
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    if (value_is_duration(request.specs, has_argument(functions, "duration")))
        output.set_unit(ValueUnit::nanoseconds);
    SessionOptions least;
    least.buffer = least_buffer;
    least.stack_table = options.session.stack_table;
    least.naming = options.session.naming;
    run.create(least, {.own_calls = options.include_self, .stdout_is_taken = options.output.empty()});
    Session &session = run.session();
    std::optional<LiveMap> map;
    if (!functions.counts_only)
        map.emplace(session, session.make_map(wanted_map(options, functions)));

    StopSignal stop;
    std::vector<Probe> probes =
        functions.probes(map ? static_cast<std::uint16_t>(map->description().id) : std::uint16_t{0});
    std::optional<TickWatch> watch;
    if (options.timer) {
        watch = run.arm(*options.timer, probes.front());
        message("profiling by {}, {}", describe_timer(*options.timer, probes.front()), options.until(options.duration));
    } else {
        run.arm(probes);
        message("adding up calls of {}, {}", describe_traced(session, {}), options.until(options.duration));
    }

    const ProbeFormats formats(functions.shown);
    std::vector<KeyColumn> columns = columns_of(functions, formats, aggregate.keys);
    mark_top(columns, options, keys);
    hide_stacks(columns, options);
    const LiveSymbols symbols(session);
    CallerNames names(symbols);
    output.set_keys(columns, names, options.stacks ? top_frames(functions) : TopFrames());
    std::uint64_t idle = 0;
    const auto read = [&]() -> Aggregation {
        if (options.timer) {
            Ticks ticks = split_ticks(aggregate_of(map->read(), functions, buckets), key_stacks(options), options.style.stack);
            idle = ticks.idle;
            return std::move(ticks.busy);
        }
        return map ? aggregate_of(map->read(), functions, buckets)
                   : counts_of(session.snapshot(true), aggregate.keys.size());
    };
    std::unique_ptr<AggregateView> view;
    if (options.top)
        view = std::make_unique<TopView>(options, output, read);
    else
        view = std::make_unique<AggregateRounds>(options, output, read);
    LiveAggregate live(run.sources(), options, map ? &*map : nullptr, *view, output);
    run.start_command();
    const LiveLoop::End end = live.run(stop);
    if (watch)
        watch->end();
    run.tell_end(end);
    if (end == LiveLoop::End::abandoned)
        return;
    const argtrace_counts total = total_of(session.counts(true));
    const bool follows = std::any_of(probes.begin(), probes.end(), records_returns);
    const ReturnTotals returns = session.returns();
    const std::optional<StackLoss> stacks = session.stack_loss();
    const std::optional<UserStackLoss> user_stacks = session.user_stack_loss();
    if (options.timer ? !output.finish_ticks(total, idle)
                      : !output.finish(total, follows ? &returns : nullptr, stacks ? &*stacks : nullptr,
                                        user_stacks ? &*user_stacks : nullptr))
        return;
    report_totals(options, session, total, returns, idle);
    if (watch)
        watch->print_missing(total, idle);
    note_silence(session, options, run.modules());
    run.exit_as_command();
}

} // namespace argtrace
