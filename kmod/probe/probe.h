/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_PROBE_H
#define ARGTRACE_PROBE_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <uapi/argtrace.h>

#include "compat.h"
#include "lane.h"
#include "recursion.h"

static __always_inline u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index)
{
	return ftrace_regs_get_argument((struct ftrace_regs *)regs, index);
}

/* What lies in the page of the stack pointer can be read; only what is said to lie behind may not. */
#define ARGTRACE_STACK_PAGE	((s32)PAGE_SIZE)

static __always_inline const u8 *argtrace_stack(const struct ftrace_regs *regs)
{
	return (const u8 *)ftrace_regs_get_stack_pointer((struct ftrace_regs *)regs);
}

static __always_inline s32 argtrace_stack_place(const struct ftrace_regs *regs)
{
	return (s32)offset_in_page(argtrace_stack(regs));
}

/*
 * A descriptor may point between the variables of a caller, where KASAN has nobody look. Where it does not look
 * an instruction is saved: the address of a volatile access is not made a part of it.
 */
static __always_inline u64 argtrace_read_stack(const u8 *at)
{
	const unsigned long *word = (const unsigned long *)at;

	return IS_ENABLED(CONFIG_KASAN) ? READ_ONCE_NOCHECK(*word) : *word;
}

/*
 * In words: __get_kernel_nofault() is one load with an entry in the exception table. Under the
 * guard, as the handler of a fault can be traced; within it all reads as zero.
 */
static inline void argtrace_fetch_stack(const struct ftrace_regs *regs, unsigned int offset,
					u8 *to, unsigned int size)
{
	unsigned long from = ftrace_regs_get_stack_pointer((struct ftrace_regs *)regs) + offset;
	bool guarded = argtrace_recursion_enter();
	unsigned int i = 0, part;
	u64 word;

	if (!guarded)
		goto unreadable;
	/* An argument begins at a word, and so its last one is read whole. */
	for (; i < size; i += part) {
		part = min_t(unsigned int, size - i, sizeof(word));
		__get_kernel_nofault(&word, (u64 *)(from + i), u64, unreadable);
		__builtin_memcpy(to + i, &word, part);
	}
unreadable:
	for (; i < size; i++)
		to[i] = 0;
	if (guarded)
		argtrace_recursion_leave();
}

#include "sink/encode.h"
#include "probe/counters.h"

#define ARGTRACE_MAX_ARGS	64
#define ARGTRACE_MAX_STRINGS	8192
#define ARGTRACE_MAX_TYPES	(64u << 10)
#define ARGTRACE_MAX_PROBES	(1u << 18)

/* A probe, prepared: what can be decided when it is added has been decided. */
struct argtrace_plan {
	/* What a call needs, in one cache line. */
	struct argtrace_counters __percpu *counters; /* NULL before it is armed */
	u32 id;
	u32 record_size;		/* fixed: all arguments have a fixed size */
	struct argtrace_layout layout;	/* named encoding: all are steps */

	const char *strings;		/* in schema */

	unsigned long addr;		/* of the symbol */
	struct argtrace_plan *succeeds;	/* removed probe of the same function elsewhere, whose id it takes; NULL */
	enum argtrace_lane_kind lane;	/* for life */
	struct argtrace_counters_block *counters_block;
	bool removed;			/* no longer traced, kept for its records */
	struct argtrace_counters before; /* of earlier lives: counts no more */
	u64 charged;
	struct argtrace_probe *schema;	/* the entry as it was added, with its id */
};

/* What the session settles for its probes. */
struct argtrace_plan_format {
	u32 format;			/* ARGTRACE_FORMAT_* */
	u32 max_record;			/* bytes; a larger one does not fit a packet */
};

/*
 * Reads one struct argtrace_probe from user space, validates it and prepares it.
 * *length is what is left of the caller's buffer, and is reduced by the entry.
 * ERR_PTR: -EFAULT, -EINVAL, -E2BIG, -ENOMEM, -ENOSPC. The caller owns the plan.
 */
struct argtrace_plan *argtrace_plan_create(const void __user *entry, u64 *length,
					   const struct argtrace_plan_format *format);
void argtrace_plan_free(struct argtrace_plan *plan);

/*
 * What plans need to be armed. 0 or an error, with which some may have it: to be freed is as ever. This,
 * and freeing them, is serialised by the caller.
 */
int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count);

/*
 * A plan for a function whose address is not known yet: it is 0. Not to be armed, but
 * made into plans that are.
 */
struct argtrace_plan *argtrace_plan_create_template(const void __user *entry, u64 *length,
						    const struct argtrace_plan_format *format);
struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr);

/* Whether two probes have the same schema but for the address, so that one can stand for the other. */
bool argtrace_plan_same_schema(const struct argtrace_plan *a, const struct argtrace_plan *b);

/* Begins a new life: what it had counted at some moment, in all its lives, counts no more. */
void argtrace_plan_count_from(struct argtrace_plan *plan, const struct argtrace_counters *counted);

/* The counts of this life. */
void argtrace_plan_counts(const struct argtrace_plan *plan, struct argtrace_counts *counts);

#endif
