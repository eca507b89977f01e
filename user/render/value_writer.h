// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "decode/event.h"
#include "render/caller.h"
#include "render/format.h"

namespace argtrace {

/// Arguments as text or JSON, by the types that their probe carries:
///
///                        text                  JSON
///     struct, union      {uid={val=0}, n=1}    {"uid":{"val":0},"n":1}
///     array              [1, 2, 3]             [1,2,3]
///     array of char      "dd\n"                "dd\n"
///     enum               PIDTYPE_TGID          "PIDTYPE_TGID"   a number where no name fits
///     function           do_exit, f+0x4 [m]    "do_exit"
///
/// All members of a union are shown. An array is cut in text, never in JSON; one of char ends
/// before its first NUL. A struct whose types are unknown is shown as bytes in hexadecimal.
class ValueWriter {
public:
    enum class Style { text, json };

    ValueWriter(CallerNames &names, Style style) : names_(names), style_(style) {}

    /// Appends the argument of that index.
    void append(std::string &out, const EventView &view, std::size_t index);

private:
    using Bytes = std::span<const std::byte>;

    void append_value(std::string &out, const Value &value) const;
    void append_bytes(std::string &out, Bytes data) const;
    void append_name(std::string &out, std::string_view name) const;
    void append_scalar(std::string &out, const Format &format, const Value &value);
    void append_formatted(std::string &out, const Format &format, Bytes data);
    void append_fields(std::string &out, const Format &format, Bytes data);
    void append_array(std::string &out, const Format &format, Bytes data);
    void append_string(std::string &out, Bytes data) const;

    CallerNames &names_;
    Style style_;
    FormatCache formats_;
};

} // namespace argtrace
