// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <utility>

#include "session/options.h"

namespace argtrace {

/// A named session that was made by whoever has this, and goes with it unless it is kept: what
/// fails halfway leaves no session. `Sessions` is Session, or what a test has in its place.
template<typename Sessions>
class OwnedSession {
public:
    /// Makes it and binds `sessions` to it.
    OwnedSession(Sessions &sessions, std::string name, const SessionOptions &options)
        : sessions_(&sessions), name_(std::move(name)) {
        sessions.create(name_, options);
    }

    OwnedSession(OwnedSession &&other) noexcept
        : sessions_(std::exchange(other.sessions_, nullptr)), name_(std::move(other.name_)) {}
    OwnedSession &operator=(OwnedSession &&) = delete;

    ~OwnedSession() {
        if (!sessions_)
            return;
        try {
            sessions_->remove(name_);
        } catch (...) { // what failed before is what the user is to read
        }
    }

    /// It outlives this object.
    void keep() { sessions_ = nullptr; }

private:
    Sessions *sessions_;
    std::string name_;
};

} // namespace argtrace
