/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call that its probe's filters have accepted, and that is not recorded, but counted or added to
 * a map. The most common forms call no function if the key is in its home slot; the rest is in
 * aggregate.c.
 */
#ifndef ARGTRACE_AGGREGATE_H
#define ARGTRACE_AGGREGATE_H

#include <linux/preempt.h>
#include <linux/sched.h>

#include "program/exec.h"
#include "probe/plan.h"
#include "sink/map.h"

/*
 * Computes the key and value of a call that has returned, adds them to the map, and counts the
 * outcome. Within argtrace_scratch_enter(). `run` is the state that the program runs with.
 */
void argtrace_aggregate_return(struct argtrace_plan *plan, struct argtrace_run *run);

/*
 * Aggregates a call at its entry, in any form. Preemption is off, and is enabled at the end, as in
 * the functions below.
 */
void argtrace_aggregate_entry(struct argtrace_plan *plan, unsigned long parent_ip,
			      struct ftrace_ops *ops, const struct argtrace_regs *fregs);

/*
 * Aggregates a call (ARGTRACE_OUTPUTS_MAP) of which `run` has computed the key and the value, up to
 * `end`. Leaves what argtrace_scratch_enter() has entered.
 */
void argtrace_aggregate_gathered(struct argtrace_plan *plan, const struct argtrace_run *run,
				 u64 *words, const u64 *end);

/* A call whose key is the number of its stack, and that has no value. */
void argtrace_aggregate_stack(struct argtrace_plan *plan, const struct argtrace_regs *fregs);

/* A call whose key and value are words (ARGTRACE_OUTPUTS_WORDS), at its entry or return. */
void argtrace_aggregate_words(struct argtrace_plan *plan, const struct argtrace_regs *fregs);

/* The key is not at its home: two words of it at most, the value, and no bucket. */
void argtrace_aggregate_elsewhere(struct argtrace_plan *plan, u64 first, u64 second, u64 value);

/* The value has been added to the sum of the slot, which has wrapped. */
void argtrace_aggregate_carry(struct argtrace_plan *plan, struct argtrace_map_slot *slot,
			      u64 value);

/* The slot has been found, and the value may be its new minimum or maximum. */
void argtrace_aggregate_extreme(struct argtrace_plan *plan, struct argtrace_map_slot *slot,
				u64 value);

static __always_inline void argtrace_aggregate_count(struct argtrace_plan *plan)
{
	argtrace_count_here(plan->counters, records);
	preempt_enable_notrace();
}

/* Whether the slot at home has the key. */
#define argtrace_aggregate_has_key(slot, key, first) \
	(likely((slot)->tag & ARGTRACE_MAP_FINISHED) && likely((key)[0] == (first)))

/*
 * Adds the call by a quick operation (ARGTRACE_OP_ADD_*), whose kind determines the key: a word,
 * the task's name, or the bucket of the value. Nothing is signed.
 */
static __always_inline void
argtrace_aggregate_quickly(struct argtrace_plan *plan, const struct argtrace_op *op,
			   const struct argtrace_regs *fregs, const enum argtrace_op_kind kind)
{
	const struct argtrace_map_cpu *cpu =
		this_cpu_ptr((struct argtrace_map_cpu __percpu __force *)op->base);
	const bool has_name = kind == ARGTRACE_OP_ADD_NAME || kind == ARGTRACE_OP_ADD_NAME_LOG2 ||
			      kind == ARGTRACE_OP_ADD_NAME_VALUE;
	const bool has_const = kind == ARGTRACE_OP_ADD_CONST_LOG2;
	const bool has_bucket = kind == ARGTRACE_OP_ADD_LOG2 || kind == ARGTRACE_OP_ADD_NAME_LOG2 ||
				has_const;
	const bool has_value = has_bucket || kind == ARGTRACE_OP_ADD_NAME_VALUE;
	u64 first = 0, second = 0, value = 0, bucket = 0, hash;
	struct argtrace_map_slot *slot;
	const u64 *key;

	if (has_value)
		value = argtrace_register_at(fregs, op->width) & op->span;
	if (has_bucket)
		bucket = argtrace_bucket_log2(value, false);
	if (has_name) {
		/*
		 * Aligned, as pointers precede it. Zeros follow its end, except while it changes.
		 */
		first = ((const u64 *)current->comm)[0];
		second = ((const u64 *)current->comm)[1];
	} else if (has_const) {
		first = op->mask;
	} else if (kind == ARGTRACE_OP_ADD_REG) {
		first = argtrace_op_reg(op, fregs) & op->mask;
	} else if (kind == ARGTRACE_OP_ADD_TASK) {
		first = argtrace_op_task(op) & op->mask;
	} else if (kind == ARGTRACE_OP_ADD_TASK_INT) {
		first = argtrace_op_task_int(op);
	}
	hash = argtrace_map_hash(0, first);
	if (has_name)
		hash = argtrace_map_hash(hash, second);
	if ((has_name || has_const) && has_bucket)
		hash = argtrace_map_hash(hash, bucket);
	/* See argtrace_map_hash_bucket(): there are more slots than buckets. */
	slot = kind == ARGTRACE_OP_ADD_LOG2 ? (void *)(cpu->slots + bucket * cpu->slot_size) :
					      argtrace_map_home(cpu, hash);
	key = argtrace_map_key(slot, has_value);
	if (!argtrace_aggregate_has_key(slot, key, kind == ARGTRACE_OP_ADD_LOG2 ? bucket : first) ||
	    (has_name && unlikely(key[1] != second)) ||
	    (has_name && has_bucket && unlikely(key[2] != bucket)) ||
	    (has_const && unlikely(key[1] != bucket)))
		return argtrace_aggregate_elsewhere(plan, first, second, value);
	if (has_value) {
		if (unlikely(value < slot->min) || unlikely(value > slot->max))
			return argtrace_aggregate_extreme(plan, slot, value);
		if (unlikely(argtrace_map_sum_wraps(slot, value, false)))
			return argtrace_aggregate_carry(plan, slot, value);
	}
	argtrace_map_count_call(slot);
	argtrace_aggregate_count(plan);
}

