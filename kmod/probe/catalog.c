// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bsearch.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "probe/catalog.h"
#include "base/memory.h"

void argtrace_catalog_free(struct argtrace_catalog *catalog)
{
	u32 i;

	for (i = 0; i < catalog->nr_ids; i++) {
		argtrace_plan_free(catalog->by_id[i]);
		cond_resched();
	}
	kvfree(catalog->by_id);
	kvfree(catalog->by_addr);
	argtrace_memory_uncharge(catalog->charged);
	memset(catalog, 0, sizeof(*catalog));
}

int argtrace_plan_compare(const void *a, const void *b)
{
	const struct argtrace_plan *pa = *(const struct argtrace_plan *const *)a;
	const struct argtrace_plan *pb = *(const struct argtrace_plan *const *)b;

	if (pa->kind != pb->kind)
		return pa->kind < pb->kind ? -1 : 1;
	return pa->addr < pb->addr ? -1 : pa->addr > pb->addr;
}

struct argtrace_plan *argtrace_catalog_find(const struct argtrace_catalog *catalog, u16 kind,
					    unsigned long addr)
{
	const struct argtrace_plan wanted = { .kind = kind, .addr = addr }, *key = &wanted;
	struct argtrace_plan **found;

	if (!catalog->nr_addrs)
		return NULL;
	found = bsearch(&key, catalog->by_addr, catalog->nr_addrs, sizeof(*catalog->by_addr),
			argtrace_plan_compare);
	return found ? *found : NULL;
}

int argtrace_catalog_reserve(const struct argtrace_catalog *catalog, u32 count,
			     struct argtrace_catalog_room *room)
{
	u64 charge;
	int ret;

	memset(room, 0, sizeof(*room));
	if (count > ARGTRACE_MAX_PROBES || catalog->nr_ids > ARGTRACE_MAX_PROBES - count)
		return -E2BIG;
	charge = argtrace_kvmalloc_size((catalog->nr_ids + count + 1) * sizeof(*room->by_id)) +
		 argtrace_kvmalloc_size((catalog->nr_addrs + count) * sizeof(*room->by_addr));
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	room->charged = charge;
	room->by_id = argtrace_kvcalloc(catalog->nr_ids + count + 1, sizeof(*room->by_id));
	room->by_addr = argtrace_kvcalloc(catalog->nr_addrs + count, sizeof(*room->by_addr));
	if (!room->by_id || !room->by_addr) {
		argtrace_catalog_room_free(room);
		return -ENOMEM;
	}
	return 0;
}

void argtrace_catalog_room_free(struct argtrace_catalog_room *room)
{
	kvfree(room->by_id);
	kvfree(room->by_addr);
	argtrace_memory_uncharge(room->charged);
	memset(room, 0, sizeof(*room));
}

void argtrace_catalog_number(const struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			     u32 count)
{
	u32 next = max(catalog->nr_ids, 1u), i;

	for (i = 0; i < count; i++) {
		plans[i]->id = plans[i]->succeeds ? plans[i]->succeeds->id : next++;
		plans[i]->schema->id = plans[i]->id;
	}
}

void argtrace_catalog_add(struct argtrace_catalog *catalog, struct argtrace_plan **plans,
			  u32 count, struct argtrace_catalog_room *room)
{
	struct argtrace_plan **old = catalog->by_addr, **merged = room->by_addr;
	u32 nr_old = catalog->nr_addrs, from_old = 0, from_new = 0, nr = 0, i;
	int order;

	memcpy(room->by_id, catalog->by_id, catalog->nr_ids * sizeof(*room->by_id));
	swap(catalog->by_id, room->by_id);
	for (i = 0; i < count; i++) {
		catalog->by_id[plans[i]->id] = plans[i];
		catalog->nr_ids = max(catalog->nr_ids, plans[i]->id + 1);
	}

	while (from_old < nr_old || from_new < count) {
		/* Another plan has replaced it. */
		if (from_old < nr_old && catalog->by_id[old[from_old]->id] != old[from_old]) {
			from_old++;
			continue;
		}
		if (from_old == nr_old)
			order = 1;
		else if (from_new == count)
			order = -1;
		else
			order = argtrace_plan_compare(&old[from_old], &plans[from_new]);
		/* A new probe takes the place of a removed one at its address. */
		if (order == 0)
			from_old++;
		merged[nr++] = order < 0 ? old[from_old++] : plans[from_new++];
	}
	swap(catalog->by_addr, room->by_addr);
	swap(catalog->charged, room->charged);
	catalog->nr_addrs = nr;
	for (i = 0; i < count; i++) {
		catalog->nr_live[plans[i]->lane]++;
		if (plans[i]->succeeds && plans[i]->succeeds->unloaded)
			argtrace_plan_inherit(plans[i], plans[i]->succeeds);
		argtrace_plan_free(plans[i]->succeeds);
		plans[i]->succeeds = NULL;
	}
	argtrace_catalog_room_free(room);
}

void argtrace_catalog_set_removed(struct argtrace_catalog *catalog, struct argtrace_plan *plan,
				  bool removed)
{
	WRITE_ONCE(plan->removed, removed);
	plan->schema->flags &= ~(ARGTRACE_PROBE_REMOVED | ARGTRACE_PROBE_GONE);
	plan->schema->flags |= removed ? ARGTRACE_PROBE_REMOVED : 0;
	catalog->nr_live[plan->lane] += removed ? -1 : 1;
	if (removed && plan->rules)
		plan->rules->stop(plan);
}
