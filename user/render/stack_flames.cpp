// SPDX-License-Identifier: GPL-2.0-only
#include "render/stack_flames.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "render/flame_graph.h"

namespace argtrace {

CallNode &callee_of(CallNode &node, const std::string &name, bool in_user) {
    std::unique_ptr<CallNode> &callee = node.callees[name];
    if (!callee)
        callee = std::make_unique<CallNode>();
    callee->in_user = in_user;
    callee->in_module = !in_user && is_of_module(name);
    return *callee;
}

StackFlames::StackFlames(FramesOf frames_of) : frames_of_(std::move(frames_of)), nodes_(1), slots_(1 << 10) {}

std::size_t StackFlames::slot_of(std::uint32_t parent, std::uint32_t name) const {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15; // 2^64 / golden ratio
    std::size_t slot = ((std::uint64_t{parent} << 32 | name) * odd >> 32) & (slots_.size() - 1);
    while (slots_[slot] != 0 && (nodes_[slots_[slot]].parent != parent || nodes_[slots_[slot]].name != name))
        slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

void StackFlames::grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (std::uint32_t node = 1; node < nodes_.size(); ++node)
        slots_[slot_of(nodes_[node].parent, nodes_[node].name)] = node;
}

std::uint32_t StackFlames::callee(std::uint32_t parent, const StackFrame &frame) {
    if (4 * nodes_.size() > 3 * slots_.size())
        grow();
    const std::size_t slot = slot_of(parent, frame.name);
    if (slots_[slot] == 0) {
        const auto node = static_cast<std::uint32_t>(nodes_.size());
        Node made;
        made.name = frame.name;
        made.parent = parent;
        made.next = std::exchange(nodes_[parent].first_callee, node);
        made.depth = nodes_[parent].depth + 1;
        made.in_user = frame.space == CodeSpace::user;
        nodes_.push_back(made);
        slots_[slot] = node;
    }
    return slots_[slot];
}

/// Makes a node of the next frame of a stack that had the node for itself.
void StackFlames::unfold(std::uint32_t node) {
    const std::uint32_t stack = std::exchange(nodes_[node].stack, none);
    frames_of_(stack, others_);
    const std::size_t depth = nodes_[node].depth;
    if (depth == others_.size())
        return; // it ends here
    const std::uint32_t next = callee(node, others_[depth]);
    nodes_[next].samples = nodes_[node].samples;
    nodes_[next].stack = stack;
}

void StackFlames::add(std::uint32_t stack, std::uint64_t samples) {
    frames_of_(stack, frames_);
    depth_ = std::max(depth_, frames_.size());
    std::uint32_t node = 0;
    for (const StackFrame &frame : frames_) {
        nodes_[node].samples += samples;
        const std::size_t before = nodes_.size();
        node = callee(node, frame);
        if (nodes_.size() != before) {
            nodes_[node].samples = samples;
            nodes_[node].stack = stack;
            return;
        }
        if (nodes_[node].stack != none)
            unfold(node);
    }
    nodes_[node].samples += samples;
}

void StackFlames::build(CallNode &into, const Node &from, const CallerNames &names, std::vector<StackFrame> &room) const {
    if (FlameGraph::is_narrow(from.samples, nodes_.front().samples)) {
        into.self = from.samples;
        return;
    }
    if (from.stack != none) {
        frames_of_(from.stack, room);
        CallNode *node = &into;
        for (std::size_t i = from.depth; i < room.size(); ++i)
            node = &callee_of(*node, names.text(room[i].name), room[i].space == CodeSpace::user);
        node->self = from.samples;
        return;
    }
    into.self = from.samples;
    for (std::uint32_t callee = from.first_callee; callee != 0; callee = nodes_[callee].next) {
        const Node &node = nodes_[callee];
        into.self -= node.samples;
        build(callee_of(into, names.text(node.name), node.in_user), node, names, room);
    }
}

void StackFlames::build(CallNode &root, const CallerNames &names) const {
    std::vector<StackFrame> room;
    build(root, nodes_.front(), names, room);
}

} // namespace argtrace