/*
 * Counts a call, or adds it to a map. The order of the cases keeps comparisons few for the usual
 * ones.
 */
static __always_inline void
argtrace_aggregate_call(struct argtrace_plan *plan, const struct argtrace_op *op,
			unsigned long parent_ip, struct ftrace_ops *ops,
			const struct argtrace_regs *fregs)
{
	const u8 kind = op->kind;

	/* The inner cases are all the kinds above LOG2. */
	static_assert(ARGTRACE_OP_ADD_LOG2 - ARGTRACE_OP_COUNT == 5 &&
		      ARGTRACE_OP_ADD_OTHER - ARGTRACE_OP_ADD_LOG2 == 5);
	if (kind == ARGTRACE_OP_ADD_LOG2)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_LOG2);
	if (kind > ARGTRACE_OP_ADD_LOG2) {
		if (kind == ARGTRACE_OP_ADD_NAME_LOG2)
			return argtrace_aggregate_quickly(plan, op, fregs,
							  ARGTRACE_OP_ADD_NAME_LOG2);
		if (kind == ARGTRACE_OP_ADD_NAME_VALUE)
			return argtrace_aggregate_quickly(plan, op, fregs,
							  ARGTRACE_OP_ADD_NAME_VALUE);
		if (kind == ARGTRACE_OP_ADD_CONST_LOG2)
			return argtrace_aggregate_quickly(plan, op, fregs,
							  ARGTRACE_OP_ADD_CONST_LOG2);
		if (kind == ARGTRACE_OP_ADD_STACK)
			return argtrace_aggregate_stack(plan, fregs);
		return argtrace_aggregate_entry(plan, parent_ip, ops, fregs);
	}
	if (kind == ARGTRACE_OP_ADD_TASK_INT)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_TASK_INT);
	if (kind == ARGTRACE_OP_ADD_NAME)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_NAME);
	if (kind == ARGTRACE_OP_COUNT)
		return argtrace_aggregate_count(plan);
	if (kind == ARGTRACE_OP_ADD_TASK)
		return argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_TASK);
	argtrace_aggregate_quickly(plan, op, fregs, ARGTRACE_OP_ADD_REG);
}

/*
 * A call that has returned, whose key and value are words, as argtrace_aggregate_words() does;
 * histograms of durations are usual.
 */
static __always_inline void
argtrace_aggregate_returned(struct argtrace_plan *plan, const struct argtrace_regs *fregs)
{
	const struct argtrace_op *sink = argtrace_code_sink(plan->code);

	if (likely(sink->kind == ARGTRACE_OP_ADD_CONST_LOG2))
		return argtrace_aggregate_quickly(plan, sink, fregs, ARGTRACE_OP_ADD_CONST_LOG2);
	if (sink->kind == ARGTRACE_OP_ADD_LOG2)
		return argtrace_aggregate_quickly(plan, sink, fregs, ARGTRACE_OP_ADD_LOG2);
	if (sink->kind == ARGTRACE_OP_ADD_NAME_LOG2)
		return argtrace_aggregate_quickly(plan, sink, fregs, ARGTRACE_OP_ADD_NAME_LOG2);
	argtrace_aggregate_words(plan, fregs);
}

#endif
