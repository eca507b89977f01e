// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// Which calls of a recording are meant, beside their functions. The others are counted, as the module would have counted them when
/// they were made.
class RecordedChoice {
public:
    /// Those of these processes; of all if there are none. The list stays the caller's.
    explicit RecordedChoice(const std::vector<std::uint32_t> &pids) : pids_(pids) {}

    bool wants(const EventView &view);

    /// Calls that are not.
    std::uint64_t filtered() const { return filtered_; }

private:
    const std::vector<std::uint32_t> &pids_;
    std::uint64_t filtered_ = 0;
};

} // namespace argtrace
