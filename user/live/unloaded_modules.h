// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "session/session.h"

namespace argtrace {

/// Tells of functions that are no longer traced because their module was unloaded: when that
/// happens, or in the end if it had happened before.
class UnloadedModules {
public:
    explicit UnloadedModules(const Session &session);

    /// Probes have changed (Session::has_changed()): says on stderr which have gone with their
    /// module. Those of a module whose functions are traced again when it is loaded again are not
    /// worth it.
    void follow();

    /// Says which had gone before.
    void tell_earlier() const;

private:
    void note_orders();
    bool comes_back(const std::string &module) const;

    const Session &session_;
    std::set<std::string> ordered_; ///< modules of --on-load, also where that has been withdrawn
    std::map<std::uint32_t, std::string> module_of_; ///< of a live probe: by its id
    std::set<std::uint32_t> gone_;
    std::vector<Probe> earlier_; ///< were gone when we began
};

/// Says which functions are no longer traced because their module was unloaded.
void note_unloaded(std::span<const Probe> probes);

/// "vfs_read, vfs_write and 12 more"
std::string list_names(const std::vector<std::string> &names);

} // namespace argtrace
