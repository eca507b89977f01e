// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "util/error.h"

namespace argtrace {

/// What decides whether the device can be opened.
struct OpenCircumstances {
    struct Access {
        mode_t mode;
        std::string owner, group; ///< names, or numbers without one
    };

    bool root = false;
    std::uint64_t capabilities = 0; ///< the effective ones
    std::string lockdown{};         ///< what /sys/kernel/security/lockdown says ("none [integrity] confidentiality")
    std::optional<Access> access{}; ///< the device's; nothing: it cannot be looked at

    /// Those of this process and the device at `path`.
    static OpenCircumstances here(const std::string &path);
};

/// Why the device could not be opened, and the way out; `error` is the errno.
Error explain_open(int error, const OpenCircumstances &circumstances);

} // namespace argtrace
