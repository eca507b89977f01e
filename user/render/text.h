// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "render/caller.h"
#include "render/line.h"
#include "render/plan.h"
#include "render/recent.h"
#include "render/renderer.h"
#include "render/time_text.h"
#include "render/value_writer.h"

namespace argtrace {

/// Events in columns:
///
///     TIME            COMM            TID  CPU FLAGS  FUNCTION
///     2.209678123     dd              149  1   ....   vfs_read(count=4096) <- ksys_read+0x6b
///
/// A column that turns out too narrow becomes wider for good, so that lines stay aligned.
class TextRenderer : public Renderer {
public:
    TextRenderer(CallerNames &callers, bool header, TimeFormat time = {},
                 Described which = Described::recorded);

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override;
    void follow(std::uint64_t ts) override { time_.follow(ts); }
    using Renderer::event;
    void event(Line &out, const EventView &view) override;

private:
    Plan make_plan(const Probe &probe);
    Snippet make_task(const Event &event);
    void enter_second(std::uint64_t ts);
    void append_other_time(Line &out, std::uint64_t ts);

    CallerNames &callers_;
    ValueWriter values_;
    bool header_;
    TimeText time_;
    Widths widths_{15, comm_width, 4, 3};
    PlanCache plans_;
    TaskSnippets tasks_;
    CallerSnippets recent_callers_;
    std::uint64_t second_ = 0; // the one that seconds_ tells
    Snippet seconds_{"0."};
    Snippet no_caller_{"\n"};
};

/// Appends a value, other than BYTES and STR, as C writes it: decimal, hexadecimal for pointers, true and
/// false, 'a'; -ENOENT for a pointer that is an error; `?` for one that was not captured.
void append_text_value(Line &out, const Value &value);

/// Appends an address in hexadecimal, or "-ENOENT" when it is one of the kernel's error pointers.
void append_pointer(Line &out, std::uint64_t address);

/// What stands for the name of a task that is not known.
inline constexpr std::string_view unknown_comm = "<...>"; // as ftrace writes it

/// Appends text that came from outside: control characters and what is not UTF-8 as \xNN.
void append_visible(Line &out, std::string_view text);

} // namespace argtrace
