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

static void table_insert(struct argtrace_table *table, unsigned long key,
			 struct argtrace_plan *plan)
{
	unsigned long i = argtrace_table_hash(table, key);

	while (table->slots[i].addr)
		i = (i + 1) & table->mask;
	table->slots[i].addr = plan->addr;
	table->slots[i].plan = plan;
}

struct argtrace_table *argtrace_table_create(struct argtrace_plan *const *plans, u32 count)
{
	struct argtrace_table *table;
	unsigned long used = 0, slots;
	u64 bytes;
	u32 i;
	int ret;

	for (i = 0; i < count; i++) {
		if (plans[i] && !plans[i]->removed)
			used += 1 + table_needs_alias(plans[i]->addr);
	}
	slots = roundup_pow_of_two(max(2 * used, 2UL));
	bytes = struct_size(table, slots, slots);
	ret = argtrace_memory_charge(bytes);
	if (ret)
		return ERR_PTR(ret);
	table = kvzalloc(bytes, GFP_KERNEL);
	if (!table) {
		argtrace_memory_uncharge(bytes);
		return ERR_PTR(-ENOMEM);
	}
	table->mask = slots - 1;
	table->shift = 64 - ilog2(slots);
	table->charged = bytes;

	for (i = 0; i < count; i++) {
		struct argtrace_plan *plan = plans[i];

		if (!plan || plan->removed)
			continue;
		table_insert(table, plan->addr, plan);
		if (table_needs_alias(plan->addr))
			table_insert(table, plan->addr + ARGTRACE_FENTRY_SKEW, plan);
	}
	return table;
}

void argtrace_table_free(struct argtrace_table *table)
{
	if (!table)
		return;
	argtrace_memory_uncharge(table->charged);
	kvfree(table);
}
