// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/tracepoint_groups.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "util/error.h"

namespace argtrace {

namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string, std::less<>> read_groups(const fs::path &events) {
    std::map<std::string, std::string, std::less<>> groups;
    for (const fs::directory_entry &group : fs::directory_iterator(events)) {
        if (!group.is_directory())
            continue;
        for (const fs::directory_entry &event : fs::directory_iterator(group))
            if (event.is_directory())
                groups.emplace(event.path().filename(), group.path().filename());
    }
    return groups;
}

} // namespace

TracepointGroups TracepointGroups::load(std::span<const std::string> directories) {
    std::string denied;
    for (const std::string &directory : directories) {
        const std::string path = directory + "/events";
        try {
            return TracepointGroups(read_groups(path));
        } catch (const fs::filesystem_error &e) {
            const int error = e.code().value();
            if (error == EPERM || error == EACCES)
                denied = path;
            else if (error != ENOENT && error != ENOTDIR)
                throw Error(fmt::format("{}: {}", path, e.code().message()));
        }
    }
    if (!denied.empty())
        throw Error(fmt::format("{}: no permission to read it, and so the groups of tracepoints are "
                                "not known: run argtrace as root, or leave the group out (t:NAME)",
                                denied));
    throw Error("the groups of tracepoints are not known: tracefs is not mounted; mount it with: "
                "mount -t tracefs tracefs /sys/kernel/tracing");
}

std::string_view TracepointGroups::group_of(std::string_view tracepoint) const {
    const auto found = groups_.find(tracepoint);
    return found == groups_.end() ? std::string_view() : found->second;
}

bool TracepointGroups::has_group(std::string_view group) const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [group](const auto &entry) { return entry.second == group; });
}

} // namespace argtrace
