/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A system call whose return is followed, and which waits for user memory that its program reads
 * at the entry (ARGTRACE_PROBE_WAITS). It counts as entered before it waits, as whoever sleeps must
 * (life.c), and its time begins when it has waited.
 */
#ifndef ARGTRACE_RETURN_ENTER_H
#define ARGTRACE_RETURN_ENTER_H

#include <linux/align.h>

#include "source/returns/begin.h"

/*
 * Whether the call could wait, with room on its stack for what is kept of it. The frame is at `sp`,
 * or will be above it.
 */
static inline bool argtrace_return_can_wait(const struct argtrace_return *returns, unsigned long sp)
{
	const unsigned long kept = ALIGN(sizeof(u64) + returns->plan->code->kept, sizeof(u64));

	return argtrace_return_can_sleep(sp - kept, kept + sizeof(struct argtrace_frame));
}

/*
 * As argtrace_return_enter(), for a call of which argtrace_return_can_wait() has said so, and which
 * counts as entered. Preemption is on, and the arguments of the system call are in the frame.
 * `is_decided`: the filter has accepted it.
 */
unsigned long argtrace_return_enter_waiting(struct argtrace_frame *frame, bool is_decided);

/* Follows such a call, of which so many bytes are kept. False: it is lost. */
bool argtrace_return_follow(struct argtrace_frame *frame, unsigned long kept);

#endif
