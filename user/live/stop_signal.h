// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "util/fd.h"

namespace argtrace {

/// Ctrl-C (SIGINT), SIGTERM, and SIGHUP unless it is ignored (nohup(1)), as a request to come to
/// an end; the second one kills. One object at a time.
class StopSignal {
public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal &) = delete;
    StopSignal &operator=(const StopSignal &) = delete;

    bool requested() const;

    /// Readable once requested.
    int fd() const { return event_.get(); }

private:
    Fd event_;
};

} // namespace argtrace
