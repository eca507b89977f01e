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
#include "probe/probe.h"

struct argtrace_slot {
	unsigned long ip;		/* what ftrace reports; 0: empty */
	struct argtrace_plan *plan;
};

/* Nearly every key lies within this probe distance, which lookup covers without wrapping. */
#define ARGTRACE_TABLE_NEAR	3

struct argtrace_table {
	unsigned long mask;		/* of an offset in slots, in bytes */
	u64 charged;
	struct argtrace_slot slots[];	/* the first ARGTRACE_TABLE_NEAR are repeated after the last */
};

/*
 * A table of one lane: of what is live in a catalog's by_id, and of further plans. ERR_PTR(-ENOMEM or
 * -ENOSPC).
 */
struct argtrace_table *argtrace_table_create(enum argtrace_lane_kind lane,
					     struct argtrace_plan *const *by_id, u32 nr_ids,
					     struct argtrace_plan *const *more, u32 nr_more);
void argtrace_table_free(struct argtrace_table *table);

/* Where the search for `ip` begins: an offset in slots, in bytes. */
static __always_inline unsigned long argtrace_table_hash(const struct argtrace_table *table,
						      unsigned long ip)
{
	/* The multiplication scatters neighbours. Kernel text differs in the lower half of its addresses. */
	return ((u32)ip * GOLDEN_RATIO_32) >> 4 & table->mask;
}

static __always_inline unsigned long argtrace_table_next(const struct argtrace_table *table,
							 unsigned long at)
{
	return (at + sizeof(struct argtrace_slot)) & table->mask;
}

/* An address that one instruction can calculate, as the slots follow the head at the size of a slot. */
static __always_inline const struct argtrace_slot *
argtrace_table_slot(const struct argtrace_table *table, unsigned long at)
{
	static_assert(offsetof(struct argtrace_table, slots) == sizeof(struct argtrace_slot));
	return (const struct argtrace_slot *)((const u8 *)table + at) + 1;
}

/*
 * The probe of the function that ftrace reports at `ip`, or NULL. That is the address of the symbol or
 * ARGTRACE_FENTRY_SKEW after it; which of them is not known beforehand, so both are in
 * the table. Two functions cannot be confused: each has room for ftrace's 5-byte
 * call there.
 */
static __always_inline struct argtrace_plan *
argtrace_table_lookup(const struct argtrace_table *table, unsigned long ip)
{
	unsigned long at = argtrace_table_hash(table, ip);
	const struct argtrace_slot *slot;
	struct argtrace_plan *plan;
	unsigned int i;

	if (likely(argtrace_table_slot(table, at)->ip == ip)) {
		/* One instruction less than keeping the slot's address for both accesses. */
		OPTIMIZER_HIDE_VAR(at);
		plan = argtrace_table_slot(table, at)->plan;
		goto found;
	}
	/* Keeps the compiler from loading in the usual case what only this one needs. */
	OPTIMIZER_HIDE_VAR(at);
	slot = argtrace_table_slot(table, at);
	if (!slot->ip)
		return NULL;
#pragma GCC unroll 3
	for (i = 1; i <= ARGTRACE_TABLE_NEAR; i++) {
		if (slot[i].ip == ip) {
			plan = slot[i].plan;
			goto found;
		}
	}
	OPTIMIZER_HIDE_VAR(table);
	OPTIMIZER_HIDE_VAR(at);
	do {
		at = argtrace_table_next(table, at);
		slot = argtrace_table_slot(table, at);
		if (slot->ip == ip) {
			plan = slot->plan;
			goto found;
		}
	} while (slot->ip);
	return NULL;
found:
	/* Saves the caller a test. */
	if (!plan)
		__builtin_unreachable();
	return plan;
}

#endif
