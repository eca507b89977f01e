// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <linux/capability.h>

#include "util/lines.h"

#ifndef CAP_PERFMON // Linux 5.8
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

namespace argtrace {

/// The effective capabilities of a process, as a set of bits, from its /proc/PID/status.
inline std::uint64_t effective_capabilities(std::string_view status) {
    std::uint64_t set = 0;
    for_each_line(status, [&set](std::string_view line) {
        if (next_word(line) == "CapEff:")
            set = std::strtoull(std::string(next_word(line)).c_str(), nullptr, 16);
    });
    return set;
}

inline bool has_capability(std::uint64_t set, unsigned capability) {
    return (set >> capability & 1) != 0;
}

} // namespace argtrace
