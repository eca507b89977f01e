// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/call_trees.h"
#include "render/caller.h"
#include "render/renderer.h"
#include "render/time_text.h"
#include "render/value_writer.h"

namespace argtrace {

/// Calls with those that were made in them, as function_graph shows them:
///
///     TIME          COMM  TID  CPU FLAGS  DURATION  FUNCTION
///     5.108454467   dd    145  1   ....             vfs_read(file="x", count=832) {
///     5.108454512   dd    145  1   ....      311ns    rw_verify_area(read_write=0) = 0
///     5.108456301   dd    145  1   ....     1.83us  } = 832
///
/// A tree is shown when its outermost call has returned and `max_wait` has passed: one around it
/// would be recorded by then, unless it takes longer. That is shown by itself, later.
class TreeRenderer : public Renderer {
public:
    TreeRenderer(CallerNames &callers, bool header, TimeFormat time, std::uint64_t max_wait)
        : values_(callers, ValueWriter::Style::text), header_(header), time_(time),
          max_wait_(max_wait) {}

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override { (void)widths_.include(widths); }
    using Renderer::event;
    void event(Line &out, const EventView &view) override;
    bool waiting() const override { return trees_.calls() > 0; }
    void advance(std::string &out, std::uint64_t now) override;
    void end(std::string &out) override;

private:
    /// What stands in the lines of a call, but its times and what depends on its depth.
    struct Shown {
        std::string task; ///< the columns COMM to FLAGS
        std::string call;
        std::string result;   ///< " = 832"; of nothing ""
        std::string duration; ///< "" where only the entry was recorded
    };

    using Call = CallTrees<Shown>::Call;

    void append_ended(Line &out, std::uint64_t limit);
    void append(Line &out, const Call &call, std::size_t depth);
    void append_columns(Line &out, std::uint64_t time, const Call &call, bool with_duration,
                        std::size_t depth);

    ValueWriter values_;
    bool header_;
    TimeText time_;
    std::uint64_t max_wait_; // ns
    Widths widths_{15, comm_width, 4, 3};
    CallTrees<Shown> trees_;
    std::uint64_t next_ = 0; // when trees may have ended, as of the events
    Line line_;
};

} // namespace argtrace
