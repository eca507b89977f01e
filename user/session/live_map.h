// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <map>

#include "session/map_reader.h"
#include "session/mapping.h"
#include "session/session.h"

namespace argtrace {

/// A map of a session, mapped: the slots of the CPUs that have some, and of the CPUs that get some while
/// the map is read. Any file that is bound to the session can have it; nobody is stopped by reading.
class LiveMap {
public:
    /// `map` as Session::make_map() has returned it. Maps the slots that are there.
    LiveMap(const Session &session, const argtrace_map &map) : session_(session), map_(map) {
        map_new();
    }

    const argtrace_map &description() const { return map_; }

    /// Maps the slots that have come since (Session::has_changed()).
    void map_new();

    /// What is in it now.
    MapContents read() const;

private:
    const Session &session_;
    argtrace_map map_;
    std::map<std::uint32_t, Mapping> mappings_; ///< by CPU
};

} // namespace argtrace
