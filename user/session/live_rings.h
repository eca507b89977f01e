// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "session/session.h"

namespace argtrace {

/// The rings of a session, mapped: those of the CPUs that have one, and of the CPUs that get one
/// while the session is read.
class LiveRings {
public:
    /// We are the session's reader. Maps the rings that are there.
    explicit LiveRings(const Session &session) : session_(session) { map_new(); }

    /// All that are mapped.
    std::vector<RingView> views() const;

    /// Maps the rings that have come since (Session::has_changed()), and returns them.
    std::vector<RingView> map_new();

private:
    const Session &session_;
    std::vector<RingMapping> mappings_;
};

} // namespace argtrace
