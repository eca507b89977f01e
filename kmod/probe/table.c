// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "probe/table.h"

/*
 * The table contains every address that ftrace may report for a function. Places in user code are
 * no functions: the next may be as near as that.
 */
static u32 keys_of(enum argtrace_lane_kind lane)
{
	return ARGTRACE_FENTRY_SKEW && lane != ARGTRACE_LANE_USER ? 2 : 1;
}

static bool is_live(const struct argtrace_plan *plan, enum argtrace_lane_kind lane)
{
	return plan && !plan->removed && plan->lane == lane;
}

static unsigned long slots_needed(enum argtrace_lane_kind lane, struct argtrace_plan *const *plans,
				  u32 count)
{
	unsigned long needed = 0;
	u32 i;

	for (i = 0; i < count; i++) {
		if (is_live(plans[i], lane))
			needed += keys_of(lane);
	}
	return needed;
}

/* The probe distance of a key in the slot `at`. */
static unsigned long distance(const struct argtrace_table *table, unsigned long ip,
			      unsigned long at)
{
	return (at - argtrace_table_hash(table, ip)) & table->mask;
}

/*
 * Among the probable keys, the one with the longer probe distance keeps the slot (Robin Hood
 * hashing), so that no distance gets long. The merely possible keys take the slots that are left.
 */
static void table_insert(struct argtrace_table *table, unsigned long ip,
			 struct argtrace_plan *plan, bool looked_for)
{
	struct argtrace_slot *slot, new = { .ip = ip, .plan = plan };
	unsigned long at = argtrace_table_hash(table, ip);

	for (;; at = argtrace_table_next(table, at)) {
		slot = (void *)table->slots + at;
		if (slot->ip == new.ip)
			return;
		if (!slot->ip)
			break;
		if (looked_for && distance(table, slot->ip, at) < distance(table, new.ip, at))
			swap(*slot, new);
	}
	*slot = new;
}

/* Inserts the addresses that ftrace most probably reports. */
static void table_insert_probable(struct argtrace_table *table, enum argtrace_lane_kind lane,
				  struct argtrace_plan *const *plans, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		unsigned long addr;

		if (!is_live(plans[i], lane))
			continue;
		addr = plans[i]->addr;
		if (keys_of(lane) > 1 && !argtrace_calls_at_symbol(addr))
			addr += ARGTRACE_FENTRY_SKEW;
		table_insert(table, addr, plans[i], true);
	}
}

/* Inserts the addresses that ftrace may report as well. */
static void table_insert_possible(struct argtrace_table *table, enum argtrace_lane_kind lane,
				  struct argtrace_plan *const *plans, u32 count)
{
	u32 i;

	for (i = 0; keys_of(lane) > 1 && i < count; i++) {
		if (!is_live(plans[i], lane))
			continue;
		table_insert(table, plans[i]->addr, plans[i], false);
		table_insert(table, plans[i]->addr + ARGTRACE_FENTRY_SKEW, plans[i], false);
	}
}

struct argtrace_table *argtrace_table_create(enum argtrace_lane_kind lane,
					     struct argtrace_plan *const *by_id, u32 nr_ids,
					     struct argtrace_plan *const *more, u32 nr_more)
{
	unsigned long needed =
		slots_needed(lane, by_id, nr_ids) + slots_needed(lane, more, nr_more);
	unsigned long slots = roundup_pow_of_two(max(2 * needed, 2UL));
	struct argtrace_table *table;
	u64 bytes = struct_size(table, slots, slots + ARGTRACE_TABLE_NEAR);
	u64 charge = argtrace_kvmalloc_size(bytes);
	unsigned long i;
	int ret;

	ret = argtrace_memory_charge(charge);
	if (ret)
		return ERR_PTR(ret);
	table = argtrace_kvzalloc(bytes);
	if (!table) {
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	table->mask = (slots - 1) * sizeof(struct argtrace_slot);
	table->charged = charge;
	table_insert_probable(table, lane, by_id, nr_ids);
	table_insert_probable(table, lane, more, nr_more);
	table_insert_possible(table, lane, by_id, nr_ids);
	table_insert_possible(table, lane, more, nr_more);
	for (i = 0; i < ARGTRACE_TABLE_NEAR; i++)
		table->slots[slots + i] = table->slots[i & (slots - 1)];
	return table;
}

void argtrace_table_free(struct argtrace_table *table)
{
	if (!table)
		return;
	argtrace_memory_uncharge(table->charged);
	kvfree(table);
}
