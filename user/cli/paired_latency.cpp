// SPDX-License-Identifier: GPL-2.0-only
#include "cli/paired_latency.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "analyze/pairing.h"
#include "btf/format.h"
#include "cli/aggregate_rounds.h"
#include "cli/exit_status.h"
#include "cli/live_loop.h"
#include "cli/loss_watch.h"
#include "render/status.h"
#include "session/live_rings.h"
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

lang::ArgumentExpression parse_on(const AggregateOptions &options) {
    try {
        std::vector<lang::ArgumentExpression> values = lang::parse_values(options.on);
        if (values.size() != 1)
            throw Error("one value pairs the calls, not several");
        return std::move(values.front());
    } catch (const Error &error) {
        throw Error(fmt::format("--on: {}", error.what()));
    }
}

/// Every record has it, or has no need of it.
bool is_in_records(const lang::ArgumentExpression &key) {
    constexpr std::array<std::string_view, 6> names{"func", "comm", "pid", "tid", "cpu", "caller"};
    std::string_view name = key.expression.written();
    if (name.starts_with('$'))
        name.remove_prefix(1);
    return std::find(names.begin(), names.end(), name) != names.end();
}

Pairing make_pairing(const AggregateOptions &options,
                     const std::vector<lang::ArgumentExpression> &keys) {
    const RecordedValue on = recorded_values({parse_on(options)}).front();
    return {EventKeys(recorded_values(keys), on), EventKeys({}, on), options.buckets};
}

/// What `begins`, a probe of A, records of the keys.
std::vector<KeyColumn> columns_of(const std::vector<lang::ArgumentExpression> &keys,
                                  const Probe *begins, std::unique_ptr<ProbeFormats> &formats) {
    EventKeys recorded(recorded_values(keys), std::nullopt);
    std::vector<EventKeys::PartType> types(keys.size());
    if (begins && recorded.missing(*begins).empty()) {
        types = recorded.types_of(*begins);
        formats = std::make_unique<ProbeFormats>(*begins);
    }
    std::vector<KeyColumn> columns;
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string_view written = keys[i].expression.written();
        KeyColumn &column = columns.emplace_back();
        column.name = keys[i].name;
        column.is_function = is_function_key(keys[i]);
        if (types[i].argument)
            column.format = formats->argument(*types[i].argument);
        else if (written == "caller" || written == "$caller")
            column.format = caller_format();
    }
    return columns;
}

void report_unpaired(const Pairing &pairing, const AggregateOptions &options) {
    const Pairing::Unpaired unpaired = pairing.unpaired();
    const auto tell = [](std::uint64_t calls, const std::string &why) {
        if (calls > 0)
            message("{} call{} of {}", calls, calls == 1 ? "" : "s", why);
    };
    tell(unpaired.open, fmt::format("{} were not followed by {}", options.from, options.to));
    tell(unpaired.replaced, fmt::format("{} were followed by another one with the same value of {}, "
                                        "which counts instead",
                                        options.from, options.on));
    tell(unpaired.ends,
         fmt::format("{} did not follow a call of {}", options.to, options.from));
    tell(unpaired.lost, fmt::format("{} were not followed by {} when records were lost, which may have included it: "
                                    "they are in no pair",
                                    options.from, options.to));
    tell(unpaired.given_up, fmt::format("{} were given up: more than {} others had begun since, and no {} had followed",
                                        options.from, Pairing::default_open_max, options.to));
    tell(unpaired.unreadable, fmt::format("both had a value of {} that could not be read", options.on));
}

RecordedTotals paired_totals(const Pairing &pairing) {
    RecordedTotals totals;
    totals.added = pairing.calls() - pairing.left_out();
    totals.left_out = pairing.left_out();
    totals.pairing = &pairing;
    return totals;
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
    const lang::ArgumentExpression on = parse_on(options);
    specs[0].values = std::vector{on};
    specs[1].values = std::vector{on};
    for (const lang::ArgumentExpression &key : keys)
        if (!is_in_records(key) && key.name != on.name)
            specs[0].values->push_back(key);
    return specs;
}

const Probe *probe_of(const Schema &schema, const Spec &from) {
    const Probe *first = nullptr;
    schema.for_each([&](const Probe &probe) {
        if (from.matches_title(probe.function) && (!first || probe.id < first->id))
            first = &probe;
    });
    return first;
}

} // namespace

