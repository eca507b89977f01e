/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the function of a system call gets its arguments.
 *
 *   ARGTRACE_SYSCALL_PREFIXES     what the names of these functions begin with
 *   argtrace_syscall_arguments()  stores the arguments of the current task's system call where a
 *                                 function would have them. If
 *                                 what the function was passed is not the address of the task's
 *                                 registers, nothing is read,
 *                                 and the arguments are zeros
 *   argtrace_syscall_regs()       the same, with the other registers that are used from those of
 *                                 the function's entry
 */
#ifndef ARGTRACE_ARCH_SYSCALL_H
#define ARGTRACE_ARCH_SYSCALL_H

#if defined(CONFIG_X86_64)
#include "arch/x86/syscall.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/syscall.h"
#endif

#endif
