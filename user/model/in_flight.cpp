// SPDX-License-Identifier: GPL-2.0-only
#include "model/in_flight.h"

#include <algorithm>

#include <fmt/format.h>

namespace argtrace {

namespace {

constexpr std::size_t functions_shown = 8, tasks_shown = 4;

std::string and_more(std::size_t all, std::size_t shown) {
    return all > shown ? fmt::format(" and {} more", all - shown) : "";
}

std::string describe(const InFlightFunction &function) {
    std::string text = fmt::format("{} {}", function.name, function.calls);
    const std::size_t shown = std::min(function.tasks.size(), tasks_shown);
    if (shown > 0)
        text += fmt::format(" ({}{})", fmt::join(function.tasks.begin(), function.tasks.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                            and_more(function.tasks.size(), shown));
    return text;
}

} // namespace

std::string describe_in_flight(std::span<const InFlightFunction> functions) {
    std::vector<const InFlightFunction *> order;
    for (const InFlightFunction &function : functions)
        if (function.calls > 0)
            order.push_back(&function);
    std::sort(order.begin(), order.end(), [](const auto *a, const auto *b) {
        return a->calls != b->calls ? a->calls > b->calls : a->name < b->name;
    });
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < std::min(order.size(), functions_shown); ++i)
        parts.push_back(describe(*order[i]));
    return fmt::format("{}{}", fmt::join(parts, ", "), and_more(order.size(), parts.size()));
}

} // namespace argtrace
