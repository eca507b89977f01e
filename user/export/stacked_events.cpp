// SPDX-License-Identifier: GPL-2.0-only
#include "export/stacked_events.h"

#include <fmt/format.h>

#include "model/probe.h"
#include "model/unfinished.h"
#include "util/error.h"

namespace argtrace {

std::optional<StackValues> StackedEvents::take(const EventView &view) {
    const Event &event = *view.event;
    if (is_unfinished(event)) {
        ++unfinished_;
        return std::nullopt;
    }
    const StackValues stacks = StackValues::of(view, stack_places(*event.probe));
    const auto is_there = [](const Value *stack) { return stack && stack->captured; };
    if (!is_there(stacks.kernel) && !is_there(stacks.user)) {
        ++without_stack_;
        return std::nullopt;
    }
    const bool is_tick = !kind_of(*event.probe).is_call;
    if (is_tick && is_there(stacks.kernel) && stacks.kernel->low == ARGTRACE_STACK_ID_IDLE) {
        ++idle_;
        return std::nullopt;
    }
    ++calls_;
    ticks_ += is_tick;
    return stacks;
}

void StackedEvents::check() const {
    if (calls_ == 0 && without_stack_ > 0)
        throw Error("none of these calls has a stack: `argtrace record --stack` takes them; of calls with a duration, --by duration "
                    "shows which lay within which");
}

std::string StackedEvents::left_out() const {
    std::string text;
    if (without_stack_ > 0)
        text = fmt::format("{} calls without a stack are not in it", without_stack_);
    if (idle_ > 0)
        text += fmt::format("{}{} ticks of idle CPUs are not in it", text.empty() ? "" : ", ", idle_);
    if (unfinished_ > 0)
        text += fmt::format("{}{} calls that had not returned are not in it", text.empty() ? "" : ", ", unfinished_);
    return text;
}

} // namespace argtrace
