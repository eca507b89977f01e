// SPDX-License-Identifier: GPL-2.0-only
#include <linux/align.h>
#include <linux/err.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "base/hook.h"
#include "base/memory.h"
#include "probe/probe.h"

static bool size_is_valid(const struct argtrace_arg *arg)
{
	if (arg->type == ARGTRACE_TYPE_BYTES)
		return arg->size && arg->size <= ARGTRACE_BYTES_MAX;
	/* Only a program yields the number of a stack. */
	return arg->size && arg->size == argtrace_type_size(arg->type) &&
	       arg->type != ARGTRACE_TYPE_STACK;
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
	case ARGTRACE_LOC_RETURN:
		return size_is_valid(arg) && arg->size <= 16 && !arg->index && !arg->offset;
	case ARGTRACE_LOC_PROGRAM:
		/* The program determines its size. */
		return !arg->index && !arg->offset;
	case ARGTRACE_LOC_STACK:
		return size_is_valid(arg) && !arg->index &&
		       arg->offset >= ARGTRACE_FIRST_STACK_WORD &&
		       IS_ALIGNED(arg->offset, 8) && arg->offset < ARGTRACE_STACK_MAX &&
		       arg->size <= ARGTRACE_STACK_MAX - arg->offset;
	default:
		return false;
	}
}

static bool arg_is_valid(const struct argtrace_arg *arg, const char *strings, u32 strings_len)
{
	const char *name;

	if (arg->flags)
		return false;
	if (arg->name >= strings_len || arg->type_name >= strings_len)
		return false;
	/* An empty name would close a named record, and the length must fit a byte. */
	name = strings + array_index_nospec(arg->name, strings_len);
	if (!name[0] || strlen(name) >= U8_MAX)
		return false;
	return place_is_valid(arg);
}

static bool flags_are_valid(u32 flags)
{
	const u32 known = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS_MASK |
			  ARGTRACE_PROBE_BY_KERNEL | ARGTRACE_PROBE_BY_REASON_MASK |
			  ARGTRACE_PROBE_RETURNS_MASK | ARGTRACE_PROBE_NEVER_RETURNS |
			  ARGTRACE_PROBE_LOOPS | ARGTRACE_PROBE_GOROUTINES | ARGTRACE_PROBE_WAITS |
			  ARGTRACE_PROBE_IN_MEMORY;
	const u32 words = flags & ARGTRACE_PROBE_WORDS_MASK, by = flags & ARGTRACE_PROBE_BY_KERNEL,
		  reason = flags & ARGTRACE_PROBE_BY_REASON_MASK;

	if (!(flags & ARGTRACE_PROBE_RETURN))
		return !(flags & ~ARGTRACE_PROBE_WAITS);
	if (by == ARGTRACE_PROBE_BY_KERNEL || (!by && reason) ||
	    reason >= ARGTRACE_PROBE_BY_REASON(ARGTRACE_BY_REASONS))
		return false;
	return !(flags & ~known) && words >= ARGTRACE_PROBE_WORDS(0) &&
	       words <= ARGTRACE_PROBE_WORDS(ARGTRACE_RETURN_WORDS_MAX);
}

