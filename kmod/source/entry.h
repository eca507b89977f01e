/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ENTRY_H
#define ARGTRACE_ENTRY_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct argtrace_lane;
struct argtrace_plan;

/*
 * The function that ftrace calls for the functions of this lane. It depends on the kind of the lane, the
 * session's clock and kind of ring, and on whether there is a PID filter, none of which may change while
 * the lane is armed.
 */
ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane);

/*
 * Records the arguments of a call, in any kind of session. Preemption is off, and is enabled at the end. `called_from` is the
 * address that the callback was called from.
 */
void argtrace_entry_record(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			   const struct ftrace_regs *fregs, const void *called_from);

/* The same for a probe with a program, which decides about the call. */
void argtrace_rich_call(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			const struct ftrace_regs *fregs, const void *called_from);

/* The callback of the rich lane and of the aggregating lane: call/rich.c. */
ftrace_func_t argtrace_rich_callback(const struct argtrace_lane *lane);

#endif
