// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_rings.h"

#include <algorithm>

namespace argtrace {

std::vector<RingView> LiveRings::views() const {
    std::vector<RingView> views;
    for (const RingMapping &mapping : mappings_)
        views.push_back(mapping.view());
    return views;
}

std::vector<RingView> LiveRings::map_new() {
    std::vector<RingView> added;
    for (std::uint32_t cpu = 0; cpu < session_.attributes().nr_cpus; ++cpu) {
        const auto is_of_cpu = [cpu](const RingMapping &ring) { return ring.view().cpu == cpu; };
        if (std::any_of(mappings_.begin(), mappings_.end(), is_of_cpu))
            continue;
        if (auto ring = session_.map_ring(cpu)) {
            mappings_.push_back(std::move(*ring));
            added.push_back(mappings_.back().view());
        }
    }
    return added;
}

} // namespace argtrace
