// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/exporter.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"

namespace argtrace {

/// A folder in the Common Trace Format 1.8 (https://diamon.org/ctf), for babeltrace2 and Trace
/// Compass: an event class for each function, a stream for each CPU, and the calls that it lost as
/// discarded events. A call that comes behind later ones, because it lasted longer than its packet,
/// goes to a second stream of its CPU: within one, times never go back. Calls that had not returned have a stream of their own, whose
/// CPU is -1.
class CtfExporter : public SerialExporter {
public:
    CtfExporter(std::string folder, const ExportSource &source);

    void lost(std::uint32_t cpu, std::uint64_t ts, std::uint64_t calls) override;
    void finish() override;
    std::uint64_t size() const override { return size_; }

private:
    void event(const EventView &view) override;
    enum class Kind : std::uint8_t { absent, number, text };

    struct Field {
        Kind kind = Kind::absent;
        std::uint8_t bytes = 0;   // of a number
        bool is_optional = false; // it may not have been captured: a sequence of none, or of one
        const Format *format = nullptr;
    };

    struct EventClass {
        std::uint32_t id = 0;
        std::vector<Field> fields;
    };

    struct Stream {
        std::string path;
        std::uint32_t cpu = 0;
        std::string events; // of the packet that is being made
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::uint64_t lost = 0;
    };

    const EventClass &class_of(const Probe &probe);
    Stream &stream_of(std::uint32_t cpu, std::uint64_t ts);
    void put_value(std::string &out, const Field &field, const EventView &view, const Value &value);
    void write_packet(Stream &stream);
    void write_file(const std::string &path, std::string_view bytes, bool append);

    std::string folder_;
    CallerNames callers_;
    ValueWriter values_;
    std::unordered_map<const Probe *, EventClass> classes_;
    std::map<std::uint32_t, std::deque<Stream>> streams_; // by CPU
    std::string metadata_;
    std::uint64_t size_ = 0;
    Line line_;
};

} // namespace argtrace
