// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/call_node.h"
#include "model/event.h"
#include "render/flame_graph.h"

namespace argtrace {

/// What is at the bottom of the stack in which a call was made: the name of the task, or the kind of interrupt.
std::string task_frame(const Event &event);

/// The nodes of a tree, of which there are never too many.
class FrameNodes {
public:
    /// The node of that name below another; the other itself, and `merged` grows, where there are too many already.
    CallNode &child(CallNode &node, std::string_view name);

    std::uint64_t merged() const { return merged_; }

private:
    std::size_t nodes_ = 0;
    std::uint64_t merged_ = 0;
};

/// Calls -> a tree of frames, which says what was spent in each: what flame graphs and folded stacks are made of.
class FrameTree {
public:
    virtual ~FrameTree() = default;

    /// As Exporter::event().
    virtual void add(const EventView &view) = 0;

    /// Adds what has been kept back, and returns the tree. Throws Error where no call could be part of it.
    virtual const CallNode &finish() = 0;

    /// What was spent; behind finish().
    virtual FlameGraph::Unit unit() const = 0;

    /// As Exporter::left_out().
    virtual std::string left_out() const = 0;
};

} // namespace argtrace
