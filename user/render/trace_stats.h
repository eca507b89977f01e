// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "util/wide_number.h"

namespace argtrace {

/// What a trace consists of.
struct TraceStats {
    /// Times in ns of the calls that were recorded when they returned.
    struct Timing {
        std::uint64_t errors = 0; ///< calls that returned one
        WideNumber total = 0;
        WideNumber self = 0; ///< without calls in them that were recorded
        std::uint64_t mean = 0;
        std::uint64_t p50 = 0, p99 = 0; ///< to within 3 %
        std::uint64_t max = 0;
    };

    struct Function {
        std::string name; ///< with a ~ where its prototype was guessed
        std::uint64_t calls = 0;
        std::optional<Timing> timing = {};
    };

    struct Cpu {
        std::uint32_t cpu = 0;
        std::uint64_t events = 0;
        std::uint64_t lost = 0;
        std::uint64_t packets = 0;
    };

    std::vector<Function> functions; ///< those that are called most first
    std::vector<Cpu> cpus;
    std::uint64_t first = 0; ///< ns, of the first event and the last
    std::uint64_t last = 0;

    /// For how long was recorded, in ns: what rates are of. Where that is not known, it is the
    /// time from the first event to the last.
    std::uint64_t duration = 0;
    bool duration_known = false;
};

/// Tables for people: calls and rate by function, how long they took where that is known, then what
/// each CPU has recorded and lost.
void append_trace_stats_text(std::string &out, const TraceStats &stats);

/// One JSON object a line: those of functions have "func", those of CPUs "cpu".
void append_trace_stats_json(std::string &out, const TraceStats &stats);

} // namespace argtrace
