// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/spec.h"

namespace argtrace {

/// Which system calls are wanted beside those whose arguments are known.
struct SyscallRequest {
    bool guessed = false; ///< 32-bit calls whose arguments are only known as those of the 64-bit call of their name
    bool raw = false;     ///< those whose arguments are not known: with six registers
};

struct FoundSyscalls {
    std::vector<Function> syscalls; ///< by title
    std::vector<std::string> left;  ///< sentences about what has been left out, and why
};

/// The system calls that `spec` means. Each has a function of its own, such as __x64_sys_NAME(), which is given the registers of
/// user space; the module takes the arguments from these. On x86-64 32-bit programs come by __ia32_compat_sys_NAME() or, where there is
/// none of that name, __ia32_sys_NAME(); see SyscallAbi. Their arguments' names and types are those of tracefs; where that does not describe a call, or is
/// not there at all, those of BTF, which knows calls whose bodies are functions of their own.
///
/// Throws Error, which says why, if there is none.
FoundSyscalls find_syscalls(Kernel &kernel, const Spec &spec, const SyscallRequest &request);

} // namespace argtrace
