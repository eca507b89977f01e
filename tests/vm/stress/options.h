// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>

namespace vmtest {

/// What main() was told.
struct StressOptions {
    std::uint64_t seed = 1;
    unsigned steps = 200; ///< of each thread
};

inline StressOptions stress_options;

} // namespace vmtest
