// SPDX-License-Identifier: GPL-2.0-only
#include "render/unread_values.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "model/probe_kind.h"
#include "render/json.h"

namespace argtrace {

void UnreadValues::add(const EventView &view) {
    const Probe &probe = *view.event->probe;
    ++events_[&probe];
    for (std::size_t i = 0; i < probe.args.size(); ++i)
        if (is_unread(probe.args[i], view.values[i]))
            ++counts_[{&probe, i}];
}

// Functions of one name are told as one.
std::map<UnreadValues::Place, std::uint64_t> UnreadValues::by_name() const {
    std::map<Place, std::uint64_t> sums;
    for (const auto &[place, count] : counts_)
        sums[{place.first->function, place.first->args[place.second].name}] += count;
    return sums;
}

std::string UnreadValues::describe() const {
    constexpr std::size_t told_max = 3;
    const auto sums = by_name();
    std::vector<std::pair<Place, std::uint64_t>> places(sums.begin(), sums.end());
    std::stable_sort(places.begin(), places.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    std::string text;
    for (std::size_t i = 0; i < std::min(places.size(), told_max); ++i)
        fmt::format_to(std::back_inserter(text), "{}{} of {} in {}", i > 0 ? ", " : "", places[i].second, places[i].first.second,
                       places[i].first.first);
    const std::uint64_t rest = places.size() <= told_max
                                   ? 0
                                   : std::accumulate(places.begin() + told_max, places.end(), std::uint64_t{0},
                                                     [](std::uint64_t sum, const auto &place) { return sum + place.second; });
    return rest > 0 ? fmt::format("{} and {} of others", text, rest) : text;
}

std::string UnreadValues::hint(std::span<const argtrace_counts> counts) const {
    for (const auto &[place, unread] : counts_) {
        const auto &[probe, argument] = place;
        const std::string &name = probe->args[argument].name;
        const auto of_probe = std::find_if(counts.begin(), counts.end(), [id = probe->id](const auto &one) { return one.id == id; });
        // Each call has met a fault, and of those that were shown each has met this one.
        const bool in_no_call = of_probe != counts.end() && of_probe->records > 0 && of_probe->faults >= of_probe->records &&
                                unread == events_.at(probe);
        if (in_no_call && kind_of(*probe) == user_kind)
            return fmt::format("{} could be read in no call of {}: a pointer in it leads nowhere, or there are not so many elements", name, probe->function);
        if (in_no_call && name.find_first_of("*[>") != name.npos)
            return fmt::format("{} could be read in no call of {}: if a pointer in it is a per-cpu pointer, write this_cpu(POINTER) or "
                               "per_cpu(POINTER, CPU) for it, and if it is one of the process's, user(POINTER)",
                               name, probe->function);
    }
    return "";
}

void UnreadValues::append_json(std::string &out) const {
    const std::string *function = nullptr;
    out += '{';
    const auto sums = by_name();
    for (const auto &[place, count] : sums) {
        const bool same = function && *function == place.first;
        if (!same) {
            out += function ? "}," : "";
            append_json_string(out, place.first);
            out += ":{";
            function = &place.first;
        } else {
            out += ',';
        }
        append_json_string(out, place.second);
        fmt::format_to(std::back_inserter(out), ":{}", count);
    }
    out += function ? "}}" : "}";
}

} // namespace argtrace
