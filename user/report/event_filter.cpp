// SPDX-License-Identifier: GPL-2.0-only
#include "report/event_filter.h"

#include <algorithm>
#include <unordered_map>

#include "util/glob.h"

namespace argtrace {

namespace {

bool has(const std::vector<std::uint32_t> &list, std::uint32_t number) {
    return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

bool any_matches(const std::vector<Spec> &specs, const std::string &name) {
    return std::any_of(specs.begin(), specs.end(),
                       [&name](const Spec &spec) { return spec.matches_title(name); });
}

} // namespace

bool EventFilter::wants_all() const {
    return from == 0 && to == std::numeric_limits<std::uint64_t>::max() && functions.empty() &&
           excluded.empty() && tids.empty() && pids.empty() && comms.empty() && cpus.empty();
}

bool EventFilter::wants_cpu(std::uint32_t cpu) const {
    return cpus.empty() || std::any_of(cpus.begin(), cpus.end(), [cpu](const auto &range) {
               return cpu >= range.first && cpu <= range.second;
           });
}

bool EventFilter::wants_function(const std::string &name) const {
    return (functions.empty() || any_matches(functions, name)) && !any_matches(excluded, name);
}

bool EventFilter::wants_task(const Event &event) const {
    if (!has(tids, event.tid) || !has(pids, event.tgid))
        return false;
    return comms.empty() || std::any_of(comms.begin(), comms.end(), [&event](const auto &glob) {
               return glob_matches(glob, event.comm_view());
           });
}

void EventFilter::apply(EventBatch &batch) const {
    if (wants_all())
        return;
    const bool by_function = !functions.empty() || !excluded.empty();
    std::unordered_map<const Probe *, bool> wanted;
    const auto wants = [&](const Event &event) {
        if (event.ts < from || event.ts > to || !wants_task(event))
            return false;
        if (!by_function)
            return true;
        const auto [known, added] = wanted.try_emplace(event.probe);
        if (added)
            known->second = wants_function(event.probe->function);
        return known->second;
    };
    std::erase_if(batch.events, [&](const Event &event) { return !wants(event); });
}

} // namespace argtrace
