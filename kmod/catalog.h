/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of a session, by id and by address. Removed probes stay as long as
 * records may name them. All under the session's lock.
 */
#ifndef ARGTRACE_CATALOG_H
#define ARGTRACE_CATALOG_H

#include <linux/types.h>

#include "probe.h"

struct argtrace_catalog {
	struct argtrace_plan **by_id;	/* NULL: an id that is free */
	u32 nr_ids;
	struct argtrace_plan **by_addr;	/* sorted; of each address the newest */
	u32 nr_addrs;
	u32 nr_live;			/* not removed */
	u32 generation;
};

/* An array that grows in one go, so that what follows cannot fail. */
struct argtrace_catalog_room {
	struct argtrace_plan **by_id;
	struct argtrace_plan **by_addr;
};

void argtrace_catalog_free(struct argtrace_catalog *catalog);

/* The probe at `addr`, live or removed; NULL. */
struct argtrace_plan *argtrace_catalog_find(const struct argtrace_catalog *catalog,
					    unsigned long addr);

/* By address, for sort(). */
int argtrace_plan_compare(const void *a, const void *b);

/* Room for `count` more; 0, -E2BIG, -ENOMEM. */
int argtrace_catalog_reserve(const struct argtrace_catalog *catalog, u32 count,
			     struct argtrace_catalog_room *room);
void argtrace_catalog_room_free(struct argtrace_catalog_room *room);

/*
 * Takes the plans in (sorted by address, none of them live already), gives them
 * ids and empties `room`. Cannot fail.
 */
void argtrace_catalog_add(struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			  u32 count, struct argtrace_catalog_room *room);

/* Frees the removed plans that no record names. No callback may be using them. */
void argtrace_catalog_sweep(struct argtrace_catalog *catalog);

#endif
