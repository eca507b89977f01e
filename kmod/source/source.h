/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A source: where the calls of a lane come from. Each kind of probe (enum argtrace_kind) has a
 * source in a file of its own, and so has each lane; arm.c uses them only through this interface.
 */
#ifndef ARGTRACE_SOURCE_H
#define ARGTRACE_SOURCE_H

#include <linux/types.h>

struct argtrace_lane;
struct argtrace_plan_rules;
struct argtrace_probe;
struct argtrace_table;

struct argtrace_source {
	u16 kind;			/* enum argtrace_kind of its probes */
	/* addresses that are no further apart belong to the same place */
	unsigned long skew;
	/* the address of a probe is no kernel address, and so in no module */
	bool addr_is_number;

	/* Prepares a lane that is not armed, and chooses its callback. */
	void (*init)(struct argtrace_lane *lane);

	/*
	 * Returns one of the addresses, which are sorted, at which nothing can be traced, or 0.
	 * Checks all addresses if `all`, else only those that attach() would accept by mistake.
	 * Takes no lock.
	 */
	unsigned long (*find_bad)(const unsigned long *addrs, u32 count, bool all);

	/*
	 * Has the lane called for these addresses as well, which are sorted. `table` has their
	 * plans; it is the lane's already if that is armed, and will be otherwise. 0, or an error
	 * (-EINVAL, -EBUSY ...), on which nothing has changed.
	 */
	int (*attach)(struct argtrace_lane *lane, const struct argtrace_table *table,
		      unsigned long *addrs, u32 count);

	/* The lane has another table. NULL: the source's callbacks look up each call there. */
	void (*table_changed)(struct argtrace_lane *lane);

	/*
	 * Has the lane called for its live probes in the catalog, and for nothing else. Also
	 * detaches what has gone with its module unnoticed (see module_event()). 0 or an error;
	 * detaching the last probes takes no memory.
	 */
	int (*follow)(struct argtrace_lane *lane);

	/*
	 * The lane is armed, and has another filter by PID. NULL: the source calls us for all
	 * processes. 0 or an error, on which the lane is given the old filter again.
	 */
	int (*filter_changed)(struct argtrace_lane *lane);
};

/* What the source of a probe does for its plan; NULL: nothing. */
const struct argtrace_plan_rules *argtrace_plan_rules_of(const struct argtrace_probe *header);

extern const struct argtrace_source argtrace_entry_source;
extern const struct argtrace_source argtrace_tracepoint_source;
extern const struct argtrace_source argtrace_syscall_source;
extern const struct argtrace_source argtrace_fallback_source;
extern const struct argtrace_source argtrace_timer_source;
extern const struct argtrace_source argtrace_user_source;

#endif
