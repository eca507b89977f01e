// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/prototype.h"
#include "model/probe.h"

namespace argtrace {

/// What following a function's return takes.
struct Returning {
    Argument value;                ///< what it returns: ARGTRACE_LOC_RETURN, or LOC_NONE of void
    std::uint32_t stack_words = 0; ///< that its arguments take on the stack, of 8 bytes
    std::string why_not = {};      ///< we cannot follow it: "it returns a floating-point number"
    /// Then, why the kernel can: enum argtrace_by_reason; ARGTRACE_BY_CHOICE: nor can it. `stack_words` are those of named arguments.
    std::uint32_t by_kernel = ARGTRACE_BY_CHOICE;
};

/// How a machine passes arguments to functions.
struct CallingConvention {
    std::string_view machine; ///< uname -m

    /// Where the parameters of a function are when it is entered, and what the module is to
    /// record of them: one Argument for each named parameter, in order. What cannot be recorded
    /// has ARGTRACE_LOC_NONE; the places of all others are still right. Where BTF does not say
    /// how a parameter is passed (it omits __attribute__((aligned)), for one) and the place of
    /// the following ones depends on it, they are LOC_NONE as well: no place is a guess.
    std::vector<Argument> (*arguments)(const Prototype &prototype);

    /// How a function returns, and what calling it in the caller's place takes.
    Returning (*returning)(const Prototype &prototype);

    /// Where an argument is, in the convention's words: "rdi", "rdi:rsi", "sp+8" (from the stack
    /// pointer at entry), "[x0]" for what is passed by reference; empty if it is not captured.
    std::string (*location)(const Argument &argument);

    /// The same of an argument of a system call, which the module has where that of a function is; as `ia32`, if it
    /// is made by a 32-bit program.
    std::string (*syscall_location)(const Argument &argument, bool ia32);

    /// What arguments() says, where the prototype may have hidden parameters.
    std::vector<Argument> places(const Prototype &prototype) const;
};

/// The convention of a machine, which is what `uname -m` prints; throws Error if there is none.
const CallingConvention &calling_convention(std::string_view machine);

/// That of the machine we run on.
const CallingConvention &native_calling_convention();

/// System V Application Binary Interface, AMD64 supplement, 3.2.3 (x86-64).
std::vector<Argument> sysv_x86_64(const Prototype &prototype);
std::string sysv_x86_64_location(const Argument &argument);
std::string syscall_location_x86_64(const Argument &argument, bool ia32);
Returning sysv_x86_64_returning(const Prototype &prototype);

/// Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2, as Linux uses it.
/// An aggregate by reference has LOC_REF: its address is in register `index` or, if that is
/// ref_on_stack, `offset` bytes above the stack pointer.
std::vector<Argument> aapcs64(const Prototype &prototype);
std::string aapcs64_location(const Argument &argument);
Returning aapcs64_returning(const Prototype &prototype); ///< the module does not: why_not says so

constexpr std::uint8_t ref_on_stack = 0xff;

/// The bytes that an argument, and a record of all of them with the caller's address, takes in
/// the ring in the compact encoding; where a program computes texts or buffers, at most.
std::uint32_t captured_bytes(const Argument &argument);
/// `returns`: it is made when the call returns.
std::uint32_t record_bytes(std::span<const Argument> arguments, bool returns = false);

} // namespace argtrace
