// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/prototype.h"

namespace argtrace {

/// Where Go's rules have the values of a function that no register has room for, above its return address (cmd/compile/abi-internal.md: what it
/// takes, what it returns, and then room in which it may keep what it takes in registers).
struct GoStack {
    std::vector<std::optional<std::uint32_t>> places; ///< nothing: in registers
    bool has_gaps = false;                            ///< between those that it takes, where something may lie of which nothing is known
    std::uint32_t bytes = 0;                          ///< of all of it
};

/// `values`: what it takes, so many, and behind that what it returns, all of them known; `placed`: the same, as GoConvention::place has it.
GoStack go_stack(std::span<const GoValue> values, std::span<const GoParts> placed, std::size_t taken);

} // namespace argtrace
