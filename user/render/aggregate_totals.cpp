// SPDX-License-Identifier: GPL-2.0-only
#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "render/aggregate.h"
#include "render/status.h"

namespace argtrace {

namespace {

/// "2 map full, 1 inside argtrace itself"
std::string describe_causes(const argtrace_counts &total) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < ARGTRACE_LOST_MAX; ++i) {
        const std::uint64_t lost = total.lost[i];
        if (lost == 0)
            continue;
        std::string_view words = i < lost_causes.size() ? lost_causes[i].words : "another cause";
        if (i == ARGTRACE_LOST_FULL) // there is no ring
            words = "map full";
        else if (i == ARGTRACE_LOST_NO_BUFFER)
            words = "CPU without a map";
        parts.push_back(fmt::format("{} {}", lost, words));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

void append_pairs(std::string &out, const Pairing &pairing) {
    const Pairing::Unpaired unpaired = pairing.unpaired();
    fmt::format_to(std::back_inserter(out),
                   ",\"pairs\":{},\"unpaired\":{{\"open\":{},\"replaced\":{},\"ends\":{},\"unreadable\":{},"
                   "\"lost\":{},\"given_up\":{}}}",
                   pairing.pairs().calls(), unpaired.open, unpaired.replaced, unpaired.ends, unpaired.unreadable, unpaired.lost,
                   unpaired.given_up);
}

} // namespace

std::string aggregate_totals(const argtrace_counts &total, const ReturnTotals &returns) {
    const std::uint64_t calls = hits(total) + returns.in_flight + unfollowed_total(returns);
    const std::string causes = describe_causes(total);
    std::string text =
        fmt::format("{} call{}: {} added up, {} filtered, {} lost{}", calls, calls == 1 ? "" : "s",
                    std::uint64_t{total.records}, std::uint64_t{total.filtered}, lost_total(total),
                    causes.empty() ? "" : fmt::format(" ({})", causes));
    auto to = std::back_inserter(text);
    if (total.sampled > 0)
        fmt::format_to(to, ", {} sampled out", std::uint64_t{total.sampled});
    if (total.capped > 0)
        fmt::format_to(to, ", {} capped", std::uint64_t{total.capped});
    if (const std::string beside = describe_returns(returns); !beside.empty())
        text += ", " + beside;
    if (total.faults > 0)
        fmt::format_to(to, "; {} fault{}", std::uint64_t{total.faults},
                       total.faults == 1 ? "" : "s");
    return text;
}

void append_aggregate_totals_json(std::string &out, const argtrace_counts &total,
                                  const ReturnTotals *returns, const StackLoss *stacks, const UserStackLoss *user_stacks) {
    const std::uint64_t overflow = total.lost[ARGTRACE_LOST_FULL];
    const std::uint64_t beside = returns ? returns->in_flight + unfollowed_total(*returns) : 0;
    auto to = std::back_inserter(out);
    fmt::format_to(to,
                   "{{\"calls\":{},\"added\":{},\"filtered\":{},\"sampled\":{},\"capped\":{},"
                   "\"overflow\":{},\"lost\":{},\"faults\":{}",
                   hits(total) + beside, std::uint64_t{total.records},
                   std::uint64_t{total.filtered}, std::uint64_t{total.sampled},
                   std::uint64_t{total.capped}, overflow, lost_total(total) - overflow,
                   std::uint64_t{total.faults});
    if (returns)
        fmt::format_to(to, ",\"in_flight\":{},\"unfollowed\":{}", returns->in_flight,
                       unfollowed_total(*returns));
    if (stacks)
        append_stack_loss_json(out, *stacks);
    if (user_stacks)
        append_stack_loss_json(out, *user_stacks);
    out += "}\n";
}

void append_recorded_totals_json(std::string &out, const RecordedTotals &totals) {
    auto to = std::back_inserter(out);
    if (const auto &counts = totals.counts) {
        const std::uint64_t seen = totals.added + totals.filtered + totals.left_out;
        const std::uint64_t recorded = std::max(std::uint64_t{counts->records}, seen);
        const std::uint64_t beside = totals.returns ? totals.returns->in_flight + unfollowed_total(*totals.returns) : 0;
        fmt::format_to(to,
                       "{{\"calls\":{},\"added\":{},\"filtered\":{},\"sampled\":{},\"capped\":{},\"overflow\":0,\"lost\":{},"
                       "\"faults\":{}",
                       hits(*counts) - counts->records + recorded + beside, totals.added, counts->filtered + totals.filtered,
                       std::uint64_t{counts->sampled}, std::uint64_t{counts->capped}, lost_total(*counts) + recorded - seen,
                       std::uint64_t{counts->faults});
    } else {
        fmt::format_to(to,
                       "{{\"calls\":null,\"added\":{},\"filtered\":null,\"sampled\":null,\"capped\":null,\"overflow\":0,"
                       "\"lost\":null,\"faults\":null",
                       totals.added);
    }
    if (totals.returns)
        fmt::format_to(to, ",\"in_flight\":{},\"unfollowed\":{}", totals.returns->in_flight,
                       unfollowed_total(*totals.returns));
    fmt::format_to(to, ",\"left_out\":{}", totals.left_out);
    if (totals.pairing)
        append_pairs(out, *totals.pairing);
    out += "}\n";
}

} // namespace argtrace
