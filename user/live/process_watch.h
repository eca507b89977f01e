// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "util/fd.h"

namespace argtrace {

/// Watches processes until they exit.
class ProcessWatch {
public:
    /// Throws Error if one of them does not exist.
    explicit ProcessWatch(std::span<const std::uint32_t> pids);

    /// Readable when one has ended that ended() has not seen yet.
    int fd() const { return events_.get(); }

    /// Whether all have exited.
    bool ended();

private:
    Fd events_; // an epoll of
    std::vector<Fd> processes_;
    std::size_t running_;
};

} // namespace argtrace
