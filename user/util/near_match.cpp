// SPDX-License-Identifier: GPL-2.0-only
#include "util/near_match.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace argtrace {

namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
}

} // namespace

// Optimal string alignment, row by row.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
        return limit + 1;

    std::vector<std::size_t> before(b.size() + 1); // the row before the last
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), 0);
    for (std::size_t i = 1; i <= a.size(); i++) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); j++) {
            const bool same = a[i - 1] == b[j - 1];
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        if (*std::min_element(row.begin(), row.end()) > limit)
            return limit + 1;
        std::swap(before, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string_view near_match(std::string_view word, std::span<const std::string_view> candidates) {
    std::string_view best;
    std::size_t distance = std::max<std::size_t>(1, word.size() / 3);
    std::size_t prefix = 0;
    for (const std::string_view candidate : candidates) {
        const std::size_t d = edit_distance(word, candidate, distance);
        const std::size_t p = common_prefix(word, candidate);
        const bool closer = best.empty() ? d <= distance : d < distance;
        if (closer || (d == distance && p > prefix)) {
            best = candidate;
            distance = d;
            prefix = p;
        }
    }
    return best;
}

} // namespace argtrace
