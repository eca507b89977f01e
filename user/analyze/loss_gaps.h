// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace argtrace {

/// When records were lost, in ns.
class LossGaps {
public:
    /// Between these times. They are told in the order of their beginnings.
    void add(std::uint64_t from, std::uint64_t to) {
        if (!gaps_.empty() && from <= gaps_.back().to)
            gaps_.back().to = std::max(gaps_.back().to, to);
        else
            gaps_.push_back({from, to});
    }

    bool empty() const { return gaps_.empty(); }

    /// Whether any may have been lost from `begin` to `end`, both included; without an end, since then.
    bool meets(std::uint64_t begin, std::uint64_t end = std::numeric_limits<std::uint64_t>::max()) const {
        const auto first = std::lower_bound(gaps_.begin(), gaps_.end(), begin,
                                            [](const Gap &gap, std::uint64_t time) { return gap.to < time; });
        return first != gaps_.end() && first->from <= end;
    }

private:
    struct Gap {
        std::uint64_t from, to;
    };

    std::vector<Gap> gaps_; // none touches another
};

} // namespace argtrace
