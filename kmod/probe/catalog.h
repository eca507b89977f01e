/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of a session, by id and by kind and address. Removed probes stay, since records name
 * them and their counts are part of the session's; adding one again revives it. If a module is
 * loaded again at another address, the probes of its functions succeed the removed ones, and
 * inherit their counts. All under session->lock.
 */
#ifndef ARGTRACE_CATALOG_H
#define ARGTRACE_CATALOG_H

#include <linux/types.h>

#include "probe/probe.h"

struct argtrace_catalog {
	struct argtrace_plan **by_id;	/* [0] is NULL: a list that continues at 0 has ended */
	u32 nr_ids;			/* including [0] */
	struct argtrace_plan **by_addr;	/* sorted by kind and address; the newest at each */
	u32 nr_addrs;
	u32 nr_live[ARGTRACE_LANES];	/* not removed, by lane */
	u32 generation;
	u64 charged;			/* for both arrays */
};

/* Larger arrays, allocated beforehand so that argtrace_catalog_add() cannot fail. */
struct argtrace_catalog_room {
	struct argtrace_plan **by_id;
	struct argtrace_plan **by_addr;
	u64 charged;
};

void argtrace_catalog_free(struct argtrace_catalog *catalog);

/* The probe of that kind at `addr`, live or removed; NULL. */
struct argtrace_plan *argtrace_catalog_find(const struct argtrace_catalog *catalog, u16 kind,
					    unsigned long addr);

/* By kind and address, for sort(). */
int argtrace_plan_compare(const void *a, const void *b);

/* Room for `count` more; 0, -E2BIG, -ENOMEM, -ENOSPC. */
int argtrace_catalog_reserve(const struct argtrace_catalog *catalog, u32 count,
			     struct argtrace_catalog_room *room);
void argtrace_catalog_room_free(struct argtrace_catalog_room *room);

/*
 * Assigns the plans their ids. An id is never reused for another function of the session, since a
 * reader may still hold its schema.
 */
void argtrace_catalog_number(const struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			     u32 count);

/* Marks a plan of the catalog as live or removed. */
void argtrace_catalog_set_removed(struct argtrace_catalog *catalog, struct argtrace_plan *plan,
				  bool removed);

/*
 * Adds the numbered plans (sorted, none of them live already) and empties `room`. Plans that they
 * succeed are freed, so no callback may be using those any more.
 */
void argtrace_catalog_add(struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			  u32 count, struct argtrace_catalog_room *room);

#endif
