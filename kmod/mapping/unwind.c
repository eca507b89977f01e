// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "arch/user.h"
#include "base/memory.h"
#include "mapping/unwind.h"

/* How many numbers there are in at[], of rules that save no register. */
static u32 count_offsets(const struct argtrace_unwind_rule *rule)
{
	switch (rule->cfa) {
	case ARGTRACE_CFA_THREAD:
		return ARGTRACE_USER_THREAD_OFFSETS +
		       (ARGTRACE_USER_HAS_LINK && rule->ra == ARGTRACE_RA_BESIDE);
	case ARGTRACE_CFA_CALLBACK:
		return ARGTRACE_USER_THREAD_OFFSETS + 1;
	case ARGTRACE_CFA_DEPTH:
		return 2;
	default:
		return 0;
	}
}

static bool cfa_is_valid(const struct argtrace_unwind_rule *rule)
{
	switch (rule->cfa) {
	case ARGTRACE_CFA_REGISTER:
		return !rule->add;
	case ARGTRACE_CFA_MEMORY:
		return true;
	case ARGTRACE_CFA_PLT:
		return rule->add >= 0 && rule->add < 16;
	case ARGTRACE_CFA_SIGNAL:
		return !rule->add && !rule->saved && rule->ra == ARGTRACE_RA_MEMORY &&
		       !rule->ra_at;
	case ARGTRACE_CFA_THREAD:
	case ARGTRACE_CFA_CALLBACK:
	case ARGTRACE_CFA_DEPTH:
		return !rule->saved;
	default:
		return false;
	}
}

static bool ra_is_valid(const struct argtrace_unwind_rule *rule)
{
	switch (rule->ra) {
	case ARGTRACE_RA_MEMORY:
	case ARGTRACE_RA_INTERRUPTED:
		return true;
	case ARGTRACE_RA_REGISTER:
		return rule->ra_at >= 0 && rule->ra_at < ARGTRACE_USER_REGS;
	case ARGTRACE_RA_END:
		return !rule->ra_at;
	case ARGTRACE_RA_BESIDE:
		return !rule->ra_at && rule->cfa == ARGTRACE_CFA_THREAD;
	default:
		return false;
	}
}

static bool rule_is_valid(const struct argtrace_unwind_rule *rule)
{
	u32 i;

	if (!cfa_is_valid(rule) || !ra_is_valid(rule) || rule->reg >= ARGTRACE_USER_REGS ||
	    rule->reserved || rule->saved >> ARGTRACE_USER_SAVED ||
	    rule->by_frame & ~rule->saved)
		return false;
	for (i = count_offsets(rule); i < ARRAY_SIZE(rule->at); i++) {
		if (rule->at[i] && (i >= ARGTRACE_USER_SAVED || !(rule->saved & BIT(i))))
			return false;
	}
	return true;
}

static bool rules_are_valid(const struct argtrace_unwind_table *table, u32 nr_rules)
{
	u32 i;

	for (i = 0; i < nr_rules; i++) {
		if (!rule_is_valid(&table->rules[i]))
			return false;
		if (!(i % 4096))
			cond_resched();
	}
	return true;
}

static bool rows_are_valid(const struct argtrace_unwind_table *table, u32 nr_rules)
{
	u32 i;

	for (i = 0; i < table->nr_rows; i++) {
		const struct argtrace_unwind_row *row = &table->rows[i];

		if (i && row->offset <= row[-1].offset)
			return false;
		if (row->rule >= nr_rules && row->rule != ARGTRACE_UNWIND_NONE)
			return false;
		if (!(i % 4096))
			cond_resched();
	}
	return true;
}

static void fill_buckets(struct argtrace_unwind_table *table)
{
	u32 bucket, row = 0;

	for (bucket = 0; bucket <= table->nr_buckets; bucket++) {
		const u64 begin = table->begin + ((u64)bucket << ARGTRACE_UNWIND_BUCKET_SHIFT);

		while (row < table->nr_rows && table->rows[row].offset < begin)
			row++;
		table->buckets[bucket] = row;
		if (!(bucket % 4096))
			cond_resched();
	}
}

static int copy_array(void **to, u64 from, u32 count, size_t size)
{
	*to = argtrace_kvmalloc_array(count, size);
	if (!*to)
		return -ENOMEM;
	return copy_from_user(*to, u64_to_user_ptr(from), count * size) ? -EFAULT : 0;
}

/*
 * Charged before anything is allocated; the buckets when it is known how many there are. Without a
 * table stacks end early, without room for mappings they have no names at all.
 */
static int charge_table(struct argtrace_unwind_table *table, u64 bytes)
{
	const int ret = argtrace_memory_charge_optional(bytes);

	if (!ret)
		table->charged += bytes;
	return ret;
}

static int make_buckets(struct argtrace_unwind_table *table)
{
	const u32 last = table->rows[table->nr_rows - 1].offset;
	u64 bytes;
	int ret;

	table->begin = round_down(table->rows[0].offset, 1u << ARGTRACE_UNWIND_BUCKET_SHIFT);
	table->nr_buckets = ((last - table->begin) >> ARGTRACE_UNWIND_BUCKET_SHIFT) + 1;
	bytes = (table->nr_buckets + 1ull) * sizeof(*table->buckets);
	ret = charge_table(table, argtrace_kvmalloc_size(bytes));
	if (ret)
		return ret;
	table->buckets = argtrace_kvmalloc_array(table->nr_buckets + 1, sizeof(*table->buckets));
	if (!table->buckets)
		return -ENOMEM;
	fill_buckets(table);
	return 0;
}

static int fill_table(struct argtrace_unwind_table *table, const struct argtrace_unwind *from)
{
	int ret;

	if (!from->nr_rows)
		return from->nr_rules ? -EINVAL : 0;
	ret = copy_array((void **)&table->rows, from->rows, from->nr_rows, sizeof(*table->rows));
	if (!ret && from->nr_rules)
		ret = copy_array((void **)&table->rules, from->rules, from->nr_rules,
				 sizeof(*table->rules));
	if (ret)
		return ret;
	table->nr_rows = from->nr_rows;
	if (!rules_are_valid(table, from->nr_rules) || !rows_are_valid(table, from->nr_rules))
		return -EINVAL;
	return make_buckets(table);
}

struct argtrace_unwind_table *argtrace_unwind_create(const struct argtrace_unwind *from)
{
	struct argtrace_unwind_table *table;
	int ret;

	if (from->nr_rows > ARGTRACE_UNWIND_ROWS_MAX || from->nr_rules > ARGTRACE_UNWIND_RULES_MAX)
		return ERR_PTR(-E2BIG);
	table = kzalloc(sizeof(*table), ARGTRACE_GFP);
	if (!table)
		return ERR_PTR(-ENOMEM);
	ret = charge_table(table, argtrace_kvmalloc_size(from->nr_rows * sizeof(*table->rows)) +
			    argtrace_kvmalloc_size(from->nr_rules * sizeof(*table->rules)));
	if (!ret)
		ret = fill_table(table, from);
	if (!ret)
		return table;
	argtrace_unwind_free(table);
	return ERR_PTR(ret);
}

void argtrace_unwind_free(struct argtrace_unwind_table *table)
{
	if (!table)
		return;
	kvfree(table->buckets);
	kvfree(table->rows);
	kvfree(table->rules);
	argtrace_memory_uncharge(table->charged);
	kfree(table);
}
