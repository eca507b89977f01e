// SPDX-License-Identifier: GPL-2.0-only
#include <linux/align.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "hook.h"
#include "memory.h"
#include "probe/probe.h"

static const struct argtrace_arg *schema_args(const struct argtrace_probe *schema)
{
	return (const void *)(schema + 1);
}

static const char *schema_strings(const struct argtrace_probe *schema)
{
	return (const char *)(schema_args(schema) + schema->nr_args);
}

static bool size_is_valid(const struct argtrace_arg *arg)
{
	if (arg->type == ARGTRACE_TYPE_BYTES)
		return arg->size && arg->size <= ARGTRACE_BYTES_MAX;
	return arg->size && arg->size == argtrace_type_size(arg->type);
}

static bool place_is_valid(const struct argtrace_arg *arg)
{
	switch (arg->loc) {
	case ARGTRACE_LOC_NONE:
		return !arg->index && !arg->offset && arg->type == ARGTRACE_TYPE_END && !arg->size;
	case ARGTRACE_LOC_REG:
		return size_is_valid(arg) && arg->size <= 8 && !arg->offset &&
		       arg->index < ARGTRACE_REG_COUNT;
	case ARGTRACE_LOC_REG_PAIR:
		return size_is_valid(arg) && arg->size > 8 && arg->size <= 16 && !arg->offset &&
		       arg->index < ARGTRACE_REG_COUNT - 1;
	case ARGTRACE_LOC_STACK:
		return size_is_valid(arg) && !arg->index && arg->offset &&
		       IS_ALIGNED(arg->offset, 8) && arg->offset < ARGTRACE_STACK_MAX &&
		       arg->size <= ARGTRACE_STACK_MAX - arg->offset;
	default:
		return false;
	}
}

static bool arg_is_valid(const struct argtrace_arg *arg, const char *strings, u32 strings_len)
{
	if (arg->flags)
		return false;
	if (arg->name >= strings_len || arg->type_name >= strings_len)
		return false;
	/* An empty name would close a named record; its length goes into a byte. */
	if (!strings[arg->name] || strlen(strings + arg->name) >= U8_MAX)
		return false;
	return place_is_valid(arg);
}

/* The header, before anything is allocated for what it says. */
static bool header_is_valid(const struct argtrace_probe *header, bool has_addr)
{
	if (header->id || header->flags || !header->addr == has_addr)
		return false;
	if (header->kind != ARGTRACE_KIND_ENTRY || header->program)
		return false;
	if (header->nr_args > ARGTRACE_MAX_ARGS)
		return false;
	if (!header->strings || header->strings > ARGTRACE_MAX_STRINGS)
		return false;
	if (header->types > ARGTRACE_MAX_TYPES)
		return false;
	return header->size == ALIGN(sizeof(*header) +
				     header->nr_args * sizeof(struct argtrace_arg) +
				     header->strings + header->types, 8);
}

static bool schema_is_valid(const struct argtrace_probe *schema)
{
	const char *strings = schema_strings(schema);
	const char *padding = strings + schema->strings + schema->types;
	u32 i;

	/* The last byte ends the last string; the first string is the function's name. */
	if (strings[schema->strings - 1] || !strings[0])
		return false;
	if (memchr_inv(padding, 0, (const char *)schema + schema->size - padding))
		return false;
	for (i = 0; i < schema->nr_args; i++) {
		if (!arg_is_valid(&schema_args(schema)[i], strings, schema->strings))
			return false;
	}
	return true;
}

static u32 prepare_steps(struct argtrace_step *steps, const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = schema_args(schema);
	u32 i, count = 0;

	for (i = 0; i < schema->nr_args; i++) {
		if (args[i].loc == ARGTRACE_LOC_NONE)
			continue;
		steps[count++] = (struct argtrace_step){
			.is_word = args[i].loc == ARGTRACE_LOC_REG &&
				   args[i].type != ARGTRACE_TYPE_BYTES,
			.index = args[i].index,
			.size = args[i].size,
			.type = args[i].type,
			.loc = args[i].loc,
			.offset = args[i].offset,
			.name_length = strlen(schema_strings(schema) + args[i].name) + 1,
			.name = args[i].name,
		};
	}
	return count;
}

/* Behind the schema: the steps, and behind them the words on the stack. */
static struct argtrace_step *plan_steps(struct argtrace_plan *plan)
{
	return (void *)plan->schema + plan->schema->size;
}

static struct argtrace_stack_word *plan_stack(struct argtrace_plan *plan)
{
	return (void *)(plan_steps(plan) + plan->schema->nr_args);
}

static size_t steps_size(const struct argtrace_probe *schema)
{
	return schema->nr_args *
	       (sizeof(struct argtrace_step) + sizeof(struct argtrace_stack_word));
}

/* With room for the schema, which is yet to be filled in, and for the steps. */
static struct argtrace_plan *alloc_plan(const struct argtrace_probe *header)
{
	struct argtrace_plan *plan;
	u64 bytes, charge;
	int ret;

