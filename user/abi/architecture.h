// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "abi/calling_convention.h"

namespace argtrace {

/// How a kernel takes system calls, of its own word size or of programs of another.
struct SyscallAbi {
    std::string_view name;               ///< by which a SPEC asks for it; empty: the kernel's own
    std::string_view prefix;             ///< of its functions: "__x64_sys_"
    std::string_view compat_prefix = {}; ///< of those whose arguments are other than the kernel's own; empty: there are none
    std::string_view option = {};        ///< without which a kernel does not take them: "CONFIG_IA32_EMULATION"
    const CallingConvention *convention;
};

/// What the tool has to know of a kind of machine.
struct Architecture {
    std::string_view machine;                      ///< uname -m
    std::string_view name;                         ///< as it is written in sentences
    bool is_traced = false;                        ///< the module is there for its kernels
    std::uint16_t elf_machine;                     ///< EM_*
    std::span<const std::string_view> call_sections; ///< of a module's file: where ftrace patches; the first that it has
    std::uint64_t call_before = 0;                 ///< how far before a function that may begin, in bytes; otherwise it is within the function
    const CallingConvention *functions;
    const CallingConvention *user_functions; ///< those of programs
    std::span<const SyscallAbi> syscalls;          ///< the kernel's own first
    std::uint64_t (*counter)() = nullptr;          ///< what ARGTRACE_CLOCK_TSC reads; null: there is none, or not on the machine we run on
};

std::span<const Architecture> all_architectures();

/// That of a machine, which is what `uname -m` prints; null if it is not known.
const Architecture *find_architecture(std::string_view machine);

/// The same; throws Error.
const Architecture &architecture(std::string_view machine);

/// The one that we run on.
const Architecture &native_architecture();

} // namespace argtrace
