// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/sched_events.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "model/probe_kind.h"

namespace argtrace {

namespace {

// The values of each tracepoint as they are written in a SPEC, by which records have them.
constexpr std::string_view change_values[]{"preempt", "prev_state", "prev->__state", "next->pid",
                                           "next->tgid"};
constexpr std::string_view task_values[]{"p->pid", "p->tgid"};
constexpr std::string_view new_values[]{"p->pid", "p->tgid", "p->comm"};
constexpr std::string_view fork_values[]{"child->pid", "child->tgid"};

struct Tracepoint {
    std::string_view name;
    SchedKind kind;
    std::span<const std::string_view> values;
};

constexpr Tracepoint tracepoints[]{
    {"sched_switch", SchedKind::change, change_values},   {"sched_waking", SchedKind::waking, task_values},
    {"sched_wakeup", SchedKind::wakeup, task_values},     {"sched_wakeup_new", SchedKind::wakeup_new, new_values},
    {"sched_process_fork", SchedKind::fork, fork_values},
};

/// Which of them a probe is of, or null.
const Tracepoint *tracepoint_of(const Probe &probe) {
    if (kind_of(probe) != tracepoint_kind)
        return nullptr;
    const Title title = split_title(probe.function);
    const auto found = std::find_if(std::begin(tracepoints), std::end(tracepoints),
                                    [&title](const Tracepoint &one) { return one.name == title.name; });
    return found == std::end(tracepoints) ? nullptr : found;
}

/// Where its values are; nothing if one is missing.
std::optional<std::vector<std::size_t>> value_places(const Probe &probe, const Tracepoint &tracepoint) {
    std::vector<std::size_t> places;
    for (const std::string_view value : tracepoint.values) {
        const auto found = std::find_if(probe.args.begin(), probe.args.end(),
                                        [value](const Argument &argument) { return argument.name == value; });
        if (found == probe.args.end())
            return std::nullopt;
        places.push_back(static_cast<std::size_t>(found - probe.args.begin()));
    }
    return places;
}

// A condition with more of them is slower than to sort it out here.
constexpr std::size_t pids_in_condition = 8;

std::string spec_of(std::string_view name, std::span<const std::string_view> values, StackChoice stack,
                    const std::string &condition) {
    return fmt::format("t:sched:{}({}{}{}){}", name, fmt::join(values, ", "), stack.kernel ? ", stack" : "", stack.user ? ", ustack" : "",
                       condition.empty() ? "" : " if " + condition);
}

std::string condition_of(const std::vector<std::uint32_t> &pids, std::initializer_list<std::string_view> fields) {
    std::vector<std::string> terms;
    if (pids.size() <= pids_in_condition)
        for (const std::uint32_t pid : pids)
            for (const std::string_view field : fields)
                terms.push_back(fmt::format("{} == {}", field, pid));
    return fmt::format("{}", fmt::join(terms, " || "));
}

/// The task that is running.
Task current_task(const Event &event) {
    return {event.tid, event.tgid, event.comm};
}

} // namespace

std::vector<std::string> SchedSpecs::text() const {
    const std::string of_task = condition_of(pids, {"p->tgid"});
    std::vector<std::string> specs{
        spec_of("sched_switch", change_values, {stacks, user_stacks}, condition_of(pids, {"prev->tgid", "next->tgid"})),
        spec_of("sched_waking", task_values, {wakers, false}, of_task),
        spec_of("sched_wakeup", task_values, {}, of_task),
        spec_of("sched_wakeup_new", new_values, {wakers, false}, of_task),
    };
    if (forks)
        specs.push_back(spec_of("sched_process_fork", fork_values, {}, ""));
    return specs;
}

std::string SchedSpecs::missing_in(const std::vector<const Probe *> &probes) const {
    for (const Tracepoint &tracepoint : tracepoints) {
        if (tracepoint.kind == SchedKind::fork && !forks)
            continue;
        const bool stack = (tracepoint.kind == SchedKind::change && stacks) ||
                           ((tracepoint.kind == SchedKind::waking || tracepoint.kind == SchedKind::wakeup_new) && wakers);
        const bool user_stack = tracepoint.kind == SchedKind::change && user_stacks;
        const bool there = std::any_of(probes.begin(), probes.end(), [&](const Probe *probe) {
            return tracepoint_of(*probe) == &tracepoint && value_places(*probe, tracepoint) &&
                   (!stack || stack_places(*probe).kernel) && (!user_stack || stack_places(*probe).user);
        });
        if (!there)
            return fmt::format("t:sched:{}{}", tracepoint.name, user_stack ? " with the stack of user code" : stack ? " with the stack" : "");
    }
    return "";
}

const SchedEvents::Places &SchedEvents::places_of(const Probe &probe) {
    const auto known = known_.find(&probe);
    if (known != known_.end())
        return known->second;
    Places places;
    const Tracepoint *tracepoint = tracepoint_of(probe);
    if (auto values = tracepoint ? value_places(probe, *tracepoint) : std::nullopt) {
        places.kind = tracepoint->kind;
        places.values = std::move(*values);
    }
    places.stacks = stack_places(probe);
    return known_.emplace(&probe, std::move(places)).first->second;
}

bool SchedEvents::take(const EventView &view) {
    const Event &event = *view.event;
    const Places &places = places_of(*event.probe);
    if (places.kind == SchedKind::none)
        return false;
    for (const std::size_t at : places.values)
        if (!view.values[at].captured)
            return false;
    const auto number = [&](std::size_t which) { return view.values[places.values[which]].low; };
    const auto id = [&](std::size_t which) { return static_cast<std::uint32_t>(number(which)); };
    const auto stack_at = [&view](std::optional<std::size_t> place) {
        return place && view.values[*place].captured ? view.values[*place].low : 0;
    };
    const std::uint64_t stack = stack_at(places.stacks.kernel);
    switch (places.kind) {
    case SchedKind::change: {
        // A task that is to block while a signal is pending does not, and its state is then 0 again: Linux before 6.14 says in
        // prev_state what it was. One that has been preempted on its way to block goes on later.
        const bool runnable = number(0) != 0 || number(1) == 0 || number(2) == 0;
        tracker_.switched({event.ts, event.cpu, current_task(event), number(1), runnable, stack, id(3), id(4), stack_at(places.stacks.user)});
        return true;
    }
    case SchedKind::waking:
        tracker_.waking(event.ts, id(0), id(1), {current_task(event), stack, event.context});
        return true;
    case SchedKind::wakeup:
        tracker_.woken(id(0), id(1));
        return true;
    case SchedKind::wakeup_new: {
        Task task{id(0), id(1)};
        const auto name = view.bytes_of(view.values[places.values[2]]);
        const auto length = std::min(name.size(), task.comm.size());
        std::transform(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(length), task.comm.begin(),
                       [](std::byte one) { return static_cast<char>(one); });
        tracker_.begun(event.ts, event.cpu, task, {current_task(event), stack, event.context});
        return true;
    }
    case SchedKind::fork:
        tracker_.forked(event.tgid, id(0), id(1));
        return true;
    case SchedKind::none:
        break;
    }
    return false;
}

} // namespace argtrace
