// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/prototype.h"
#include "model/probe.h"

namespace argtrace {

/// Where the parameters of a function lie when it is entered, and what the module is to
/// record of them: one Argument for each named parameter, in order. What cannot be recorded
/// has ARGTRACE_LOC_NONE; the places of all others are right all the same. Where BTF leaves
/// open how a parameter is passed (it does not tell of __attribute__((aligned)), for one) and
/// the place of what follows hangs on it, the rest is LOC_NONE, too: no place is a guess.
using CallingConvention = std::vector<Argument>(const Prototype &prototype);

/// System V Application Binary Interface, AMD64 supplement, 3.2.3 (x86-64).
CallingConvention sysv_x86_64;

/// Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2, as Linux uses it.
/// An aggregate by reference has LOC_REF: its address is in register `index` or, if that is
/// REF_ON_STACK, `offset` bytes above the stack pointer.
CallingConvention aapcs64;

constexpr std::uint8_t REF_ON_STACK = 0xff;

/// Where an argument lies, in that convention's words: "rdi", "rdi:rsi", "sp+8" (of the stack
/// pointer at entry), "[x0]" for what is passed by reference; empty if it is not captured.
std::string sysv_x86_64_location(const Argument &argument);
std::string aapcs64_location(const Argument &argument);

/// What an argument, and a record of all of them with the caller's address, takes in the ring
/// in the compact encoding.
std::uint32_t captured_bytes(const Argument &argument);
std::uint32_t record_bytes(std::span<const Argument> arguments);

} // namespace argtrace
