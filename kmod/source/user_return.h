/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User functions whose return is followed: a breakpoint at the entry, and one at each instruction
 * that it returns by, or the kernel's uretprobe. Records are those of kernel functions
 * (source/returns/), from a frame that lies in memory of its own (user_calls.h).
 */
#ifndef ARGTRACE_USER_RETURN_H
#define ARGTRACE_USER_RETURN_H

#include "probe/plan.h"

/* The rules of their plans. */
extern const struct argtrace_plan_rules argtrace_user_return_rules;

/* Bytes of each call that are kept until it returns, at most. */
u32 argtrace_user_call_size(const struct argtrace_plan *plan);

#endif
