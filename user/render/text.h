// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "render/caller.h"
#include "render/renderer.h"
#include "render/value_writer.h"

namespace argtrace {

/// Events in columns:
///
///     TIME            COMM       TID  CPU FLAGS  FUNCTION
///     2.209678123     dd         149  1   ....   vfs_read(count=4096) <- ksys_read+0x6b
///
/// A column that turns out too narrow becomes wider for good, so that lines stay aligned.
class TextRenderer : public Renderer {
public:
    TextRenderer(CallerNames &callers, bool header)
        : callers_(callers), values_(callers, ValueWriter::Style::text), header_(header) {}

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override { widths_.include(widths); }
    void event(std::string &out, const EventView &view) override;

private:
    CallerNames &callers_;
    ValueWriter values_;
    bool header_;
    std::string comm_; // its memory is used again
    Widths widths_{15, 10, 4, 3};
};

/// Appends a value, other than BYTES, as C writes it: decimal, hexadecimal for pointers, true and
/// false, 'a'; -ENOENT for a pointer that is an error; `?` for one that was not captured.
void append_text_value(std::string &out, const Value &value);

/// Appends an address in hexadecimal, or "-ENOENT" when it is one of the kernel's error pointers.
void append_pointer(std::string &out, std::uint64_t address);

/// Appends text that came from outside: control characters and what is not UTF-8 as \xNN.
void append_visible(std::string &out, std::string_view text);

} // namespace argtrace
