// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/event.h"

namespace argtrace {

/// Which values of events could not be read when the calls were made (Event::has_unread), and how often.
class UnreadValues {
public:
    /// An event that has any.
    void add(const EventView &view);

    bool empty() const { return counts_.empty(); }

    /// "20 of file in vfs_open, 1 of *pos in vfs_read and 3 of others": the most frequent first, three of them; may be empty.
    std::string describe() const;

    /// What to try where an expression that follows a pointer could be read in no call of a function, as `counts` has it; empty if
    /// there is none.
    std::string hint(std::span<const argtrace_counts> counts) const;

    /// {"vfs_open":{"file":20},"vfs_read":{"*pos":1}}
    void append_json(std::string &out) const;

private:
    using Place = std::pair<std::string, std::string>; // function and argument

    std::map<Place, std::uint64_t> by_name() const;

    std::map<std::pair<const Probe *, std::size_t>, std::uint64_t> counts_; // by the number of the argument
    std::map<const Probe *, std::uint64_t> events_;                         // that have any
};

} // namespace argtrace
