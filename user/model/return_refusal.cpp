// SPDX-License-Identifier: GPL-2.0-only
#include "model/return_refusal.h"

#include <algorithm>
#include <array>
#include <utility>

// The module's own list.
#include "../../kmod/source/returns/refused.h"

namespace argtrace {

namespace {

using Refused = std::pair<std::string_view, std::string_view>;

#define REFUSED(function, why) Refused{#function, why},
constexpr auto refused_returns = std::to_array<Refused>({ARGTRACE_RETURN_REFUSED(REFUSED)});
#undef REFUSED

} // namespace

std::optional<std::string_view> return_refusal(std::string_view function) {
    const auto found = std::lower_bound(refused_returns.begin(), refused_returns.end(), function,
                                        [](const Refused &refused, std::string_view name) { return refused.first < name; });
    if (found == refused_returns.end() || found->first != function)
        return std::nullopt;
    return found->second;
}

} // namespace argtrace
