/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls as a source. The function of a system call is passed the address of the registers
 * with which user space entered the kernel. Records and programs get the arguments in these
 * registers, as if the function had been called with them.
 */
#ifndef ARGTRACE_SYSCALL_H
#define ARGTRACE_SYSCALL_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include "arch/syscall.h"

struct argtrace_lane;

/* Whether there is a system call's function at the address, judging by its name. */
bool argtrace_is_syscall(unsigned long addr);

/* The function that ftrace calls for the functions of the lane. */
ftrace_func_t argtrace_syscall_callback(const struct argtrace_lane *lane);
/* The same where calls wait for memory: syscall_wait.c. */
ftrace_func_t argtrace_syscall_wait_callback(const struct argtrace_lane *lane);

#endif
