// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "session/session.h"

namespace argtrace {

/// The times of records are right to two microseconds (uapi/argtrace.h).
inline constexpr std::uint64_t record_slack_ns = 10000;

/// Looks, now and then, whether a session has lost records.
class LossWatch {
public:
    struct Gap {
        std::uint64_t from, to; ///< ns
    };

    /// From `now` on.
    explicit LossWatch(std::uint64_t now) : looked_(now) {}

    /// What has been lost since the last look was lost between the two; nothing: there was none. All that a Merge hands out before
    /// its next round was recorded before this look.
    std::optional<Gap> look(const Session &session);

private:
    std::uint64_t lost_ = 0;
    std::uint64_t looked_;
};

} // namespace argtrace
