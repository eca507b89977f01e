/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Maps addresses to probes: open addressing, a power of two, at most half full. Callbacks
 * read it under RCU. It never changes once published: a change makes a new table.
 */
#ifndef ARGTRACE_TABLE_H
#define ARGTRACE_TABLE_H

#include <linux/hash.h>
#include <linux/types.h>

#include "arch/text.h"
#include "base/compat.h"
#include "probe/probe.h"

struct argtrace_slot {
	unsigned long ip;		/* what ftrace reports; 0: empty */
	struct argtrace_plan *plan;
};

/* Nearly every key lies within this probe distance, which lookup covers without wrapping. */
#define ARGTRACE_TABLE_NEAR	3

struct argtrace_table {
	unsigned long mask;		/* for an offset into slots, in bytes */
	u64 charged;
	/* the first ARGTRACE_TABLE_NEAR are repeated after the last */
	struct argtrace_slot slots[];
};

/*
 * Makes a table for one lane, with the live plans of a catalog's by_id, and further plans. ERR_PTR:
 * -ENOMEM, -ENOSPC.
 */
struct argtrace_table *argtrace_table_create(enum argtrace_lane_kind lane,
					     struct argtrace_plan *const *by_id, u32 nr_ids,
					     struct argtrace_plan *const *more, u32 nr_more);
void argtrace_table_free(struct argtrace_table *table);

/* Tells the compiler that a slot with a key has a plan, which saves a test after each lookup. */
static __always_inline struct argtrace_plan *argtrace_assume(struct argtrace_plan *plan)
{
	if (!plan)
		__builtin_unreachable();
	return plan;
}

/* Where the search for `ip` begins: an offset into slots, in bytes. */
static __always_inline unsigned long argtrace_table_hash(const struct argtrace_table *table,
							 unsigned long ip)
{
	unsigned long at;

	/*
	 * The multiplication scatters neighbours. Addresses of kernel text differ in their lower
	 * halves only, and functions are aligned to 16 bytes, the size of a slot, so that the mask
	 * drops no information. Using higher bits of the product would take a shift, and
	 * distributes the functions of a kernel no better.
	 */
	static_assert(sizeof(struct argtrace_slot) == 16);
	at = (u32)ip * GOLDEN_RATIO_32;
	/* Otherwise gcc 12 keeps the table in RDX, and has to move the callback's ops out of it. */
	OPTIMIZER_HIDE_VAR(at);
	return at & table->mask;
}

static __always_inline unsigned long argtrace_table_next(const struct argtrace_table *table,
							 unsigned long at)
{
	return (at + sizeof(struct argtrace_slot)) & table->mask;
}

/* One instruction calculates this address, as the head of the table has the size of a slot. */
static __always_inline const struct argtrace_slot *
argtrace_table_slot(const struct argtrace_table *table, unsigned long at)
{
	static_assert(offsetof(struct argtrace_table, slots) == sizeof(struct argtrace_slot));
	return (const struct argtrace_slot *)((const u8 *)table + at) + 1;
}

/*
 * Looks for a key that is not in its first slot in the ARGTRACE_TABLE_NEAR slots after it, which
 * need no wrapping.
 */
static __always_inline struct argtrace_plan *
argtrace_table_lookup_near(const struct argtrace_slot *slot, unsigned long ip)
{
	unsigned int i;

#pragma GCC unroll 3
	for (i = 1; i <= ARGTRACE_TABLE_NEAR; i++) {
		if (slot[i].ip == ip)
			return argtrace_assume(slot[i].plan);
	}
	return NULL;
}

/* Looks in the slots after those. NULL if the table does not contain the key. */
static __always_inline struct argtrace_plan *
argtrace_table_lookup_far(const struct argtrace_table *table, unsigned long at, unsigned long ip)
{
	const struct argtrace_slot *slot;

	do {
		at = argtrace_table_next(table, at);
		slot = argtrace_table_slot(table, at);
		if (slot->ip == ip)
			return argtrace_assume(slot->plan);
	} while (slot->ip);
	return NULL;
}

/*
 * The probe of the function that ftrace reports at `ip`, or NULL. ftrace reports the address of the
 * symbol, or ARGTRACE_FENTRY_SKEW bytes after it. It is not known beforehand which, so the table
 * contains both. Two functions cannot be confused, as each is at least as long as ftrace's 5-byte
 * call.
 */
static __always_inline struct argtrace_plan *
argtrace_table_lookup(const struct argtrace_table *table, unsigned long ip)
{
	unsigned long at = argtrace_table_hash(table, ip);
	const struct argtrace_slot *slot;
	struct argtrace_plan *plan;

	if (likely(argtrace_table_slot(table, at)->ip == ip)) {
		/* Saves an instruction over keeping the slot's address for both accesses. */
		OPTIMIZER_HIDE_VAR(at);
		return argtrace_assume(argtrace_table_slot(table, at)->plan);
	}
	/* Keeps the compiler from loading early, in the usual case, what only this case needs. */
	OPTIMIZER_HIDE_VAR(at);
	slot = argtrace_table_slot(table, at);
	if (!slot->ip)
		return NULL;
	plan = argtrace_table_lookup_near(slot, ip);
	if (plan)
		return plan;
	OPTIMIZER_HIDE_VAR(table);
	OPTIMIZER_HIDE_VAR(at);
	return argtrace_table_lookup_far(table, at, ip);
}

#endif
