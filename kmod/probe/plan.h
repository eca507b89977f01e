/* SPDX-License-Identifier: GPL-2.0-only */
/* Everything that can be decided when a probe is added, so that a call only has to execute it. */
#ifndef ARGTRACE_PLAN_H
#define ARGTRACE_PLAN_H

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/refcount.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "base/schema.h"
#include "program/program.h"
#include "probe/counters.h"
#include "probe/followed.h"
#include "sink/layout.h"

struct argtrace_plan;
struct argtrace_session;

/*
 * What a source does for its plans beyond being attached to their places. Under session->lock, but
 * for prepare(), whose plan nobody else knows yet.
 */
struct argtrace_plan_rules {
	/* bytes behind struct argtrace_return for its own use, which are 0 at first */
	size_t size;
	/* When all else has been prepared; 0, -EINVAL, -E2BIG. */
	int (*prepare)(struct argtrace_plan *plan);
	/* The plan's calls are recorded in the session from now on. */
	void (*start)(struct argtrace_plan *plan, struct argtrace_session *session);
	/* No call that ends from argtrace_synchronize() on is recorded. */
	void (*stop)(struct argtrace_plan *plan);
	/*
	 * Its owner gives the plan up, which its lane does not call. Who still needs it has a
	 * reference.
	 */
	void (*release)(struct argtrace_plan *plan);
	/* The calls that were not shown to us, ever. */
	u64 (*missed)(const struct argtrace_plan *plan);
};

/* The lane that a probe is in: lane.h. */
enum argtrace_lane_kind {
	ARGTRACE_LANE_PLAIN,	/* arguments straight from registers and stack */
	ARGTRACE_LANE_PROGRAM,	/* programs */
	ARGTRACE_LANE_AGGREGATE, /* programs that record nothing: counts and maps */
	ARGTRACE_LANE_RETURN,	/* calls whose return is followed */
	ARGTRACE_LANE_TRACEPOINT, /* tracepoints, with programs and without */
	ARGTRACE_LANE_SYSCALL,	/* system calls, likewise */
	ARGTRACE_LANE_SYSCALL_RETURN, /* those whose return is followed */
	ARGTRACE_LANE_SYSCALL_WAIT, /* those that wait for memory, and are recorded then */
	ARGTRACE_LANE_FALLBACK,	/* calls whose return the kernel follows for us */
	ARGTRACE_LANE_TIMER,	/* ticks, with programs and without */
	ARGTRACE_LANE_USER,	/* instructions of user code, likewise */
	ARGTRACE_LANE_USER_RETURN, /* user functions whose return is followed */
	ARGTRACE_LANES,
};

/* A prepared probe. */
struct argtrace_plan {
	/* What a call needs, in one cache line. */
	/* NULL until it is armed; see argtrace_counters_here() */
	struct argtrace_counters *counters;
	union {
		struct {
			u32 id;
			u32 record_size; /* fixed: all arguments have a fixed size */
		};
		/* the probe's part of a record's header: see struct argtrace_record */
		u64 head;
	};
	struct argtrace_layout layout;	/* named encoding: all are steps */
	struct argtrace_code *code;	/* the program; NULL: none */
	const struct argtrace_op *start; /* code->start */

	/* NULL: calls are recorded at entry, where they do not wait for memory */
	struct argtrace_return *returns;

	const char *strings;		/* in schema */

	unsigned long addr;		/* where it is: see enum argtrace_kind */
	u16 kind;			/* enum argtrace_kind */
	/* the removed probe of the same function at another address, whose id it takes, or NULL */
	struct argtrace_plan *succeeds;
	/* the new plan that succeeds this one, until it is added or freed; NULL: none */
	struct argtrace_plan *successor;
	const struct argtrace_plan_rules *rules; /* NULL: none */
	refcount_t references;		/* of its owner, and while calls may be in flight */
	enum argtrace_lane_kind lane;	/* for life */
	struct argtrace_counters_block *counters_block;
	/* its `records` count the calls that sampling leaves out; NULL: none */
	struct argtrace_counters *sampling;
	struct argtrace_counters_block *sampling_block;
	bool removed;			/* no longer traced, kept for its records */
	/* removed with its code: when that is loaded again, it goes on counting */
	bool unloaded;
	struct argtrace_counters before; /* counts of earlier lives, which are subtracted */
	u64 charged;
	struct argtrace_probe *schema;	/* the entry as it was added, with its id */
};

/*
 * `head` is copied into the record in one piece: the id, the size (below 64 KiB), and above it the
 * context and preempt fields of a call in plain context, which are 0.
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
	struct argtrace_stack_sets stacks;	/* of the session */
	/* The rules of the probe that is described; or NULL: none of them has any. */
	const struct argtrace_plan_rules *(*rules_of)(const struct argtrace_probe *header);
	/*
	 * whether the caller may have calls followed; asked only if needed, as lockdown logs
	 * refusals
	 */
	bool (*may_follow)(void);
	struct argtrace_map_set *const *maps;	/* ARGTRACE_MAPS_MAX, by id; NULL: none */
	/* set to that of a program that may cost too much; or NULL */
	u64 *cost;
};

/*
 * Allocates a plan, with room in plan->schema for the schema that `header` begins. The caller is
 * its owner. ERR_PTR: -ENOMEM, -ENOSPC.
 */
struct argtrace_plan *argtrace_plan_alloc(const struct argtrace_probe *header,
					  const struct argtrace_plan_rules *rules);

/*
 * Prepares a plan for the session's format. Its schema has been validated, except for the program.
 * 0, -EINVAL, -E2BIG, -EPERM.
 */
int argtrace_plan_prepare(struct argtrace_plan *plan, const struct argtrace_plan_format *format);

/* Its owner gives it up. */
void argtrace_plan_free(struct argtrace_plan *plan);

/* For others than the owner. The last one to put it frees its memory. */
static inline void argtrace_plan_get(struct argtrace_plan *plan)
{
	refcount_inc(&plan->references);
}

void argtrace_plan_put(struct argtrace_plan *plan);

/*
 * Gives plans the counters that they need to be armed. 0 or an error. On error some plans may
 * already have counters; free them all as usual. This, and freeing them, is serialised by the
 * caller.
 */
int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count);

/*
 * A plan that has not been added yet is to take the place of a removed one, unless another does:
 * one of both is freed.
 */
void argtrace_plan_succeed(struct argtrace_plan *plan, struct argtrace_plan *removed);

/* Copies a template, for a function at that address. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr);

/*
 * Whether two probes have the same schema except for the address, so that one can replace the
 * other.
 */
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
void argtrace_plan_return_counts(const struct argtrace_plan *plan,
				 struct argtrace_return_counts *counts);
/* How many calls of such a plan, in all its lives, have been entered and have not ended. */
u64 argtrace_plan_in_flight(const struct argtrace_plan *plan);

#endif
