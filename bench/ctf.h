// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

namespace argtrace::bench {

/// Writes the events of a trace file as a trace of the Common Trace Format 1.8 into a directory
/// that is there: one event class for each function, one stream for each CPU, and in every event
/// what babeltrace2 shows of LTTng's as well: time, CPU, thread, its name. Returns how many events
/// there are.
std::uint64_t write_ctf(const std::string &trace, const std::string &directory);

} // namespace argtrace::bench
