// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace argtrace {

/// What a function has of the samples, which are calls or ticks.
struct FunctionCount {
    std::uint64_t self = 0;  ///< it was the innermost one
    std::uint64_t total = 0; ///< it was on the stack
};

using FunctionCounts = std::map<std::string, FunctionCount>;

/// Adds `count` samples with that stack, which is not empty, outermost function first.
void add_samples(FunctionCounts &functions, const std::vector<std::string> &stack, std::uint64_t count);

/// 0 of nothing.
double percent(std::uint64_t part, std::uint64_t whole);

} // namespace argtrace
