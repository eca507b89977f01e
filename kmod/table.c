// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "memory.h"
#include "table.h"

/* A function is in the table at each of the addresses that ftrace may report for it. */
#define KEYS	(ARGTRACE_FENTRY_SKEW ? 2 : 1)

static bool is_live(const struct argtrace_plan *plan)
{
	return plan && !plan->removed;
}

static unsigned long slots_needed(struct argtrace_plan *const *plans, u32 count)
{
	unsigned long needed = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		if (is_live(plans[i]))
			needed += KEYS;
	}
	return needed;
}

static void table_insert(struct argtrace_table *table, unsigned long ip,
			 struct argtrace_plan *plan)
{
	struct argtrace_slot *slot;
	unsigned long at = argtrace_table_hash(table, ip);

	for (;; at = argtrace_table_next(table, at)) {
		slot = (void *)table->slots + at;
		if (!slot->ip)
			break;
	}
	slot->ip = ip;
	slot->plan = plan;
}

static void table_insert_all(struct argtrace_table *table, struct argtrace_plan *const *plans,
			     u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!is_live(plans[i]))
			continue;
		table_insert(table, plans[i]->addr, plans[i]);
		if (KEYS > 1)
			table_insert(table, plans[i]->addr + ARGTRACE_FENTRY_SKEW, plans[i]);
	}
}

struct argtrace_table *argtrace_table_create(struct argtrace_plan *const *by_id, u32 nr_ids,
					     struct argtrace_plan *const *more, u32 nr_more)
{
	unsigned long needed = slots_needed(by_id, nr_ids) + slots_needed(more, nr_more);
	unsigned long slots = roundup_pow_of_two(max(2 * needed, 2UL));
	struct argtrace_table *table;
	u64 bytes = struct_size(table, slots, slots);
	u64 charge = argtrace_kvmalloc_size(bytes);
	int ret;

	ret = argtrace_memory_charge(charge);
	if (ret)
		return ERR_PTR(ret);
	table = kvzalloc(bytes, GFP_KERNEL);
	if (!table) {
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	table->mask = (slots - 1) * sizeof(struct argtrace_slot);
	table->charged = charge;
	table_insert_all(table, by_id, nr_ids);
	table_insert_all(table, more, nr_more);
	return table;
}

void argtrace_table_free(struct argtrace_table *table)
{
	if (!table)
		return;
	argtrace_memory_uncharge(table->charged);
	kvfree(table);
}
