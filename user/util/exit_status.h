// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// Thrown by a command, or what runs it, that has reported its errors itself: argtrace exits with this status.
struct ExitStatus {
    int status;
};

} // namespace argtrace
