// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string_view>

#include "workload.h"

namespace argtrace::bench {

/// What is done with each event of the workload, each step with all that is before it.
enum class Step { decode, merge, text, json };

/// Does it once, text and JSON into the file descriptor, and returns how many events there were.
std::uint64_t read_all(Workload &workload, Step step, int output);

} // namespace argtrace::bench
