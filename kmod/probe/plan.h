/* SPDX-License-Identifier: GPL-2.0-only */
/* What is decided when a probe is added, so that a call only has to execute it. */
#ifndef ARGTRACE_PLAN_H
#define ARGTRACE_PLAN_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "lane.h"
#include "fetch/program.h"
#include "probe/counters.h"
#include "sink/layout.h"
#include "source/return.h"

/* A probe, prepared: what can be decided when it is added has been decided. */
struct argtrace_plan {
	/* What a call needs, in one cache line. */
	struct argtrace_counters *counters; /* NULL before it is armed; see argtrace_counters_here() */
	union {
		struct {
			u32 id;
			u32 record_size; /* fixed: all arguments have a fixed size */
		};
		u64 head;		/* what a record's header says of the probe: see struct argtrace_record */
	};
	struct argtrace_layout layout;	/* named encoding: all are steps */
	struct argtrace_code *code;	/* the program; NULL: none */
	const struct argtrace_op *start; /* code->start */

	struct argtrace_return *returns; /* NULL: calls are recorded at entry */

	const char *strings;		/* in schema */

	unsigned long addr;		/* where it is: see enum argtrace_kind */
	u16 kind;			/* enum argtrace_kind */
	struct argtrace_plan *succeeds;	/* removed probe of the same function elsewhere, whose id it takes; NULL */
	enum argtrace_lane_kind lane;	/* for life */
	struct argtrace_counters_block *counters_block;
	struct argtrace_counters *sampling;	/* whose `records` say how many calls are left out; NULL: none */
	struct argtrace_counters_block *sampling_block;
	bool removed;			/* no longer traced, kept for its records */
	struct argtrace_counters before; /* of earlier lives: counts no more */
	u64 charged;
	struct argtrace_probe *schema;	/* the entry as it was added, with its id */
};

/*
 * `head` is copied into the record whole: id and size, and above the size, which is less than 64 KiB, the context
 * and preempt of a call in plain context, which are 0.
 */
static_assert(offsetof(struct argtrace_plan, record_size) - offsetof(struct argtrace_plan, head) ==
	      offsetof(struct argtrace_record, size) - offsetof(struct argtrace_record, id));
static_assert(sizeof_field(struct argtrace_plan, head) ==
	      sizeof(struct argtrace_record) - offsetof(struct argtrace_record, id));

/* What the session settles for its probes. */
struct argtrace_plan_format {
	u32 format;			/* ARGTRACE_FORMAT_* */
	u32 max_record;			/* bytes; a larger one does not fit a packet */
	bool registers_only;		/* who adds the probes may not read memory */
	const struct argtrace_stack_set *stacks; /* of the session, or NULL */
	bool (*may_follow)(void);	/* whether they may have calls followed; lockdown tells the log when it is asked in vain */
	struct argtrace_map_set *const *maps;	/* ARGTRACE_MAPS_MAX, by id; NULL: none */
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

/* Room for a plan and for the schema that `header` begins, which is yet to be copied to plan->schema. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_plan *argtrace_plan_alloc(const struct argtrace_probe *header);

/*
 * Prepares a plan whose schema is valid but for its program: what follows from it and the session's format. 0, -EINVAL, -E2BIG,
 * -EPERM.
 */
int argtrace_plan_prepare(struct argtrace_plan *plan, const struct argtrace_plan_format *format);

void argtrace_plan_free(struct argtrace_plan *plan);

/*
 * Gives plans the counters that they need to be armed. 0 or an error. On error some plans may already have
 * counters; free them all as usual. This, and freeing them, is serialised by the caller.
 */
int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count);

/* A plan like a template, for a function at that address. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr);

/* Whether two probes have the same schema but for the address, so that one can stand for the other. */
bool argtrace_plan_same_schema(const struct argtrace_plan *a, const struct argtrace_plan *b);

/* What it has counted in all its lives. */
struct argtrace_counted {
	struct argtrace_counters outcomes;
	struct argtrace_return_counters following;
	u64 missed;			/* by the kernel, which follows its calls */
};
struct argtrace_counted argtrace_plan_counted(const struct argtrace_plan *plan);

/* Begins a new life: what it had counted at some moment counts no more. */
void argtrace_plan_count_from(struct argtrace_plan *plan, const struct argtrace_counted *counted);

/* The counts of this life. */
void argtrace_plan_counts(const struct argtrace_plan *plan, struct argtrace_counts *counts);
/* The same of a plan whose calls are followed. */
void argtrace_plan_return_counts(const struct argtrace_plan *plan, struct argtrace_return_counts *counts);
/* Calls of such a plan that have been entered, in all its lives, and have not left yet. */
u64 argtrace_plan_in_flight(const struct argtrace_plan *plan);

#endif
