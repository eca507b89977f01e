// SPDX-License-Identifier: GPL-2.0-only
#include "session/live_map.h"

#include <sys/mman.h>

namespace argtrace {

void LiveMap::map_new() {
    const std::size_t size = MapReader(map_).size();
    for (std::uint32_t cpu = 0; cpu < session_.attributes().nr_cpus; ++cpu) {
        if (mappings_.contains(cpu))
            continue;
        auto slots = map_region(session_.fd(), size, PROT_READ, cpu, ARGTRACE_MMAP_MAP + map_.id,
                                "the map");
        if (slots)
            mappings_.emplace(cpu, std::move(*slots));
    }
}

MapContents LiveMap::read() const {
    MapContents contents(map_);
    for (const auto &[cpu, slots] : mappings_)
        contents.add({slots.start(), MapReader(map_).size()});
    return contents;
}

} // namespace argtrace
