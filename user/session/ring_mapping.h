// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "session/ring_reader.h"

namespace argtrace {

/// One region mapped into memory.
class Mapping {
public:
    Mapping(void *start, std::size_t size) : start_(start), size_(size) {}
    Mapping(Mapping &&other) noexcept
        : start_(std::exchange(other.start_, nullptr)), size_(other.size_) {}
    Mapping &operator=(Mapping &&) = delete;
    ~Mapping();

    std::byte *start() const { return static_cast<std::byte *>(start_); }

private:
    void *start_;
    std::size_t size_;
};

/// The two regions of one CPU's ring, mapped as a reader needs them.
class RingMapping {
public:
    /// Nothing when that CPU has no ring. The file must be the session's reader.
    /// Throws Error when the module refuses it.
    static std::optional<RingMapping> map(int fd, const argtrace_session_attr &session,
                                          std::uint32_t cpu);

    const RingView &view() const { return view_; }

private:
    RingMapping(Mapping reader, Mapping packets, const RingView &view)
        : reader_(std::move(reader)), packets_(std::move(packets)), view_(view) {}

    Mapping reader_;
    Mapping packets_;
    RingView view_;
};

} // namespace argtrace
