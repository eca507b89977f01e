/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits a session to the calls of a set of processes (thread groups), or to all but those. One bit
 * for each PID of the initial PID namespace says whether its calls are recorded, so that a callback
 * need not know which of the two was asked for.
 *
 * Numbers are reused. A process that begins therefore always has its bit set anew: to that of
 * its parent if children are followed, else to that of a process that nobody asked for. A process
 * that has ended keeps its bit until another one gets its number, so that its last calls are treated alike.
 */
#ifndef ARGTRACE_PID_FILTER_H
#define ARGTRACE_PID_FILTER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/pid.h>
#include <linux/threads.h>
#include <linux/types.h>

#include "filter/fork_watch.h"

struct argtrace_pid_filter {
	struct argtrace_fork_watch watch;
	bool children;			/* are followed */
	bool excludes;			/* calls of those asked for are not recorded, all others are */
	u64 charged;
	u32 nr_asked;
	struct pid **asked;		/* the processes it was made for, a reference to each */
	/*
	 * One for each number up to PID_MAX_LIMIT. The array is not declared with that bound, which a
	 * kernel with CONFIG_UBSAN_BOUNDS would check in each call.
	 */
	unsigned long bits[];
};

/*
 * A set of the processes that have these numbers in the PID namespace of the caller; `flags` are
 * ARGTRACE_PROCESSES_*. ERR_PTR: -ESRCH one of them is no process (*failed is its index, else count),
 * -ENOMEM, -ENOSPC.
 */
struct argtrace_pid_filter *argtrace_pid_filter_create(const u32 *numbers, u32 count, u32 flags,
						     u32 *failed);
/* Frees it, once no callback uses it any more. */
void argtrace_pid_filter_free(struct argtrace_pid_filter *pid_filter);

/*
 * Writes the numbers of the processes it was made for, as the PID namespace of the caller
 * has them; 0 for one that is not in there.
 */
void argtrace_pid_filter_list(const struct argtrace_pid_filter *pid_filter, u32 *numbers, u32 count);

/* Whether the bit of a process is set: calls look at `bits` alone. */
static __always_inline bool argtrace_pid_bits_have(const unsigned long *bits, unsigned int tgid)
{
	/*
	 * Not test_bit(): its BT with a memory operand is several times slower than these. Nor READ_ONCE(), which
	 * would take an instruction of its own to calculate the address: a bit that changes meanwhile may be seen or not.
	 */
	unsigned long word = bits[tgid / BITS_PER_LONG];

	OPTIMIZER_HIDE_VAR(word);
	return word >> tgid % BITS_PER_LONG & 1;
}

static inline bool argtrace_pid_filter_has(const struct argtrace_pid_filter *pid_filter,
					   unsigned int tgid)
{
	return argtrace_pid_bits_have(pid_filter->bits, tgid);
}

#endif
