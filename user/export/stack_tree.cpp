// SPDX-License-Identifier: GPL-2.0-only
#include "export/stack_tree.h"

#include <fmt/format.h>

#include "model/probe.h"
#include "model/unfinished.h"
#include "render/stack.h"
#include "util/error.h"

namespace argtrace {

namespace {

constexpr std::size_t stacks_max = 1 << 16; // that are kept as names

} // namespace

const std::vector<StackFrame> &StackTree::frames(const StackValues &stacks) {
    const auto id_of = [](const Value *stack) { return stack && stack->captured ? stack->low : 0; };
    const Ids ids{id_of(stacks.kernel), id_of(stacks.user)};
    const auto found = stacks_.find(ids);
    if (found != stacks_.end())
        return found->second;
    if (stacks_.size() == stacks_max)
        stacks_.clear();
    std::vector<StackFrame> frames = stack_frames(names_, stacks);
    for (StackFrame &frame : frames)
        frame.name = frame_name(std::move(frame.name));
    return stacks_.emplace(ids, std::move(frames)).first->second;
}

const std::string &StackTree::top_frame(const Probe &probe) {
    const auto [known, added] = tops_.try_emplace(&probe);
    if (added)
        known->second = frame_name(function_frame(probe.function, names_.module(code_place(probe))));
    return known->second;
}

void StackTree::add(const EventView &view) {
    const Event &event = *view.event;
    if (is_unfinished(event)) {
        ++unfinished_;
        return;
    }
    const StackValues stacks = StackValues::of(view, stack_places(*event.probe));
    const auto is_there = [](const Value *stack) { return stack && stack->captured; };
    if (!is_there(stacks.kernel) && !is_there(stacks.user)) {
        ++without_stack_;
        return;
    }
    const bool is_tick = !kind_of(*event.probe).is_call;
    if (is_tick && is_there(stacks.kernel) && stacks.kernel->low == ARGTRACE_STACK_ID_IDLE) {
        ++idle_;
        return;
    }
    ++calls_;
    ticks_ += is_tick;
    CallNode *node = &nodes_.child(root_, task_frame(event));
    for (const StackFrame &frame : frames(stacks)) {
        node = &nodes_.child(*node, frame.name);
        node->in_user = frame.space == CodeSpace::user;
        node->in_module = !node->in_user && is_of_module(frame.name);
    }
    if (!is_tick) {
        const std::string &top = top_frame(*event.probe);
        node = &nodes_.child(*node, top);
        node->in_module = is_of_module(top);
    }
    ++node->self;
    ++node->calls;
}

const CallNode &StackTree::finish() {
    if (calls_ == 0 && without_stack_ > 0)
        throw Error("none of these calls has a stack: `argtrace record --stack` takes them; of calls with a duration, --by duration "
                    "shows which lay within which");
    return root_;
}

std::string StackTree::left_out() const {
    std::string text;
    if (without_stack_ > 0)
        text = fmt::format("{} calls without a stack are not in it", without_stack_);
    if (idle_ > 0)
        text += fmt::format("{}{} ticks of idle CPUs are not in it", text.empty() ? "" : ", ", idle_);
    if (unfinished_ > 0)
        text += fmt::format("{}{} calls that had not returned are not in it", text.empty() ? "" : ", ", unfinished_);
    if (nodes_.merged() > 0)
        text += fmt::format("{}{} calls are counted for their callers, as there were too many different stacks",
                            text.empty() ? "" : ", ", nodes_.merged());
    return text;
}

} // namespace argtrace