std::vector<Spec> pair_specs(const AggregateOptions &options) {
    std::vector<Spec> specs;
    for (const auto &[option, text] :
         {std::pair("--from", &options.from), std::pair("--to", &options.to)}) {
        try {
            specs.push_back(parse_spec(*text, options.functions.syntax()));
        } catch (const Error &error) {
            throw Error(fmt::format("{}: {}", option, error.what()));
        }
        const Spec &spec = specs.back();
        if (spec.exclude || spec.values || spec.returns)
            throw Error(fmt::format("{}: {}: a function or a pattern is meant, maybe with a condition; "
                                    "the value that pairs calls is that of --on",
                                    option, spec.text));
    }
    return specs;
}

void pair_recorded(const AggregateOptions &options, const std::vector<lang::ArgumentExpression> &keys, TraceReader &reader,
                   const TraceSurvey &survey, RecordedChoice &choice, ReportOutput &report, AggregateOutput &output) {
    const std::vector<Spec> specs = pair_specs(options);
    TracePairing trace(reader, survey, make_pairing(options, keys), specs[0], specs[1]);
    trace.choose([&choice](const EventView &view) { return choice.wants(view); });
    const Pairing &pairing = trace.pairing();
    CallerNames names(reader.symbols());
    std::unique_ptr<ProbeFormats> formats;
    std::vector<KeyColumn> columns;
    const auto set_columns = [&] {
        columns = columns_of(keys, probe_of(reader.schema(), specs[0]), formats);
        output.set_keys(columns, names);
    };
    Aggregation shown(options.buckets);
    std::optional<TraceIntervals> intervals;
    if (options.interval)
        intervals.emplace(*options.interval, options.rounds, [&](std::uint64_t end) {
            set_columns();
            const Aggregation more = pairing.pairs().since(shown);
            shown = pairing.pairs();
            return output.show_interval(more, end, realtime_of(reader.info(), end));
        });
    report.pair(trace, intervals ? &*intervals : nullptr);
    if (intervals && intervals->abandoned())
        return;
    std::string left_out = describe_left_out(choice.left_out(), choice.missing(), reader.schema());
    if (pairing.left_out() > 0)
        left_out += fmt::format("{}{} call{} did not record {} or a key of --by; recorded are {}", left_out.empty() ? "" : "; ",
                                pairing.left_out(), pairing.left_out() == 1 ? "" : "s", options.on,
                                list_recorded_values(reader.schema()));
    if (!left_out.empty() && pairing.left_out() == pairing.calls())
        throw Error(left_out);
    set_columns();
    RecordedTotals totals = paired_totals(pairing);
    totals.counts = report.total(choice);
    totals.filtered = choice.filtered();
    totals.left_out += calls_of(choice.left_out());
    if ((!intervals && !output.show(pairing.pairs())) || !output.finish(totals))
        return;
    report_unpaired(pairing, options);
    if (!left_out.empty())
        write_message(left_out);
}

void run_live_pairs(const AggregateOptions &options) {
    const std::vector<lang::ArgumentExpression> keys = parse_keys(options).values;
    Request request = make_request(options.functions);
    request.specs = recording_specs(options, keys);
    Session session(Device::open());
    ProcessWatch processes(options.processes.pids);
    Kernel kernel;
    use_btf(kernel, options.functions);
    Resolved resolved = resolve(kernel, request);
    print_left(resolved.left);
    AggregateOutput output(options.output, options.style, options.json, options.ascii);
    session.create("", options.session);
    session.become_reader(options.include_self || tells_own_calls(options));
    std::optional<ChildCommand> command;
    if (!options.command.empty())
        command.emplace(options.command, options.output.empty());
    choose_processes(session, options, command, false);
    LiveRings rings(session);
    StopSignal stop;
    const std::uint64_t armed = monotonic_now(); // there is no record before that
    add_followed(session, kernel, resolved.probes);
    UnloadedModules modules(session);
    message("pairing calls of {} and {} on {}, {}", options.from, options.to, options.on,
            options.until(options.duration));
    Schema schema([&session] { return session.probes(true); });
    schema.reload();
    std::unique_ptr<ProbeFormats> formats;
    const std::vector<KeyColumn> columns =
        columns_of(keys, probe_of(schema, request.specs[0]), formats);
    const LiveSymbols symbols(session.device());
    CallerNames names(symbols);
    output.set_keys(columns, names);
    LivePairs pairs({session, rings, modules, command ? &*command : nullptr,
                     options.ends_with_processes() ? &processes : nullptr},
                    options, schema, make_pairing(options, keys), request.specs, output, armed);
    if (command)
        start(*command);
    const LiveLoop::End end = pairs.run(stop);
    if (end == LiveLoop::End::ended)
        print_ended(options.processes.pids);
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
    report_unpaired(pairs.pairing(), options);
    print_remedies(session, total, true);
    if (command)
        throw ExitStatus{command->finish()};
}

} // namespace argtrace
