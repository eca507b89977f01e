/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose calls a session records, where not everybody's: a set of processes (thread groups), one
 * bit for each number that a process may have, as the kernel itself counts them.
 *
 * Numbers are used again. A process that begins therefore always gets its bit anew: that of
 * its parent if children are followed, else 0. A process that has ended keeps it, so that its
 * last calls are recorded as well, until another one has its number.
 */
#ifndef ARGTRACE_PID_FILTER_H
#define ARGTRACE_PID_FILTER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/threads.h>
#include <linux/types.h>

struct argtrace_pid_filter {
	struct list_head link;		/* in the list of all that a new process is put into */
	bool children;			/* are followed */
	u64 charged;
	u32 nr_asked;
	struct pid **asked;		/* for them it was made, a reference each */
	/*
	 * One for each number up to PID_MAX_LIMIT. Without that bound here: a kernel with
	 * CONFIG_UBSAN_BOUNDS would look at it in each call.
	 */
	unsigned long bits[];
};

/*
 * A set of the processes that the caller knows by these numbers. ERR_PTR: -ESRCH one of them is
 * no process (*failed is its index, else count), -ENOMEM, -ENOSPC.
 */
struct argtrace_pid_filter *argtrace_pid_filter_create(const u32 *numbers, u32 count, bool children,
						     u32 *failed);
/* No callback looks at it any more. */
void argtrace_pid_filter_free(struct argtrace_pid_filter *pid_filter);

/*
 * Writes the numbers that it was made for, as the caller knows them: 0 for one that its PID
 * namespace does not have.
 */
void argtrace_pid_filter_list(const struct argtrace_pid_filter *pid_filter, u32 *numbers, u32 count);

static __always_inline bool argtrace_pid_filter_has(const struct argtrace_pid_filter *pid_filter,
						   unsigned int tgid)
{
	/* Not test_bit(): its instruction takes the processor a multiple of these three. */
	return READ_ONCE(pid_filter->bits[tgid / BITS_PER_LONG]) >> tgid % BITS_PER_LONG & 1;
}

#endif
