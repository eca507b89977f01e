// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// Thrown by a subcommand that has reported its errors itself: argtrace exits with this status.
struct ExitStatus {
    int status;
};

} // namespace argtrace
