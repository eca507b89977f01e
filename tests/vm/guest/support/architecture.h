// SPDX-License-Identifier: GPL-2.0-only
// In what the kernels of x86-64 and arm64 differ, as far as tests see it: docs/arm64.md.
#pragma once

#include "uapi/argtrace_user.h"

/// What the functions of system calls are called, a literal to put before others.
#ifdef __aarch64__
#define SYSCALL_PREFIX "__arm64_sys_"
#else
#define SYSCALL_PREFIX "__x64_sys_"
#endif

namespace vmtest {

#ifdef __aarch64__
inline constexpr bool is_arm64 = true;
#else
inline constexpr bool is_arm64 = false;
#endif

/// How many arguments are passed in registers, by AAPCS64 and by the System V ABI.
inline constexpr unsigned argument_registers = is_arm64 ? 8 : 6;

/// How many bytes above the stack pointer the others begin: x86-64 has the return address below them.
inline constexpr unsigned stack_arguments = is_arm64 ? 0 : 8;

/// How many bits the addresses of programs have, without 52-bit ones, which they have to ask for.
inline constexpr unsigned user_address_bits = is_arm64 ? 48 : 47;

/// Whether modules can handle NMIs, which the kernel for arm64 lets none do.
inline constexpr bool has_nmis = !is_arm64;

/// Whether the trampoline follows calls of a function that another session or tracer has traced as well: on arm64 it leaves them to that one.
inline constexpr bool follows_beside_others = !is_arm64;

/// What a rule of unwinding may name (struct argtrace_unwind_rule), and which of these registers a quick walk has.
inline constexpr unsigned unwind_registers = is_arm64 ? 32 : 16;
inline constexpr unsigned frame_pointer = is_arm64 ? 29 : 6, stack_pointer = is_arm64 ? 31 : 7;
inline constexpr unsigned saved_registers = is_arm64 ? ARGTRACE_UNWIND_SAVED_ARM64 : ARGTRACE_UNWIND_SAVED_X86_64;

} // namespace vmtest
