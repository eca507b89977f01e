// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "memory.h"
#include "table.h"

/* Whether the ftrace address may fall into another bucket than the symbol. */
static bool table_needs_alias(unsigned long addr)
{
	return (addr >> 4) != ((addr + ARGTRACE_FENTRY_SKEW) >> 4);
}

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
			needed += 1 + table_needs_alias(plans[i]->addr);
	}
	return needed;
}

static void table_insert(struct argtrace_table *table, unsigned long key,
			 struct argtrace_plan *plan)
{
	unsigned long i = argtrace_table_hash(table, key);

	while (table->slots[i].addr)
		i = (i + 1) & table->mask;
	table->slots[i].addr = plan->addr;
	table->slots[i].plan = plan;
}

static void table_insert_all(struct argtrace_table *table, struct argtrace_plan *const *plans,
			     u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!is_live(plans[i]))
			continue;
		table_insert(table, plans[i]->addr, plans[i]);
		if (table_needs_alias(plans[i]->addr))
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
	table->mask = slots - 1;
	table->shift = 64 - ilog2(slots);
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
