// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_counts.h"

#include <set>

namespace argtrace {

void add_samples(FunctionCounts &functions, const std::vector<std::string> &stack, std::uint64_t count) {
    functions[stack.back()].self += count;
    // Where it is recursive it counts once.
    for (const std::string &function : std::set(stack.begin(), stack.end()))
        functions[function].total += count;
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace argtrace
