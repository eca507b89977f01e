/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What user space has handed over about the unwinding of an object (struct argtrace_unwind in
 * include/uapi/argtrace_user.h). Nothing of it is trusted: rows ascend, rules are what they may
 * be, and whatever they say leads to reads of user memory alone.
 */
#ifndef ARGTRACE_MAPPING_UNWIND_H
#define ARGTRACE_MAPPING_UNWIND_H

#include <linux/list.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

/* Rows are found by the upper bits of the offset first. */
#define ARGTRACE_UNWIND_BUCKET_SHIFT	6

struct argtrace_unwind_table {
	u32 nr_rows;			/* 0: it is known that there is none */
	u32 nr_buckets;
	u32 begin;			/* the first row's offset, without the lower bits */
	u32 *buckets;			/* how many rows begin before it; one more than there are */
	struct argtrace_unwind_row *rows;
	struct argtrace_unwind_rule *rules;
	u64 charged;
	struct list_head idle;		/* of those that are to be freed */
};

/*
 * Copies and verifies the table. ERR_PTR: -EINVAL, -E2BIG, -EFAULT, -ENOMEM, -ENOSPC.
 */
struct argtrace_unwind_table *argtrace_unwind_create(const struct argtrace_unwind *from);
/* When nobody uses it any more. Accepts NULL. */
void argtrace_unwind_free(struct argtrace_unwind_table *table);

/* The rule for the instruction at that offset in the file, or NULL. */
static __always_inline const struct argtrace_unwind_rule *
argtrace_unwind_find(const struct argtrace_unwind_table *table, u64 offset)
{
	const u64 bucket = (offset - table->begin) >> ARGTRACE_UNWIND_BUCKET_SHIFT;
	u32 begin, end, middle, rule;

	/* Also where it is below the first row. */
	if (unlikely(bucket >= table->nr_buckets))
		return NULL;
	/* The row that is wanted is the last one that does not begin behind it. */
	begin = table->buckets[bucket];
	end = table->buckets[bucket + 1];
	while (begin < end) {
		middle = (begin + end) / 2;
		if (table->rows[middle].offset <= offset)
			begin = middle + 1;
		else
			end = middle;
	}
	if (unlikely(!begin))
		return NULL;
	rule = table->rows[begin - 1].rule;
	return unlikely(rule == ARGTRACE_UNWIND_NONE) ? NULL : &table->rules[rule];
}

#endif
