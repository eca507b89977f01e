/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of a session, by id and by kind and address. Removed probes stay, since records name
 * them and their counts belong to the session's; adding the same again revives them. The functions of a
 * module that has been loaded again, and is elsewhere now, succeed their removed probes.
 * All under the session's lock.
 */
#ifndef ARGTRACE_CATALOG_H
#define ARGTRACE_CATALOG_H

#include <linux/types.h>

#include "probe/probe.h"

struct argtrace_catalog {
	struct argtrace_plan **by_id;	/* [0] is NULL: a list that goes on at 0 has ended */
	u32 nr_ids;			/* with [0] */
	struct argtrace_plan **by_addr;	/* sorted by kind and address; the newest at each */
	u32 nr_addrs;
	u32 nr_live[ARGTRACE_LANES];	/* not removed, of each lane */
	u32 generation;
	u64 charged;			/* for both arrays */
};

/* Memory for arrays that have grown, so that argtrace_catalog_add() cannot fail. */
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
 * Gives the plans the ids that they will have. An id is never given to another function of the session: a
 * reader may still hold its schema.
 */
void argtrace_catalog_number(const struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			     u32 count);

/* Makes a plan of the catalog live or removed. */
void argtrace_catalog_set_removed(struct argtrace_catalog *catalog, struct argtrace_plan *plan,
				  bool removed);

/*
 * Takes the numbered plans in (sorted, none live already) and empties `room`. Those that they succeed are
 * freed: no callback may be using them any more.
 */
void argtrace_catalog_add(struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			  u32 count, struct argtrace_catalog_room *room);

#endif
