// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

namespace argtrace {

/// What the names of tracepoints begin with, as they are written and as they are shown:
/// "t:GROUP:NAME", or "t:NAME" of one that tracefs has no event, and so no group, for.
inline constexpr std::string_view tracepoint_prefix = "t:";

struct TracepointName {
    std::string_view group; ///< empty: none
    std::string_view name;
};

inline bool is_tracepoint(std::string_view probe) {
    return probe.starts_with(tracepoint_prefix);
}

/// The parts of what is_tracepoint().
inline TracepointName split_tracepoint(std::string_view probe) {
    probe.remove_prefix(tracepoint_prefix.size());
    const std::size_t colon = probe.find(':');
    if (colon == probe.npos)
        return {{}, probe};
    return {probe.substr(0, colon), probe.substr(colon + 1)};
}

inline std::string tracepoint_title(const TracepointName &name) {
    std::string title(tracepoint_prefix);
    if (!name.group.empty())
        title.append(name.group) += ':';
    return title.append(name.name);
}

} // namespace argtrace
