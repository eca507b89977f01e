// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "render/caller.h"
#include "render/stack.h"

namespace argtrace {

/// What a function has of the samples, which are calls or ticks.
struct FunctionCount {
    std::uint64_t self = 0;  ///< it was the innermost one
    std::uint64_t total = 0; ///< it was on the stack
};

/// That of each function, by the numbers of their names.
class FunctionCounts {
public:
    /// Adds `count` samples with that stack, which is not empty, outermost function first.
    void add(std::span<const StackFrame> stack, std::uint64_t count);

    using Named = std::pair<std::string_view, FunctionCount>;
    /// Those that were on a stack, by name.
    std::vector<Named> by_name(const CallerNames &names) const;

private:
    struct Entry {
        FunctionCount count;
        std::uint64_t last_stack = 0; ///< on which it was
    };
    // There may be many such objects, and each has few of all functions.
    static constexpr std::size_t page_size = 64;
    using Page = std::array<Entry, page_size>;

    Entry &entry(std::uint32_t name);

    std::vector<std::unique_ptr<Page>> pages_;
    std::uint64_t stacks_ = 0;
};

/// 0 of nothing.
double percent(std::uint64_t part, std::uint64_t whole);

} // namespace argtrace
