// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace argtrace {

/// The number by which the module knows a stack of these words: as argtrace_stack_hash() (kmod/arch/x86/walk.h).
inline std::uint64_t stack_number(std::span<const std::uint64_t> words, bool cut) {
    std::uint64_t hash = 0;
    const auto add = [&hash](std::uint64_t word) { hash = (std::rotl(hash, 23) ^ word) * 0x9e3779b97f4a7c15; };
    for (const std::uint64_t word : words)
        add(word);
    if (cut)
        add(1);
    return hash != 0 ? hash : 1;
}

} // namespace argtrace
