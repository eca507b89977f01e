// SPDX-License-Identifier: GPL-2.0-only
#include "export/stack_tree.h"

#include <fmt/format.h>

#include "model/probe.h"
#include "render/stack.h"

namespace argtrace {

namespace {

constexpr std::size_t stacks_max = 1 << 16; // that are kept as names

} // namespace

const std::vector<StackTree::Frame> &StackTree::frames(const StackValues &stacks) {
    const Ids ids{stack_number(stacks.kernel), stack_number(stacks.user)};
    const auto found = stacks_.find(ids);
    if (found != stacks_.end())
        return found->second;
    if (stacks_.size() == stacks_max)
        stacks_.clear();
    std::vector<Frame> frames;
    for (const StackFrame &frame : stack_frames(names_, stacks))
        frames.push_back({frame_name(names_.text(frame.name)), frame.space});
    return stacks_.emplace(ids, std::move(frames)).first->second;
}

const std::string &StackTree::top_frame(const Probe &probe) {
    const auto [known, added] = tops_.try_emplace(&probe);
    if (added)
        known->second = frame_name(function_frame(probe.function, names_.module(code_place(probe))));
    return known->second;
}

void StackTree::add(const EventView &view) {
    const auto stacks = events_.take(view);
    if (!stacks)
        return;
    const Event &event = *view.event;
    CallNode *node = &nodes_.child(root_, task_frame(event));
    for (const Frame &frame : frames(*stacks)) {
        node = &nodes_.child(*node, frame.name);
        node->in_user = frame.space == CodeSpace::user;
        node->in_module = !node->in_user && is_of_module(frame.name);
    }
    if (kind_of(*event.probe).is_call) {
        const std::string &top = top_frame(*event.probe);
        node = &nodes_.child(*node, top);
        node->in_module = is_of_module(top);
    }
    ++node->self;
    ++node->calls;
}

const CallNode &StackTree::finish() {
    events_.check();
    return root_;
}

std::string StackTree::left_out() const {
    std::string text = events_.left_out();
    if (nodes_.merged() > 0)
        text += fmt::format("{}{} calls are counted for their callers, as there were too many different stacks",
                            text.empty() ? "" : ", ", nodes_.merged());
    return text;
}

} // namespace argtrace
