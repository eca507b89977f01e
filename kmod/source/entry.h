/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ENTRY_H
#define ARGTRACE_ENTRY_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct argtrace_lane;
struct argtrace_plan;

/*
 * What ftrace is to call for every call of a function of this lane. Which it is follows from the kind
 * of the lane, the clock of the session and whether there is a filter by process: none of them may
 * change while the lane is armed.
 */
ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane);

/*
 * The rest of a call that is to be recorded without more than its arguments, whatever the session is like. Preemption is off,
 * and on again at the end. `called_from` is whatever called the callback.
 */
void argtrace_entry_record(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			   const struct ftrace_regs *fregs, const void *called_from);

/* The same of a call of a probe with a program, which decides. */
void argtrace_rich_call(struct argtrace_plan *plan, unsigned long parent_ip, struct ftrace_ops *ops,
			const struct ftrace_regs *fregs, const void *called_from);

/* The callback of the rich lane, and of that which aggregates: source/rich.c. */
ftrace_func_t argtrace_rich_callback(const struct argtrace_lane *lane);

#endif
