// SPDX-License-Identifier: GPL-2.0-only
#include "model/counts.h"

#include <numeric>
#include <vector>

#include <fmt/format.h>

namespace argtrace {

std::uint64_t lost_total(const argtrace_counts &counts) {
    return std::accumulate(std::begin(counts.lost), std::end(counts.lost), std::uint64_t{0},
                           [](std::uint64_t sum, std::uint64_t one) { return sum + one; });
}

std::uint64_t hits(const argtrace_counts &counts) {
    return counts.records + counts.filtered + counts.sampled + counts.capped + lost_total(counts);
}

argtrace_counts total_of(std::span<const argtrace_counts> counts) {
    argtrace_counts total{};
    for (const argtrace_counts &one : counts) {
        total.records += one.records;
        total.filtered += one.filtered;
        total.sampled += one.sampled;
        total.capped += one.capped;
        total.faults += one.faults;
        for (std::size_t i = 0; i < ARGTRACE_LOST_MAX; ++i)
            total.lost[i] += one.lost[i];
    }
    return total;
}

std::uint64_t unfollowed_total(const ReturnTotals &returns) {
    return std::accumulate(returns.unfollowed.begin(), returns.unfollowed.end(), std::uint64_t{0});
}

std::uint64_t beside_counts(const ReturnsById &returns, std::uint32_t id) {
    const auto found = returns.find(id);
    return found == returns.end() ? 0 : found->second.in_flight + unfollowed_total(found->second);
}

void add_returns(ReturnTotals &sum, const argtrace_return_counts &counts) {
    sum.in_flight += counts.in_flight;
    for (std::size_t i = 0; i < ARGTRACE_UNFOLLOWED_MAX; ++i)
        sum.unfollowed[i] += counts.unfollowed[i];
}

std::string describe_returns(const ReturnTotals &returns) {
    std::vector<std::string> parts;
    if (returns.in_flight > 0)
        parts.push_back(fmt::format("{} in flight", returns.in_flight));
    for (std::size_t i = 0; i < ARGTRACE_UNFOLLOWED_MAX; ++i)
        if (returns.unfollowed[i] > 0)
            parts.push_back(fmt::format("{} {}", returns.unfollowed[i],
                                        i < unfollowed_causes.size() ? unfollowed_causes[i].words
                                                                     : "not followed"));
    return fmt::format("{}", fmt::join(parts, ", "));
}

namespace {

template<std::size_t N>
std::string describe_causes(const std::array<std::uint64_t, N> &counts, const std::array<LostCause, N> &causes) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < N; ++i)
        if (counts[i] > 0)
            parts.push_back(fmt::format("{} {}", counts[i], causes[i].words));
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace

std::string describe_stack_loss(const StackLoss &loss) {
    return describe_causes(loss, stack_loss_causes);
}

std::string describe_stack_ends(const UserStackLoss &loss) {
    return describe_causes(loss.incomplete, stack_end_causes);
}

std::string describe_lost(const argtrace_counts &counts) {
    std::string text;
    for (std::size_t i = 0; i < ARGTRACE_LOST_MAX; ++i) {
        if (counts.lost[i] == 0)
            continue;
        std::string_view words = i < lost_causes.size() ? lost_causes[i].words : "another cause";
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", std::uint64_t{counts.lost[i]}, words);
    }
    return text;
}

} // namespace argtrace
