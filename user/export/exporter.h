// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "file/info.h"
#include "model/event.h"
#include "symbols/symbols.h"

namespace argtrace {

/// Where the events of an export come from. All of it stays the caller's, and valid meanwhile.
struct ExportSource {
    const TraceInfo &info;
    const Symbols &symbols;
};

/// Calls -> a file of another tool's format.
class Exporter {
public:
    virtual ~Exporter() = default;

    /// Takes one call. They come in the order of their beginnings, and where these are equal the
    /// longest first, so that a call comes before those it has made. Only one that lasted longer
    /// than its packet may come later, behind the calls that it has made. The view is valid until
    /// this returns.
    virtual void event(const EventView &view) = 0;

    /// That CPU has lost so many calls before `ts`, since the last time that it was said. In the
    /// order of time, as the events are.
    virtual void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) = 0;

    /// Writes what has been kept back.
    virtual void finish() = 0;

    /// Of a format that is a folder: bytes in its files.
    virtual std::uint64_t size() const { return 0; }

    /// What of the calls has no place in the format: "12 calls without a duration"; empty if
    /// everything has.
    virtual std::string left_out() const { return ""; }
};

} // namespace argtrace
