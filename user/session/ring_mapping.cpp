// SPDX-License-Identifier: GPL-2.0-only
#include "session/ring_mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include "session/options.h"

namespace argtrace {

namespace {

constexpr const char *the_ring = "the ring";

} // namespace

std::optional<RingMapping> RingMapping::map_packets(int fd, const argtrace_session_attr &session,
                                                    std::uint32_t cpu) {
    auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    auto packets =
        map_region(fd, page + ring_size(session), PROT_READ, cpu, ARGTRACE_MMAP_PACKETS, the_ring);
    if (!packets)
        return std::nullopt;

    RingView view;
    view.control = reinterpret_cast<const argtrace_ring_control *>(packets->start());
    view.packets = packets->start() + page;
    view.packet_size = session.packet_size;
    view.nr_packets = session.nr_packets;
    view.cpu = cpu;
    return RingMapping(std::move(*packets), view);
}

std::optional<RingMapping> RingMapping::map(int fd, const argtrace_session_attr &session,
                                            std::uint32_t cpu) {
    auto ring = map_packets(fd, session, cpu);
    if (!ring)
        return std::nullopt;
    auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    auto reader =
        map_region(fd, page, PROT_READ | PROT_WRITE, cpu, ARGTRACE_MMAP_READER, the_ring);
    if (!reader)
        return std::nullopt;
    ring->reader_.emplace(std::move(*reader));
    ring->view_.reader = reinterpret_cast<argtrace_ring_reader *>(ring->reader_->start());
    return ring;
}

std::uint64_t overwritten_in(std::span<const RingMapping> rings) {
    std::uint64_t sum = 0;
    for (const RingMapping &ring : rings)
        sum += __atomic_load_n(&ring.view().control->overwritten, __ATOMIC_RELAXED);
    return sum;
}

} // namespace argtrace
