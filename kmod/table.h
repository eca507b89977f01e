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
	unsigned long addr;		/* of the symbol; 0: empty */
	struct argtrace_plan *plan;
};

struct argtrace_table {
	u32 mask;			/* slots - 1 */
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

/* Symbol and ftrace address share their bucket: they differ in the low bits (see lookup). */
static __always_inline u32 argtrace_table_hash(const struct argtrace_table *table,
							 unsigned long ip)
{
	/* The multiplication scatters neighbours. Addresses differ in their lower half. */
	return ((u32)(ip >> 4) * GOLDEN_RATIO_32) & table->mask;
}

/* Spares the caller of lookup() a test: the loop has told both ends apart. */
static __always_inline struct argtrace_plan *argtrace_never_null(struct argtrace_plan *plan)
{
	if (!plan)
		__builtin_unreachable();
	return plan;
}

/*
 * The probe of the function that ftrace reports at `ip`: the address of the symbol
 * or ARGTRACE_FENTRY_SKEW behind it. No two functions can be confused, as both
 * would need room for ftrace's 5-byte call there.
 */
static __always_inline struct argtrace_plan *
argtrace_table_lookup(const struct argtrace_table *table, unsigned long ip)
{
	unsigned long i = argtrace_table_hash(table, ip);

	for (;; i = (i + 1) & table->mask) {
		const struct argtrace_slot *slot = &table->slots[i];

		if (likely(!((ip - slot->addr) & ~ARGTRACE_FENTRY_SKEW)))
			return argtrace_never_null(slot->plan);
		if (!slot->addr)
			return NULL;
	}
}

#endif
