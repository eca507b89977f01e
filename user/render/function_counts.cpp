// SPDX-License-Identifier: GPL-2.0-only
#include "render/function_counts.h"

#include <algorithm>

namespace argtrace {

FunctionCounts::Entry &FunctionCounts::entry(std::uint32_t name) {
    const std::size_t page = name / page_size;
    if (page >= pages_.size())
        pages_.resize(page + 1);
    if (!pages_[page])
        pages_[page] = std::make_unique<Page>();
    return (*pages_[page])[name % page_size];
}

void FunctionCounts::add(std::span<const StackFrame> stack, std::uint64_t count) {
    ++stacks_;
    for (const StackFrame &frame : stack) {
        Entry &function = entry(frame.name);
        // Where it is recursive it counts once.
        if (function.last_stack == stacks_)
            continue;
        function.last_stack = stacks_;
        function.count.total += count;
    }
    entry(stack.back().name).count.self += count;
}

std::vector<FunctionCounts::Named> FunctionCounts::by_name(const CallerNames &names) const {
    std::vector<Named> functions;
    for (std::size_t page = 0; page < pages_.size(); ++page)
        for (std::size_t i = 0; pages_[page] && i < page_size; ++i)
            if (const Entry &entry = (*pages_[page])[i]; entry.last_stack != 0)
                functions.emplace_back(names.text(static_cast<std::uint32_t>(page * page_size + i)), entry.count);
    std::sort(functions.begin(), functions.end(), [](const Named &a, const Named &b) { return a.first < b.first; });
    return functions;
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}

} // namespace argtrace
