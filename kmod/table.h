/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address -> probe: open addressing, a power of two, at most half full. Read under
 * RCU by callbacks, never changed once published: a change makes a new table.
 */
#ifndef ARGTRACE_TABLE_H
#define ARGTRACE_TABLE_H

#include <linux/hash.h>
#include <linux/types.h>

#include "compat.h"
#include "probe.h"

struct argtrace_slot {
	unsigned long ip;		/* what ftrace reports; 0: empty */
	struct argtrace_plan *plan;
};

struct argtrace_table {
	unsigned long mask;		/* of an offset in slots, in bytes */
	u64 charged;
	struct argtrace_slot slots[];
};

/*
 * A table of what is live in a catalog's by_id, and of further plans. ERR_PTR(-ENOMEM or
 * -ENOSPC).
 */
struct argtrace_table *argtrace_table_create(struct argtrace_plan *const *by_id, u32 nr_ids,
					     struct argtrace_plan *const *more, u32 nr_more);
void argtrace_table_free(struct argtrace_table *table);

/* Where the search for it begins: an offset in slots, in bytes. */
static __always_inline unsigned long argtrace_table_hash(const struct argtrace_table *table,
						      unsigned long ip)
{
	/* The multiplication scatters neighbours. Addresses differ in their lower half. */
	return ((u32)ip * GOLDEN_RATIO_32) >> 4 & table->mask;
}

static __always_inline unsigned long argtrace_table_next(const struct argtrace_table *table,
							 unsigned long at)
{
	return (at + sizeof(struct argtrace_slot)) & table->mask;
}

/* One address calculation that an instruction can do, from the slots' place behind the head. */
static __always_inline const struct argtrace_slot *
argtrace_table_slot(const struct argtrace_table *table, unsigned long at)
{
	static_assert(offsetof(struct argtrace_table, slots) == sizeof(struct argtrace_slot));
	return (const struct argtrace_slot *)((const u8 *)table + at) + 1;
}

/*
 * The probe of the function that ftrace reports at `ip`, or NULL: the address of the symbol
 * or ARGTRACE_FENTRY_SKEW behind it, which ftrace does not tell beforehand; both are in
 * the table. No two functions can be confused, as both would need room for ftrace's 5-byte
 * call there.
 */
static __always_inline struct argtrace_plan *
argtrace_table_lookup(const struct argtrace_table *table, unsigned long ip)
{
	unsigned long at = argtrace_table_hash(table, ip);
	const struct argtrace_slot *slot = argtrace_table_slot(table, at);

	while (unlikely(slot->ip != ip)) {
		/* Keeps the compiler from fetching for the usual case what only this one needs. */
		OPTIMIZER_HIDE_VAR(table);
		OPTIMIZER_HIDE_VAR(slot);
		OPTIMIZER_HIDE_VAR(at);
		if (!slot->ip)
			return NULL;
		at = argtrace_table_next(table, at);
		slot = argtrace_table_slot(table, at);
	}
	/* Spares the caller a test. */
	if (!slot->plan)
		__builtin_unreachable();
	return slot->plan;
}

#endif
