// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/call_node.h"
#include "render/caller.h"
#include "render/stack.h"

namespace argtrace {

/// The node of a frame that stands on another's in a flame graph, which is made if there is none.
CallNode &callee_of(CallNode &node, const std::string &name, bool in_user);

/// Stacks of many samples -> the tree of which a flame graph is drawn. Below a frame that one stack alone has there are no nodes: the
/// stack is asked for again, if the frame is wide enough to be seen. So there are hardly more nodes than stacks, however deep these are.
class StackFlames {
public:
    /// Replaces `frames` by those of the stack of that number, outermost first.
    using FramesOf = std::function<void(std::uint32_t stack, std::vector<StackFrame> &frames)>;

    explicit StackFlames(FramesOf frames_of);

    /// So many samples of a stack. Each number comes once.
    void add(std::uint32_t stack, std::uint64_t samples);

    /// Frames that are too narrow to be drawn have no callees.
    void build(CallNode &root, const CallerNames &names) const;

    /// How many frames the deepest stack has.
    std::size_t depth() const { return depth_; }

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Node {
        std::uint64_t samples = 0; ///< with those of what it calls
        std::uint32_t name = 0;
        std::uint32_t parent = 0;
        std::uint32_t first_callee = 0, next = 0; ///< 0: there is none
        std::uint32_t stack = none;               ///< that it is of, if it is of one alone, whose other frames have no nodes
        std::uint32_t depth = 0;                  ///< frames up to this one
        bool in_user = false;
    };

    std::uint32_t callee(std::uint32_t parent, const StackFrame &frame);
    void unfold(std::uint32_t node);
    void grow();
    std::size_t slot_of(std::uint32_t parent, std::uint32_t name) const;
    void build(CallNode &into, const Node &from, const CallerNames &names, std::vector<StackFrame> &room) const;

    FramesOf frames_of_;
    std::deque<Node> nodes_;
    std::vector<std::uint32_t> slots_; // nodes by parent and name; 0: free
    std::vector<StackFrame> frames_, others_;
    std::size_t depth_ = 0;
};

} // namespace argtrace
