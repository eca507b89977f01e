// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "util/fd.h"

namespace argtrace {

/// Ctrl-C (SIGINT) and SIGTERM as a request to come to an end; the second one kills.
/// One at a time.
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
