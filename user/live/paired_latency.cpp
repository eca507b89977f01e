// SPDX-License-Identifier: GPL-2.0-only
#include "live/paired_latency.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "analyze/pairing.h"
#include "answer/aggregate_keys.h"
#include "answer/pairs.h"
#include "live/aggregate_rounds.h"
#include "live/loop.h"
#include "live/loss_watch.h"
#include "live/run.h"
#include "live/tracing.h"
#include "render/status.h"
#include "session/live_symbols.h"
#include "session/merge.h"
#include "spec/resolve.h"
#include "util/clock.h"
#include "util/message.h"
#include "util/nanoseconds.h"
#include "util/output_readers.h"

namespace argtrace {

namespace {

// Pairs are worked out a little after they have come.
constexpr std::uint64_t pair_nap_ns = 20 * nanoseconds_per_millisecond;

/// Every record has it, or has no need of it.
bool is_in_records(const lang::ArgumentExpression &key) {
    constexpr std::array<std::string_view, 6> names{"func", "comm", "pid", "tid", "cpu", "caller"};
    std::string_view name = key.expression.written();
    if (name.starts_with('$'))
        name.remove_prefix(1);
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether LivePairs leaves out the calls of argtrace itself. What ends a pair may interrupt argtrace, as the completion of a request
/// does, and the module would leave that out, too. In a container, where the events have other PIDs than the process has there, the
/// module does it all the same.
bool tells_own_calls(const AggregateOptions &options) {
    return !options.include_self && in_initial_pid_namespace();
}

/// Pairs a session's calls while they are made.
class LivePairs : private LiveLoop {
public:
    using LiveLoop::End;

    LivePairs(const LiveSources &sources, const AggregateOptions &options, Schema &schema,
              Pairing pairing, const std::vector<Spec> &specs, AggregateOutput &output, std::uint64_t armed)
        : LiveLoop(sources, output.fd()), options_(options),
          merge_(sources.rings.views(), schema, Merge::Keep::nothing),
          pairing_(std::move(pairing)), from_(specs[0]), to_(specs[1]),
          rounds_(options, output, [this] { return pairing_.pairs(); }), loss_(armed) {}

    End run(const StopSignal &stop) {
        const std::uint64_t start = monotonic_now();
        rounds_.begin(start);
        const End end = run_rounds(start, options_.duration, stop);
        if (end == End::abandoned)
            return end;
        session().remove_all();
        follow_changes();
        merge_.collect_rest();
        note_lost();
        take();
        return rounds_.finish(monotonic_now()) ? end : End::abandoned;
    }

    const Pairing &pairing() const { return pairing_; }
    /// How many calls argtrace made itself, which were read and are in no pair.
    std::uint64_t own_calls() const { return own_calls_; }
    Unreadable unreadable() const { return merge_.unreadable(); }

private:
    void add(std::span<const RingView> rings) override { merge_.add(rings); }

    std::optional<End> round(const Now &now) override {
        merge_.collect(now.clock);
        note_lost();
        take();
        return rounds_.round(now.ns);
    }

    std::optional<std::uint64_t> next_round(std::uint64_t now) override {
        const std::uint64_t nap = now + pair_nap_ns;
        return rounds_.next() ? std::min(*rounds_.next(), nap) : nap;
    }

    void note_lost() {
        if (const auto gap = loss_.look(session()))
            pairing_.lost(gap->from, gap->to);
    }

    void take() {
        while (const auto view = merge_.next()) {
            if (is_own(*view->event)) {
                ++own_calls_;
                continue;
            }
            const std::string &function = view->event->probe->function;
            pairing_.take(*view, from_.matches_title(function), to_.matches_title(function));
        }
    }

    bool is_own(const Event &event) const {
        return own_tgid_ == event.tgid && own_tgid_ != 0 && !(event.context & interrupt_contexts);
    }

    const AggregateOptions &options_;
    Merge merge_;
    Pairing pairing_;
    Spec from_, to_;
    AggregateRounds rounds_;
    LossWatch loss_;
    const std::uint32_t own_tgid_ = tells_own_calls(options_) ? static_cast<std::uint32_t>(::getpid()) : 0; // 0: none is ours
    std::uint64_t own_calls_ = 0;
};

/// The SPECs with the values that the pairs take.
std::vector<Spec> recording_specs(const AggregateOptions &options,
                                  const std::vector<lang::ArgumentExpression> &keys) {
    std::vector<Spec> specs = pair_specs(options);
    const lang::ArgumentExpression on = parse_pair_value(options);
    specs[0].values = std::vector{on};
    specs[1].values = std::vector{on};
    for (const lang::ArgumentExpression &key : keys)
        if (!is_in_records(key) && key.name != on.name)
            specs[0].values->push_back(key);
    return specs;
}

} // namespace

void run_live_pairs(const AggregateOptions &options) {
    const std::vector<lang::ArgumentExpression> keys = parse_keys(options).values;
    Request request = make_request(options);
    request.specs = recording_specs(options, keys);
    Run run(options);
    use_btf(run.kernel(), options.functions);
    Resolved resolved = resolve(run.kernel(), request);
    write_messages(resolved.left);
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    run.create(options.session, {.own_calls = options.include_self || tells_own_calls(options),
                                 .stdout_is_taken = options.output.empty()});
    Session &session = run.session();
    StopSignal stop;
    run.arm(resolved.probes);
    message("pairing calls of {} and {} on {}, {}", options.from, options.to, options.on,
            options.until(options.duration));
    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    std::unique_ptr<ProbeFormats> formats;
    const std::vector<KeyColumn> columns =
        pair_columns(keys, first_probe(schema, request.specs[0]), formats);
    const LiveSymbols symbols(session);
    CallerNames names(symbols);
    output.set_keys(columns, names);
    // There is no record before it was armed.
    LivePairs pairs(run.sources(), options, schema, make_pairing(options, keys), request.specs, output, run.arming());
    run.start_command();
    const LiveLoop::End end = pairs.run(stop);
    run.tell_end(end);
    if (end == LiveLoop::End::abandoned)
        return;
    argtrace_counts total = total_of(session.counts(true));
    total.records -= pairs.own_calls();
    total.filtered += pairs.own_calls();
    const ReturnTotals returns = session.returns();
    const bool follows = std::any_of(resolved.probes.begin(), resolved.probes.end(), records_returns);
    RecordedTotals totals = paired_totals(pairs.pairing());
    totals.counts = total;
    totals.returns = follows ? &returns : nullptr;
    if (!output.finish(totals))
        return;
    message("{} pairs; {}", pairs.pairing().pairs().calls(), calls_summary(total));
    tell_unpaired(pairs.pairing(), options);
    print_remedies(session, total, true);
    run.exit_as_command();
}

} // namespace argtrace
