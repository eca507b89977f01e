// SPDX-License-Identifier: GPL-2.0-only
#include "report/recorded_pairs.h"

#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "answer/pairs.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

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
        columns = pair_columns(keys, first_probe(reader.schema(), specs[0]), formats);
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
    tell_unpaired(pairing, options);
    if (!left_out.empty())
        write_message(left_out);
}

} // namespace argtrace
