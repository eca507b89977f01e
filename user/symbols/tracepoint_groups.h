// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "symbols/traceable.h"

namespace argtrace {

/// Which group ("sched") each tracepoint is in. Tracefs knows that of those that have an event of their
/// name, which are nearly all.
class TracepointGroups {
public:
    TracepointGroups() = default;
    explicit TracepointGroups(std::map<std::string, std::string, std::less<>> groups)
        : groups_(std::move(groups)) {}

    /// Reads events/ in the first of `directories` that has it. Throws Error when tracefs is not
    /// mounted or not open to this user.
    static TracepointGroups
    load(std::span<const std::string> directories = Traceable::tracefs_directories());

    /// Empty if it has none.
    std::string_view group_of(std::string_view tracepoint) const;

    /// Whether a tracepoint, or an event, is in that group.
    bool has_group(std::string_view group) const;

private:
    std::map<std::string, std::string, std::less<>> groups_; // by the name of the tracepoint
};

} // namespace argtrace
