// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/event.h"
#include "model/probe.h"

namespace argtrace {

/// Which of a probe's values is what the function returned.
inline std::optional<std::size_t> result_index(const Probe &probe) {
    for (std::size_t i = probe.args.size(); i-- > 0;) {
        if (is_result(probe, probe.args[i]))
            return i;
    }
    return std::nullopt;
}

/// When a call with a duration ended. A damaged file may say anything.
inline std::uint64_t end_of(const Event &event) {
    const std::uint64_t end = event.ts + event.duration;
    return end < event.ts ? ~std::uint64_t{0} : end;
}

} // namespace argtrace
