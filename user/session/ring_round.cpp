// SPDX-License-Identifier: GPL-2.0-only
#include "session/ring_round.h"

namespace argtrace {

namespace {

// A writer leaves within a microsecond or so: it is worth looking again.
constexpr int looks_max = 32;

} // namespace

RingReader::Glance RingRound::look(const RingReader &ring) {
    RingReader::Glance glance = ring.look();
    for (int i = 1; i < looks_max && !glance.idle; ++i)
        glance = ring.look();
    const auto occupied = static_cast<double>(ring.unreleased(glance.head));
    pressure_ = std::max(pressure_, occupied / static_cast<double>(ring.size()));
    return glance;
}

std::uint64_t RingRound::limit() const {
    // A writer raises `active` before it reads the clock (argtrace_ring_begin() in
    // kmod/sink/ring.h), but its store reaches us a little later: an event may be older than `safe`
    // by that much.
    return least_ > ARGTRACE_CLOCK_SLACK ? least_ - ARGTRACE_CLOCK_SLACK : 0;
}

} // namespace argtrace
