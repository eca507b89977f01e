/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_PROGRAM_CALL_H
#define ARGTRACE_PROGRAM_CALL_H

#include <linux/ftrace.h>

struct argtrace_lane;
struct argtrace_plan;

/*
 * A call of a probe with a program, which decides about it. Preemption is off, and is enabled at
 * the end. `called_from` is the address that ftrace called the callback from, or
 * ARGTRACE_OWN_LEVELS().
 */
void argtrace_program_call(struct argtrace_plan *plan, unsigned long parent_ip,
			   struct ftrace_ops *ops, const struct ftrace_regs *fregs,
			   const void *called_from);

/* The callback of the lanes PROGRAM and AGGREGATE: call/program_call.c. */
ftrace_func_t argtrace_program_callback(const struct argtrace_lane *lane);

#endif
