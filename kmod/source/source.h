/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source: where the calls of a lane come from. Each kind of probe (enum argtrace_kind) has one,
 * in a file of its own, and so has each lane; arm.c knows no other way to them.
 */
#ifndef ARGTRACE_SOURCE_H
#define ARGTRACE_SOURCE_H

#include <linux/pgtable.h>
#include <linux/types.h>

struct argtrace_lane;

struct argtrace_source {
	u16 kind;			/* enum argtrace_kind of its probes */
	unsigned long skew;		/* addresses of probes that are no further apart are the same place */
	bool addr_is_number;		/* the address of a probe is none of the kernel: it goes with no module */

	/* Prepares a lane that is not armed: which callback it gets follows from the lane. */
	void (*init)(struct argtrace_lane *lane);

	/*
	 * Which of the addresses no place to trace is at; 0: none. With `all` each is asked for, else only
	 * those that attach() would take by mistake. Needs no lock.
	 */
	unsigned long (*find_bad)(const unsigned long *addrs, u32 count, bool all);

	/* Has the lane called for these addresses too. 0, or an error, and it is as it was: -EINVAL, -EBUSY ... */
	int (*attach)(struct argtrace_lane *lane, unsigned long *addrs, u32 count);

	/*
	 * Has the lane called for what the catalog says is live in it, and for nothing else. What has gone with
	 * its module without our notice (see module_event()) is found here, and removed as well. 0, or an
	 * error; to detach the last ones takes no memory.
	 */
	int (*follow)(struct argtrace_lane *lane);
};

static inline bool argtrace_is_in_modules(unsigned long addr)
{
	return addr >= MODULES_VADDR && addr < MODULES_END;
}

extern const struct argtrace_source argtrace_entry_source;
extern const struct argtrace_source argtrace_tracepoint_source;
extern const struct argtrace_source argtrace_syscall_source;
extern const struct argtrace_source argtrace_fallback_source;
extern const struct argtrace_source argtrace_timer_source;

#endif
