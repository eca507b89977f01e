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

const std::vector<std::string> &StackTree::functions(std::uint64_t id) {
    const auto found = stacks_.find(id);
    if (found != stacks_.end())
        return found->second;
    if (stacks_.size() == stacks_max)
        stacks_.clear();
    std::vector<std::string> functions = stack_functions(names_, id);
    for (std::string &function : functions)
        function = frame_name(std::move(function));
    return stacks_.emplace(id, std::move(functions)).first->second;
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
    const auto index = stack_index(*event.probe);
    if (!index || !view.values[*index].captured) {
        ++without_stack_;
        return;
    }
    const bool is_tick = !kind_of(*event.probe).is_call;
    if (is_tick && view.values[*index].low == ARGTRACE_STACK_ID_IDLE) {
        ++idle_;
        return;
    }
    ++calls_;
    ticks_ += is_tick;
    CallNode *node = &nodes_.child(root_, task_frame(event));
    for (const std::string &function : functions(view.values[*index].low)) {
        node = &nodes_.child(*node, function);
        node->in_module = is_of_module(function);
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