/* Checks the header before anything is allocated for it. */
static bool header_is_valid(const struct argtrace_probe *header, bool has_addr)
{
	if (header->id || !flags_are_valid(header->flags) || !header->addr == has_addr)
		return false;
	if (header->kind > ARGTRACE_KIND_USER || !IS_ALIGNED(header->program, 8))
		return false;
	/* Only functions and tracepoints of modules can be deferred. */
	if (!has_addr &&
	    ((header->kind != ARGTRACE_KIND_ENTRY && header->kind != ARGTRACE_KIND_TRACEPOINT) ||
	     header->flags & ARGTRACE_PROBE_BY_KERNEL))
		return false;
	if (header->kind != ARGTRACE_KIND_ENTRY && header->flags & ARGTRACE_PROBE_BY_KERNEL)
		return false;
	if ((header->kind == ARGTRACE_KIND_TRACEPOINT || header->kind == ARGTRACE_KIND_TIMER) &&
	    header->flags & ARGTRACE_PROBE_RETURN)
		return false;
	if (header->flags & ARGTRACE_PROBE_WAITS &&
	    (header->kind != ARGTRACE_KIND_SYSCALL || !header->program))
		return false;
	if (header->kind != ARGTRACE_KIND_USER &&
	    header->flags & (ARGTRACE_PROBE_RETURNS_MASK | ARGTRACE_PROBE_NEVER_RETURNS |
			     ARGTRACE_PROBE_LOOPS | ARGTRACE_PROBE_GOROUTINES))
		return false;
	if (header->flags & ARGTRACE_PROBE_NEVER_RETURNS && argtrace_schema_nr_returns(header))
		return false;
	/* The kernel's uretprobe would end a program that moves its stacks. */
	if (header->flags & ARGTRACE_PROBE_GOROUTINES && argtrace_schema_is_by_uretprobe(header))
		return false;
	if ((header->kind == ARGTRACE_KIND_SYSCALL || header->kind == ARGTRACE_KIND_USER) &&
	    (header->flags & ARGTRACE_PROBE_WORDS_MASK) > ARGTRACE_PROBE_WORDS(0))
		return false;
	if (header->flags & ARGTRACE_PROBE_IN_MEMORY &&
	    (!ARGTRACE_RESULT_HAS_REGISTER || header->flags & ARGTRACE_PROBE_GOROUTINES ||
	     header->kind == ARGTRACE_KIND_SYSCALL))
		return false;
	if (header->nr_args > ARGTRACE_MAX_ARGS)
		return false;
	if (!header->strings || header->strings > ARGTRACE_MAX_STRINGS)
		return false;
	if (header->types > ARGTRACE_MAX_TYPES)
		return false;
	return header->size == ALIGN(sizeof(*header) +
				     header->nr_args * sizeof(struct argtrace_arg) +
				     header->strings + header->types, 8) + header->program +
			       argtrace_schema_returns_size(header);
}

/* Whether a call needs only registers. */
static bool is_in_registers(const struct argtrace_probe *schema)
{
	u32 i;

	for (i = 0; i < schema->nr_args; i++) {
		if (argtrace_schema_args(schema)[i].loc == ARGTRACE_LOC_STACK)
			return false;
	}
	return true;
}

static bool schema_is_valid(const struct argtrace_probe *schema)
{
	const char *strings = argtrace_schema_strings(schema);
	const char *padding = strings + schema->strings + schema->types;
	const s32 *returned_at = argtrace_schema_returns(schema);
	const u32 nr_returns = argtrace_schema_nr_returns(schema);
	bool returns = schema->flags & ARGTRACE_PROBE_RETURN;
	u32 i;

	/* The last byte ends the last string; the first string is the function's name. */
	if (strings[schema->strings - 1] || !strings[0])
		return false;
	/* Neither has a stack of the kernel's. */
	if ((schema->kind == ARGTRACE_KIND_SYSCALL || schema->kind == ARGTRACE_KIND_USER) &&
	    !is_in_registers(schema))
		return false;
	if (memchr_inv(padding, 0, (const char *)returned_at - schema->program - padding) ||
	    memchr_inv(returned_at + nr_returns, 0,
		       argtrace_schema_returns_size(schema) - nr_returns * sizeof(*returned_at)))
		return false;
	for (i = 0; i < schema->nr_args; i++) {
		if (argtrace_schema_args(schema)[i].loc == ARGTRACE_LOC_PROGRAM && !schema->program)
			return false;
		/* A tick has no arguments, and its stack pointer may point to anything. */
		if (schema->kind == ARGTRACE_KIND_TIMER &&
		    argtrace_schema_args(schema)[i].loc != ARGTRACE_LOC_PROGRAM &&
		    argtrace_schema_args(schema)[i].loc != ARGTRACE_LOC_NONE)
			return false;
		if (!arg_is_valid(&argtrace_schema_args(schema)[i], strings, schema->strings))
			return false;
		/* There is at most one return value. */
		if (argtrace_schema_args(schema)[i].loc != ARGTRACE_LOC_RETURN)
			continue;
		/* What a function of Go returns is the program's to find. */
		if (!returns || schema->flags & ARGTRACE_PROBE_GOROUTINES)
			return false;
		returns = false;
	}
	return true;
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
	plan = argtrace_plan_alloc(&header, format->rules_of ? format->rules_of(&header) : NULL);
	if (IS_ERR(plan))
		return plan;

	ret = -EFAULT;
	ARGTRACE_HOOK(PROBE_READ);
	if (copy_from_user(plan->schema, entry, header.size))
		goto err;
	ret = -EINVAL;
	/* User space may have changed it since the header was checked. */
	if (memcmp(plan->schema, &header, sizeof(header)) || !schema_is_valid(plan->schema))
		goto err;
	ret = -EPERM;
	if (format->registers_only &&
	    (header.kind == ARGTRACE_KIND_USER || !is_in_registers(plan->schema)))
		goto err;
	ret = argtrace_plan_prepare(plan, format);
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
