/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits a session to the calls of a set of processes (thread groups), or to all but those. One bit
 * for each PID of the initial PID namespace says whether its calls are recorded, so that a callback
 * need not know which of the two was asked for.
 *
 * PIDs are reused, so the bit of a new process is always initialised: from its parent's if children
 * are followed, else to that of a process that was not asked for. A process that has ended keeps
 * its bit until its PID is reused, so that its last calls are treated like the others.
 */
#ifndef ARGTRACE_PID_FILTER_H
#define ARGTRACE_PID_FILTER_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/pid.h>
#include <linux/threads.h>
#include <linux/types.h>

#include "filter/fork_watch.h"

struct pid_namespace;

struct argtrace_pid_filter {
	struct argtrace_fork_watch watch;
	bool children;			/* are followed */
	/* calls of those asked for are not recorded, all others are */
	bool excludes;
	u64 charged;
	u32 nr_asked;
	struct pid **asked;		/* the processes it was made for, a reference to each */
	/*
	 * One bit for each PID up to PID_MAX_LIMIT. The array is not declared with that bound,
	 * which CONFIG_UBSAN_BOUNDS would check in each call.
	 */
	unsigned long bits[];
};

/*
 * Makes a filter for the processes with these PIDs in the caller's PID namespace; `flags` are
 * ARGTRACE_PROCESSES_*. ERR_PTR: -ESRCH if one of them is no process (*failed is its index, else
 * count), -ENOMEM, -ENOSPC.
 */
struct argtrace_pid_filter *argtrace_pid_filter_create(const u32 *numbers, u32 count, u32 flags,
						       u32 *failed);
/* Frees it, once no callback uses it any more. */
void argtrace_pid_filter_free(struct argtrace_pid_filter *pid_filter);

/*
 * Lists the processes that it was made for by their PIDs in that PID namespace; 0 for a process
 * that has none there.
 */
void argtrace_pid_filter_list(const struct argtrace_pid_filter *pid_filter,
			      struct pid_namespace *ns, u32 *numbers, u32 count);

/* Whether the bit of a process is set; calls need only `bits`. */
static __always_inline bool argtrace_pid_bits_have(const unsigned long *bits, unsigned int tgid)
{
	/*
	 * Not test_bit(), whose BT with a memory operand is several times slower. READ_ONCE() would
	 * take another instruction to calculate the address, and is not needed: a bit that changes
	 * at the same time may be seen or not.
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
