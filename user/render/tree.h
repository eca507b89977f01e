// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyze/call_trees.h"
#include "analyze/open_calls.h"
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
///
/// A call that was recorded with its stack has it below the line that its arguments are in, as TextRenderer shows it.
///
/// Where still_running() says which calls have not returned, it is known what a tree is in. A call that runs for longer than `max_wait`
/// is shown as it is, and later that it has returned:
///
///     5.108454467   dd    145  1   ....   running   vfs_read(file=0xff11.., count=832) {
///     5.108454512   dd    145  1   ....      311ns    rw_verify_area(read_write=0) = 0
///     9.108456301   dd    145  1   ....      4.00s  } vfs_read(file="x", count=832) = 832
class TreeRenderer : public Renderer {
public:
    TreeRenderer(CallerNames &callers, bool header, TimeFormat time, std::uint64_t max_wait,
                 Described which = Described::recorded)
        : callers_(callers), values_(callers, ValueWriter::Style::text, which), header_(header), time_(time),
          max_wait_(max_wait) {}

    void begin(std::string &out, std::uint64_t now) override;
    void widen(const Widths &widths) override { (void)widths_.include(widths); }
    using Renderer::event;
    void event(Line &out, const EventView &view) override;
    bool waiting() const override { return trees_.calls() > 0; }
    void advance(std::string &out, std::uint64_t now) override;
    void end(std::string &out) override;
    bool expect_running() override;
    void still_running(std::string &out, const RunningCalls &running, bool last) override;

private:
    /// What stands in the lines of a call, but its times and what depends on its depth.
    struct Shown {
        std::string task; ///< the columns COMM to FLAGS
        std::string call;
        std::string result;   ///< " = 832"; of nothing ""
        std::string duration; ///< "" where only the entry was recorded; "left" of a call that was
        const Probe *probe = nullptr;
        std::optional<Value> stack = {}, user_stack = {}; ///< of a call whose record has them
    };

    using Call = CallTrees<Shown>::Call;

    /// What is to be shown next: a tree, or a call that still runs.
    struct Item {
        std::uint64_t task;
        Call call;
        std::optional<OpenCall> open;
    };

    Shown show(const EventView &view);
    std::uint64_t task_of(const EventView &view);
    void append_task(const Event &event);
    void append_registers(const EventView &view);
    void append_ended(Line &out, std::uint64_t limit);
    void append_tree(Line &out, std::uint64_t task, const Call &call);
    void append_open(Line &out, const Item &item);
    /// Calls by task and by when they began.
    using KnownCalls = std::set<std::pair<std::uint64_t, std::uint64_t>>;

    bool is_news(const Event &event) const;
    bool has_returned(std::uint64_t task, const OpenCall &open) const;
    std::map<std::uint64_t, std::uint64_t> undecided(const RunningCalls &running, const KnownCalls &now) const;
    std::uint64_t beginning(const Call &call) const { return running_.beginning(call.clock, call.end - call.begin); }
    void append(Line &out, const Call &call, std::size_t depth);
    void append_closing(Line &out, const Call &call, std::size_t depth, bool reopened);
    void append_stack_of(Line &out, const Call &call);
    void append_columns(Line &out, std::uint64_t time, const Call &call, std::string_view duration,
                        std::size_t depth);

    CallerNames &callers_;
    ValueWriter values_;
    bool header_;
    TimeText time_;
    std::uint64_t max_wait_; // ns
    Widths widths_{15, comm_width, 4, 3};
    CallTrees<Shown> trees_;
    OpenCalls open_;
    RunningCalls running_; // as it was told last
    bool expects_running_ = false;
    std::unordered_map<const Probe *, std::optional<std::size_t>> goroutine_values_;
    std::uint64_t next_ = 0; // when trees may have ended, as of the events
    Line line_;
};

} // namespace argtrace
