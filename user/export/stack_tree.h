// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "export/frame_tree.h"
#include "export/stacked_events.h"
#include "render/caller.h"
#include "render/stack.h"

namespace argtrace {

/// Calls by the stacks that were recorded with them: how many there were of each. On top of a stack is the function that was called;
/// of a tick's, what it has interrupted.
class StackTree : public FrameTree {
public:
    explicit StackTree(const Symbols &symbols) : names_(symbols) {}

    void add(const EventView &view) override;
    const CallNode &finish() override;
    FlameGraph::Unit unit() const override { return events_.unit(); }
    std::string left_out() const override;

private:
    using Ids = std::pair<std::uint64_t, std::uint64_t>; // of the kernel's stack and of that of user code; 0: none is taken
    struct Frame {
        std::string name;
        CodeSpace space;
    };
    const std::vector<Frame> &frames(const StackValues &stacks);
    const std::string &top_frame(const Probe &probe);

    CallerNames names_;
    FrameNodes nodes_;
    CallNode root_;
    std::map<Ids, std::vector<Frame>> stacks_; ///< the outermost function first
    std::unordered_map<const Probe *, std::string> tops_;
    StackedEvents events_;
};

} // namespace argtrace
