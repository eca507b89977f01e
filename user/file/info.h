// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// Where a trace comes from: the first chunk of a file, a JSON object with these names.
struct TraceInfo {
    std::string argtrace; ///< version of the tool that wrote it
    std::string kernel;   ///< uname -r
    std::string machine;  ///< uname -m
    std::string host;     ///< uname -n
    std::uint32_t cpus = 0;
    std::uint32_t record_version = 0; ///< ARGTRACE_RECORD_VERSION
    std::uint32_t format = 0;         ///< ARGTRACE_FORMAT_*
    std::uint32_t clock = 0;          ///< ARGTRACE_CLOCK_*
    std::uint32_t packet_size = 0;
    std::uint32_t packets_per_cpu = 0;
    std::string mode; ///< "stream", or "flight"
    // One moment by three clocks, in ns: events carry CLOCK_MONOTONIC.
    std::uint64_t begin_realtime = 0;
    std::uint64_t begin_monotonic = 0;
    std::uint64_t begin_boottime = 0; ///< 0 in files of versions that did not write it
    std::vector<std::string> command;     ///< that was recorded; mostly empty
    std::vector<std::uint32_t> processes; ///< whose calls alone were recorded; empty: everybody's
    bool children = false;                ///< and those of the processes that they started
    std::uint32_t recorder = 0;           ///< the process that wrote it; 0: not known

    bool operator==(const TraceInfo &) const = default;
};

/// What can be told of this machine and moment; the session's part is left to the caller.
TraceInfo info_of_this_machine();

/// A moment of CLOCK_MONOTONIC as one of CLOCK_REALTIME, in ns, as these clocks were when recording began.
inline std::uint64_t realtime_of(const TraceInfo &info, std::uint64_t monotonic) {
    return info.begin_realtime + monotonic - info.begin_monotonic;
}

/// `indent`: spaces of an indent; -1: all on one line.
std::string to_json(const TraceInfo &info, int indent = 1);

/// Nothing when it is no such object. Names that are not known are passed over, those that are
/// missing stay empty.
std::optional<TraceInfo> info_from_json(std::string_view text);

} // namespace argtrace
