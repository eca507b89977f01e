/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that can be decided when a probe is added, so that a call only has to execute it. */
#ifndef ARGTRACE_PLAN_H
#define ARGTRACE_PLAN_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "lane.h"
#include "program/program.h"
#include "probe/counters.h"
#include "sink/layout.h"
#include "source/returns/returns.h"

/* A prepared probe. */
struct argtrace_plan {
	/* What a call needs, in one cache line. */
	struct argtrace_counters *counters; /* NULL until it is armed; see argtrace_counters_here() */
	union {
		struct {
			u32 id;
			u32 record_size; /* fixed: all arguments have a fixed size */
		};
		u64 head;		/* the probe's part of a record's header: see struct argtrace_record */
	};
	struct argtrace_layout layout;	/* named encoding: all are steps */
	struct argtrace_code *code;	/* the program; NULL: none */
	const struct argtrace_op *start; /* code->start */

	struct argtrace_return *returns; /* NULL: calls are recorded at entry */

	const char *strings;		/* in schema */

	unsigned long addr;		/* where it is: see enum argtrace_kind */
	u16 kind;			/* enum argtrace_kind */
	struct argtrace_plan *succeeds;	/* the removed probe of the same function at another address, whose id it takes, or NULL */
	struct argtrace_plan *successor; /* the new plan that succeeds this one, until it is added or freed; NULL: none */
	enum argtrace_lane_kind lane;	/* for life */
	struct argtrace_counters_block *counters_block;
	struct argtrace_counters *sampling;	/* its `records` count the calls that sampling leaves out; NULL: none */
	struct argtrace_counters_block *sampling_block;
	bool removed;			/* no longer traced, kept for its records */
	bool unloaded;			/* removed with its code: when that is loaded again, it goes on counting */
	struct argtrace_counters before; /* counts of earlier lives, which are subtracted */
	u64 charged;
	struct argtrace_probe *schema;	/* the entry as it was added, with its id */
};

/*
 * `head` is copied into the record in one piece: the id, the size (below 64 KiB), and above it the context and preempt
 * fields of a call in plain context, which are 0.
 */
static_assert(offsetof(struct argtrace_plan, record_size) - offsetof(struct argtrace_plan, head) ==
	      offsetof(struct argtrace_record, size) - offsetof(struct argtrace_record, id));
static_assert(sizeof_field(struct argtrace_plan, head) ==
	      sizeof(struct argtrace_record) - offsetof(struct argtrace_record, id));

/* What the session determines for its probes. */
struct argtrace_plan_format {
	u32 format;			/* ARGTRACE_FORMAT_* */
	u32 max_record;			/* in bytes; a larger record does not fit a packet */
	bool registers_only;		/* the caller may not read memory */
	const struct argtrace_stack_set *stacks; /* of the session, or NULL */
	bool (*may_follow)(void);	/* whether the caller may have calls followed; asked only if needed, as lockdown logs refusals */
	struct argtrace_map_set *const *maps;	/* ARGTRACE_MAPS_MAX, by id; NULL: none */
	u64 *cost;			/* set to that of a program that may cost too much; or NULL */
};

static inline const struct argtrace_arg *argtrace_schema_args(const struct argtrace_probe *schema)
{
	return (const void *)(schema + 1);
}

static inline const char *argtrace_schema_strings(const struct argtrace_probe *schema)
{
	return (const char *)(argtrace_schema_args(schema) + schema->nr_args);
}

/* Only where schema->program is not 0. */
static inline const struct argtrace_program *argtrace_schema_program(const struct argtrace_probe *schema)
{
	return (const void *)((const u8 *)schema + schema->size - schema->program);
}

/* Allocates a plan, with room in plan->schema for the schema that `header` begins. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_plan *argtrace_plan_alloc(const struct argtrace_probe *header);

/*
 * Prepares a plan for the session's format. Its schema has been validated, except for the program. 0, -EINVAL, -E2BIG,
 * -EPERM.
 */
int argtrace_plan_prepare(struct argtrace_plan *plan, const struct argtrace_plan_format *format);

void argtrace_plan_free(struct argtrace_plan *plan);

/*
 * Gives plans the counters that they need to be armed. 0 or an error. On error some plans may already have
 * counters; free them all as usual. This, and freeing them, is serialised by the caller.
 */
int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count);

/* A plan that has not been added yet is to take the place of a removed one, unless another does: one of both is freed. */
void argtrace_plan_succeed(struct argtrace_plan *plan, struct argtrace_plan *removed);

/* Copies a template, for a function at that address. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr);

/* Whether two probes have the same schema except for the address, so that one can replace the other. */
bool argtrace_plan_same_schema(const struct argtrace_plan *a, const struct argtrace_plan *b);

/* The counts of all lives of a plan. */
struct argtrace_counted {
	struct argtrace_counters outcomes;
	struct argtrace_return_counters following;
	u64 missed;			/* by the kernel, if that follows its calls */
};
struct argtrace_counted argtrace_plan_counted(const struct argtrace_plan *plan);

/* Begins a new life, in which these earlier counts are subtracted. */
void argtrace_plan_count_from(struct argtrace_plan *plan, const struct argtrace_counted *counted);

/* A new plan goes on with the counts of its predecessor, which no callback uses any more. */
void argtrace_plan_inherit(struct argtrace_plan *plan, const struct argtrace_plan *predecessor);

/* The counts of this life. */
void argtrace_plan_counts(const struct argtrace_plan *plan, struct argtrace_counts *counts);
/* The same for a plan whose calls are followed. */
void argtrace_plan_return_counts(const struct argtrace_plan *plan, struct argtrace_return_counts *counts);
/* How many calls of such a plan, in all its lives, have been entered and have not ended. */
u64 argtrace_plan_in_flight(const struct argtrace_plan *plan);

#endif
