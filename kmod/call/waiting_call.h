/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call that can wait for memory of its process. What the program reads is gathered first, and
 * nothing is counted or recorded before all of it has been read, so that the call can be looked at
 * again after what was absent has been brought in.
 */
#ifndef ARGTRACE_WAITING_CALL_H
#define ARGTRACE_WAITING_CALL_H

#include <linux/ftrace.h>
#include <linux/types.h>

#include "read/absent.h"

struct argtrace_plan;
struct argtrace_regs;

/* What is kept of a call from one look at it to the next; zeros before the first. */
struct argtrace_wait {
	struct argtrace_absent absent;	/* what it waits for */
	bool is_last;			/* what is absent now is unreadable */
	bool is_sampled;		/* it is its turn, if the plan records one in so many */
	u8 times;			/* that memory was brought in */
};

/*
 * As argtrace_program_call(). False: some memory is absent, which is to
 * be brought in; preemption is on, and the call has had no outcome.
 */
bool argtrace_waiting_call(struct argtrace_plan *plan, unsigned long caller,
			   struct ftrace_ops *ops, const struct argtrace_regs *fregs,
			   const void *called_from, struct argtrace_wait *wait);

/* Brings in what the call waits for, after which it is looked at again. Sleeps. */
void argtrace_wait_for_memory(struct argtrace_wait *wait);

#endif
