// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "btf/format.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_names.h"
#include "model/event.h"
#include "render/caller.h"
#include "render/line.h"
#include "render/value_writer.h"
#include "util/protobuf.h"

namespace argtrace {

/// Annotations have names with odd numbers, which stay the same in all of the trace, and others with even
/// ones, from this on, which are interned anew by each block.
inline constexpr std::uint64_t perfetto_block_names = 2;

/// Arguments as Perfetto's debug annotations: numbers, truth values and pointers as such, structs
/// as dictionaries, arrays as arrays; names of enumerators, flags, functions and addresses as
/// strings, which are interned; text as strings. What was not captured has no annotation.
class PerfettoValues {
public:
    explicit PerfettoValues(CallerNames &callers) : texts_(callers, ValueWriter::Style::text) {}

    /// What was interned is not known any more to who reads on.
    void forget();

    /// Writes a value as the annotation `field` of the message that `out` is in; `format` as in
    /// ProbeFormats::argument().
    void append(ProtobufWriter &out, unsigned field, std::uint64_t name, const EventView &view,
                const Value &value, const Format *format);

    /// A string that comes again.
    void append_string(ProtobufWriter &out, unsigned field, std::uint64_t name,
                       std::string_view text);

    /// Strings that have not been written yet, for the packet before what has been appended. The
    /// caller clears them.
    ProtobufWriter &interned() { return interned_; }

private:
    using Bytes = std::span<const std::byte>;

    void put_string(ProtobufWriter &out, std::string_view text);
    void put_text(ProtobufWriter &out, const Format *format, const Value &value, Bytes data);
    void put_scalar(ProtobufWriter &out, const Format *format, const Value &value);
    void put_data(ProtobufWriter &out, const Format &format, Bytes data);
    std::uint64_t field_name(const Format::Field &field);

    ValueWriter texts_;
    PerfettoNames names_{perfetto::interned::annotation_names, perfetto_block_names, 2};
    PerfettoNames strings_{perfetto::interned::strings};
    std::unordered_map<const Format::Field *, std::uint64_t> fields_;
    ProtobufWriter interned_;
    Line text_;
};

} // namespace argtrace
