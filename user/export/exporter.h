// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "file/info.h"
#include "model/event.h"
#include "symbols/symbols.h"

namespace argtrace {

/// Where the events of an export come from. All of it stays the caller's, and valid meanwhile.
struct ExportSource {
    const TraceInfo &info;
    const Symbols &symbols;
};

/// Calls that are handed on together.
struct EventBlock {
    struct Entry {
        const EventBatch *batch = nullptr;
        const Event *event = nullptr;

        EventView view() const { return batch->view(*event); }
    };

    std::vector<Entry> events;
    std::vector<std::shared_ptr<const EventBatch>> batches; ///< which the entries point into
};

inline std::size_t size_of(const EventBatch &batch) {
    return batch.events.size() * sizeof(Event) + batch.values.size() * sizeof(Value) + batch.bytes.size();
}

/// How much of what exporters hand to workers may wait for them, in bytes of the batches that it keeps: with any number of workers.
inline constexpr std::size_t waiting_size_max = 32 << 20;

/// Calls -> a file of another tool's format.
class Exporter {
public:
    virtual ~Exporter() = default;

    /// Takes the calls that come next, in the order of their beginnings, and where these are equal the
    /// longest first, so that a call comes before those it has made. Only one that lasted for longer
    /// than a block may come later, behind the calls that it has made; those that had not returned come last. What the entries point to
    /// stays as long as the block, or until finish() where it has no batches of its own.
    virtual void take(EventBlock block) = 0;

    /// That CPU has lost so many calls before `ts`, since the last time that it was said. In the
    /// order of time, as the events are.
    virtual void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) = 0;

    /// Writes what has been kept back.
    virtual void finish() = 0;

    /// For a format that is a folder, the bytes in its files.
    virtual std::uint64_t size() const { return 0; }

    /// What of the calls has no place in the format: "12 calls without a duration"; empty if
    /// everything has.
    virtual std::string left_out() const { return ""; }
};

/// One that writes a call at a time.
class SerialExporter : public Exporter {
public:
    void take(EventBlock block) final {
        for (const EventBlock::Entry &entry : block.events)
            event(entry.view());
    }

protected:
    virtual void event(const EventView &view) = 0;
};

} // namespace argtrace