	bytes = sizeof(*plan) + header->size + steps_size(header);
	charge = argtrace_kvmalloc_size(bytes);
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ERR_PTR(ret);
	plan = argtrace_kvzalloc(bytes);
	if (!plan) {
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	plan->charged = charge;
	plan->schema = (void *)(plan + 1);
	return plan;
}

/* What follows from the schema and the session's format; 0 or -E2BIG. */
static int prepare_plan(struct argtrace_plan *plan, const struct argtrace_plan_format *format)
{
	bool named = format->format & ARGTRACE_FORMAT_NAMED;
	struct argtrace_step *steps = plan_steps(plan);
	u32 count, record_size = sizeof(struct argtrace_record);

	plan->addr = plan->schema->addr;
	plan->strings = schema_strings(plan->schema);
	count = prepare_steps(steps, plan->schema);
	if (!(format->format & ARGTRACE_FORMAT_NO_CALLER)) {
		plan->layout.caller_at = record_size;
		record_size += sizeof(u64);
	}
	record_size = ALIGN(argtrace_place_steps(steps, count, named, record_size), 8);
	if (record_size > format->max_record)
		return -E2BIG;
	plan->record_size = record_size;
	if (named)
		argtrace_plan_named(&plan->layout, steps, count);
	else
		argtrace_plan_layout(&plan->layout, steps, count, plan_stack(plan), record_size);
	return 0;
}

static struct argtrace_plan *read_plan(const void __user *entry, u64 *length,
				       const struct argtrace_plan_format *format, bool has_addr)
{
	struct argtrace_probe header;
	struct argtrace_plan *plan;
	int ret;

	if (*length < sizeof(header))
		return ERR_PTR(-EINVAL);
	if (copy_from_user(&header, entry, sizeof(header)))
		return ERR_PTR(-EFAULT);
	if (!header_is_valid(&header, has_addr) || header.size > *length)
		return ERR_PTR(-EINVAL);
	plan = alloc_plan(&header);
	if (IS_ERR(plan))
		return plan;

	ret = -EFAULT;
	ARGTRACE_HOOK(PROBE_READ);
	if (copy_from_user(plan->schema, entry, header.size))
		goto err;
	ret = -EINVAL;
	/* User space may have changed it since the header was looked at. */
	if (memcmp(plan->schema, &header, sizeof(header)) || !schema_is_valid(plan->schema))
		goto err;
	ret = prepare_plan(plan, format);
	if (ret)
		goto err;

	*length -= header.size;
	return plan;

err:
	argtrace_plan_free(plan);
	return ERR_PTR(ret);
}

struct argtrace_plan *argtrace_plan_create(const void __user *entry, u64 *length,
					   const struct argtrace_plan_format *format)
{
	return read_plan(entry, length, format, true);
}

struct argtrace_plan *argtrace_plan_create_template(const void __user *entry, u64 *length,
						    const struct argtrace_plan_format *format)
{
	return read_plan(entry, length, format, false);
}

struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr)
{
	struct argtrace_plan *plan = alloc_plan(from->schema);

	if (IS_ERR(plan))
		return plan;
	memcpy(plan->schema, from->schema, from->schema->size + steps_size(from->schema));
	plan->schema->addr = addr;
	plan->addr = addr;
	plan->strings = schema_strings(plan->schema);
	plan->record_size = from->record_size;
	plan->layout = from->layout;
	plan->layout.steps = plan_steps(plan);
	plan->layout.stack = plan_stack(plan);
	plan->layout.stack_end = plan->layout.stack + (from->layout.stack_end - from->layout.stack);
	return plan;
}

int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count)
{
	struct argtrace_counters_block *block;
	u32 first, i;

	for (first = 0; first < count; first += block->users) {
		block = argtrace_counters_block_create(count - first);
		if (IS_ERR(block))
			return PTR_ERR(block);
		for (i = 0; i < block->users; i++) {
			plans[first + i]->counters = block->counters + i;
			plans[first + i]->counters_block = block;
		}
	}
	return 0;
}

void argtrace_plan_free(struct argtrace_plan *plan)
{
	if (IS_ERR_OR_NULL(plan))
		return;
	if (plan->counters)
		argtrace_counters_block_put(plan->counters_block);
	argtrace_memory_uncharge(plan->charged);
	kvfree(plan);
}

bool argtrace_plan_same_schema(const struct argtrace_plan *a, const struct argtrace_plan *b)
{
	/* The fields before it differ: the id, the address, and whether it is removed. */
	size_t from = offsetof(struct argtrace_probe, nr_args);

	return a->schema->size == b->schema->size &&
	       !memcmp((const u8 *)a->schema + from, (const u8 *)b->schema + from,
		       a->schema->size - from);
}

void argtrace_plan_count_from(struct argtrace_plan *plan, const struct argtrace_counters *counted)
{
	plan->before = *counted;
}

void argtrace_plan_counts(const struct argtrace_plan *plan, struct argtrace_counts *counts)
{
	const struct argtrace_counters sum = argtrace_counters_sum(plan->counters);
	const struct argtrace_counters *before = &plan->before;
	int cause;

	*counts = (struct argtrace_counts){
		.id = plan->id,
		.flags = plan->removed ? ARGTRACE_PROBE_REMOVED : 0,
		.records = sum.records - before->records,
		.filtered = sum.filtered - before->filtered,
	};
	for (cause = 0; cause < ARGTRACE_LOST_COUNT; cause++)
		counts->lost[cause] = sum.lost[cause] - before->lost[cause];
}
