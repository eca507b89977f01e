// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>

#include "render/caller.h"
#include "render/renderer.h"

namespace argtrace {

/// Events in columns:
///
///     TIME            COMM       TID  CPU FLAGS  FUNCTION
///     2.209678123     dd         149  1   ....   vfs_read(count=4096) <- ksys_read+0x6b
///
/// A column that turns out too narrow becomes wider for good, so that lines stay aligned.
class TextRenderer : public Renderer {
public:
    TextRenderer(CallerNames &callers, bool header) : callers_(callers), header_(header) {}

    void begin(std::string &out, std::uint64_t now) override;
    void event(std::string &out, const EventView &view) override;

private:
    CallerNames &callers_;
    bool header_;
    std::string comm_; // its memory is used again
    std::size_t time_width_ = 15;
    std::size_t comm_width_ = 10;
    std::size_t tid_width_ = 4;
    std::size_t cpu_width_ = 3;
};

/// Appends a value as C writes it: decimal, hexadecimal for pointers, true and false, 'a';
/// `?` for one that was not captured.
void append_text_value(std::string &out, const Value &value);

} // namespace argtrace
