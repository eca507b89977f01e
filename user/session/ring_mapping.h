// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "session/mapping.h"
#include "session/ring_reader.h"

namespace argtrace {

/// One CPU's ring, mapped.
class RingMapping {
public:
    /// Maps both regions, or only the packets: any file may map those, and a flight recorder has
    /// nothing else. Nothing if the CPU has no ring. Throws Error when the module refuses, as it
    /// does for map() unless the file is the session's reader.
    static std::optional<RingMapping> map(int fd, const argtrace_session_attr &session,
                                          std::uint32_t cpu);
    static std::optional<RingMapping> map_packets(int fd, const argtrace_session_attr &session,
                                                  std::uint32_t cpu);

    const RingView &view() const { return view_; }

private:
    RingMapping(Mapping packets, const RingView &view) : packets_(std::move(packets)), view_(view) {}

    Mapping packets_;
    std::optional<Mapping> reader_;
    RingView view_;
};

/// Records of a flight recorder that have been overwritten in these rings since they were made.
std::uint64_t overwritten_in(std::span<const RingMapping> rings);

} // namespace argtrace
