// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/user_registers.h"
#include "btf/prototype.h"
#include "model/dwarf_registers.h"
#include "model/probe.h"

namespace argtrace {

/// What following a function's return takes.
struct Returning {
    Argument value;                ///< what it returns: ARGTRACE_LOC_RETURN, or LOC_NONE of void
    /// A struct that user code returns in registers; where `value` has no place, a program has to read it.
    std::optional<UserOperand> operand = {};
    bool is_unread = false; ///< it returns something of which `value` has no place, and neither is there an operand
    std::uint32_t stack_words = 0; ///< that its arguments take on the stack, of 8 bytes
    bool is_address = false;       ///< `value` is the address of what it returns, which is in memory
    bool in_memory = false;        ///< then, the address is passed in a register of its own
    std::string why_not = {};      ///< we cannot follow it: "it returns a floating-point number"
    /// Then, why the kernel can: enum argtrace_by_reason; ARGTRACE_BY_CHOICE: nor can it. `stack_words` are those of named arguments.
    std::uint32_t by_kernel = ARGTRACE_BY_CHOICE;
};

/// How functions of one kind take their arguments.
struct CallingConvention {
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

    std::uint8_t registers; ///< that pass arguments

    bool uses_stack = true; ///< false: whatever the arguments are, none is on the stack

    /// What arguments() does not place, or places in memory, where a program can read it: user code's stack, what a register of it has the
    /// address of, and its registers for floating-point numbers. One for each named parameter, in order. Null: the module itself reads what is on the stack.
    std::vector<std::optional<UserOperand>> (*program_operands)(const Prototype &prototype) = nullptr;
    const DwarfRegisters *dwarf_registers = nullptr; ///< of user code
    std::string_view result_address = {};            ///< the register that has it (Returning::in_memory)

    /// What arguments() says, where the prototype may have hidden parameters, and parameters whose places it knows.
    std::vector<Argument> places(const Prototype &prototype) const;

    /// The same of what a program has to read: nothing for a parameter that has a place, or of which nothing is known.
    std::vector<std::optional<UserOperand>> operands(const Prototype &prototype) const;
};

/// System V Application Binary Interface, AMD64 supplement, 3.2.3 (x86-64).
std::vector<Argument> sysv_x86_64(const Prototype &prototype);
std::string sysv_x86_64_location(const Argument &argument);
Returning sysv_x86_64_returning(const Prototype &prototype);
std::vector<std::optional<UserOperand>> sysv_x86_64_operands(const Prototype &prototype);
inline constexpr std::uint8_t dwarf_arguments_x86_64[] = {5, 4, 1, 2, 8, 9}; // figure 3.36
inline constexpr DwarfRegisters dwarf_registers_x86_64{dwarf_arguments_x86_64, 17, 16, 8};
inline constexpr CallingConvention functions_x86_64{sysv_x86_64, sysv_x86_64_returning, sysv_x86_64_location, 6};
inline constexpr CallingConvention user_functions_x86_64{sysv_x86_64,          sysv_x86_64_returning, sysv_x86_64_location, 6, true,
                                                         sysv_x86_64_operands, &dwarf_registers_x86_64};

/// The module presents the arguments of a system call where those of a function are; `location` says where the program has put them.
std::string syscall_location_x86_64(const Argument &argument);
std::string syscall_location_ia32(const Argument &argument);
inline constexpr CallingConvention native_syscalls_x86_64{sysv_x86_64, sysv_x86_64_returning, syscall_location_x86_64, 6, false};
inline constexpr CallingConvention ia32_syscalls_x86_64{sysv_x86_64, sysv_x86_64_returning, syscall_location_ia32, 6, false};

/// Procedure Call Standard for the Arm 64-bit Architecture, 6.8.2, as Linux uses it.
/// An aggregate by reference has LOC_REF: its address is in register `index` or, if that is
/// ref_on_stack, `offset` bytes above the stack pointer.
std::vector<Argument> aapcs64(const Prototype &prototype);
std::string aapcs64_location(const Argument &argument);
Returning aapcs64_returning(const Prototype &prototype);
std::vector<std::optional<UserOperand>> aapcs64_operands(const Prototype &prototype);
inline constexpr std::uint8_t dwarf_arguments_aapcs64[] = {0, 1, 2, 3, 4, 5, 6, 7}; // AADWARF64, 4.1
inline constexpr DwarfRegisters dwarf_registers_aapcs64{dwarf_arguments_aapcs64, 64, 32, 0};
inline constexpr CallingConvention functions_aapcs64{aapcs64, aapcs64_returning, aapcs64_location, 8, true, nullptr, nullptr, "x8"};
inline constexpr CallingConvention user_functions_aapcs64{aapcs64,          aapcs64_returning, aapcs64_location, 8, true,
                                                          aapcs64_operands, &dwarf_registers_aapcs64, "x8"};
inline constexpr CallingConvention syscalls_aapcs64{aapcs64, aapcs64_returning, aapcs64_location, 8, false};

constexpr std::uint8_t ref_on_stack = 0xff;

/// The bytes that an argument, and a record of all of them with the caller's address, takes in
/// the ring in the compact encoding; where a program computes texts or buffers, at most.
std::uint32_t captured_bytes(const Argument &argument);
/// `returns`: it is made when the call returns.
std::uint32_t record_bytes(std::span<const Argument> arguments, bool returns = false);

} // namespace argtrace
