// SPDX-License-Identifier: GPL-2.0-only
// What kmod/sink/encode.h finds in the kernel, as far as it is the same for all tests that compile it: they
// include this, define the functions that encode.h asks for, then include it.
#pragma once

#include <cstdint>
#include <cstring>

// kmod/arch/x86/regs.h
#define ARGTRACE_REG_COUNT 6
#define ARGTRACE_FIRST_STACK_WORD 8

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

inline u64 argtrace_read_stack(const u8 *at) {
    u64 word;
    std::memcpy(&word, at, sizeof(word));
    return word;
}
