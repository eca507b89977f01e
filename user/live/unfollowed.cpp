// SPDX-License-Identifier: GPL-2.0-only
#include "live/unfollowed.h"

#include <algorithm>

#include <fmt/format.h>

#include "live/unloaded_modules.h"
#include "model/return_way.h"
#include "spec/return_refusal.h"
#include "util/error.h"
#include "util/message.h"

namespace argtrace {

void Unfollowed::take_refused(std::vector<Probe> &probes) {
    const auto first = std::stable_partition(probes.begin(), probes.end(), [](const Probe &probe) {
        return !records_returns(probe) || !return_refusal(probe.function);
    });
    for (auto probe = first; probe != probes.end(); ++probe)
        add(probe->function);
    probes.erase(first, probes.end());
    require_any(probes);
}

void Unfollowed::take(std::vector<Probe> &probes, std::size_t index) {
    const Probe &probe = probes[index];
    if (is_by_kernel(probe) && by_reason(probe) == ARGTRACE_BY_CHOICE && !return_refusal(probe.function))
        throw Error(fmt::format("{}: the kernel has no {} there: leave out --return-by", probe.function, return_way(probe)));
    add(probe.function);
    probes.erase(probes.begin() + static_cast<std::ptrdiff_t>(index));
    require_any(probes);
}

void Unfollowed::require_any(const std::vector<Probe> &probes) const {
    if (!probes.empty() || total_ == 0)
        return;
    if (total_ == 1)
        throw Error(fmt::format("{}: its return cannot be followed: it {}", names_[0].second[0], names_[0].first));
    throw Error(fmt::format("their returns cannot be followed: {}", describe()));
}

void Unfollowed::tell() const {
    if (total_ == 1)
        message("1 function is left out, as its return cannot be followed: {}", describe());
    else if (total_ > 1)
        message("{} functions are left out, as their returns cannot be followed: {}", total_, describe());
}

void Unfollowed::add(const std::string &function) {
    const std::string why(return_refusal(function).value_or("is one that the kernel lets nobody follow"));
    auto found = std::find_if(names_.begin(), names_.end(), [&why](const auto &names) { return names.first == why; });
    if (found == names_.end())
        found = names_.insert(names_.end(), {why, {}});
    found->second.push_back(function);
    total_++;
}

std::string Unfollowed::describe() const {
    std::string text;
    for (const auto &[why, functions] : names_)
        text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", list_names(functions), why);
    return text;
}

} // namespace argtrace
