// SPDX-License-Identifier: GPL-2.0-only
#include "base/compat.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "read/text.h"
#include "sink/map.h"
#include "call/aggregate.h"

static void count_result(struct argtrace_plan *plan, enum argtrace_map_result result)
{
	switch (result) {
	case ARGTRACE_MAP_ADDED:
		argtrace_count_here(plan->counters, records);
		break;
	case ARGTRACE_MAP_FULL:
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_FULL]);
		break;
	case ARGTRACE_MAP_NO_SLOTS:
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_NO_BUFFER]);
		break;
	}
}

/* Adds a call whose key and value, up to `end`, `run` has computed. */
static __always_inline void add_key(struct argtrace_plan *plan, const struct argtrace_run *run,
				    u64 *words, const u64 *end)
{
	const struct argtrace_map_set *map = plan->code->map;
	u64 value = 0;
	bool value_unreadable = false;

	if (map->has_value) {
		value = end[-1];
		value_unreadable = run->unreadable & run->last;
	}
	if (run->unreadable)
		argtrace_count_here(plan->counters, faults);
	count_result(plan, argtrace_map_add(map, words, value, value_unreadable));
}

/* Within argtrace_scratch_enter(). `run` is the state that the program runs with. */
static __always_inline void aggregate(struct argtrace_plan *plan, struct argtrace_run *run,
				      const bool returns)
{
	/* The key and the value, which the bucket's word replaces. */
	u64 words[ARGTRACE_MAP_WORDS] argtrace_uninitialized;
	u64 *end;

	if (plan->code->outputs == ARGTRACE_OUTPUTS_COUNT)
		return count_result(plan, ARGTRACE_MAP_ADDED);
	end = returns ? argtrace_run_return_key(run, words) : argtrace_run_key(run, words);
	add_key(plan, run, words, end);
}

/* Computes a word of a key, or a value, without loads. */
static __always_inline u64 word_of(const struct argtrace_op *op, const struct argtrace_regs *fregs)
{
	if (op->kind == ARGTRACE_OP_REG)
		return argtrace_op_reg(op, fregs) & op->mask;
	if (op->kind == ARGTRACE_OP_TASK)
		return argtrace_op_task(op) & op->mask;
	if (op->kind == ARGTRACE_OP_REG_INT)
		return (s64)(s32)argtrace_op_reg(op, fregs);
	if (op->kind == ARGTRACE_OP_TASK_INT)
		return argtrace_op_task_int(op);
	return op->span;
}

/* Clears what may follow the end of the name while it changes, as ARGTRACE_DO_STR does. */
static __always_inline void cut_name(u64 *first, u64 *second)
{
	const u64 zeros_of_first = argtrace_zero_bytes(*first),
		  zeros_of_second = argtrace_zero_bytes(*second);

	if (zeros_of_first) {
		*first &= (1ull << (__ffs64(zeros_of_first) & ~7)) - 1;
		*second = 0;
	} else if (zeros_of_second) {
		*second &= (1ull << (__ffs64(zeros_of_second) & ~7)) - 1;
	}
}

/* The key is not at its home: two words of it at most, the value, and no bucket. */
static noinline void add_elsewhere(struct argtrace_plan *plan, u64 first, u64 second, u64 value)
{
	u64 words[3] = { first, second };

	count_result(plan, argtrace_map_add(plan->code->map, words, value, false));
}

/*
 * Adds a call whose key has two words at most. They are not in an array, for which the compiler
 * would add a stack guard.
 */
static __always_inline void add_at_home(struct argtrace_plan *plan, u64 first, u64 second,
					u64 value)
{
	const struct argtrace_map_set *map = plan->code->map;
	const struct argtrace_map_cpu *cpu = this_cpu_ptr(map->cpus);
	const bool has_value = map->has_value, has_buckets = map->buckets.kind,
		   is_signed = map->buckets.is_signed;
	const u32 words = map->key_words;
	u64 hash = 0, bucket = 0;
	struct argtrace_map_slot *slot;
	const u64 *key;

	if (words)
		hash = argtrace_map_hash(hash, first);
	if (words == 2)
		hash = argtrace_map_hash(hash, second);
	if (has_buckets) {
		bucket = argtrace_bucket(&map->buckets, value);
		hash = words ? argtrace_map_hash(hash, bucket) :
			       argtrace_map_hash_bucket(cpu, bucket);
	}
	slot = argtrace_map_home(cpu, hash);
	key = argtrace_map_key(slot, has_value);
	if (unlikely(READ_ONCE(slot->tag) != argtrace_map_tag(hash)) ||
	    (words && unlikely(key[0] != first)) || (words == 2 && unlikely(key[1] != second)) ||
	    (has_buckets && unlikely(key[words] != bucket)))
		return add_elsewhere(plan, first, second, value);
	if (has_value) {
		if (unlikely(argtrace_map_is_lower(value, slot->min, is_signed)) ||
		    unlikely(argtrace_map_is_lower(slot->max, value, is_signed)))
			argtrace_map_extend(slot, value, is_signed);
		argtrace_map_sum(map, slot, value, is_signed);
	}
	argtrace_map_count_call(slot);
	argtrace_count_here(plan->counters, records);
}

/* ARGTRACE_OUTPUTS_WORDS: no read can fail. */
static void add_words(struct argtrace_plan *plan, const struct argtrace_regs *fregs)
{
	const struct argtrace_code *code = plan->code;
	const struct argtrace_map_set *map = code->map;
	const struct argtrace_op *op = code->values;
	u64 first = 0, second = 0, value = 0;

	if (map->key_words && op->action == ARGTRACE_DO_STR) {
		first = ((const u64 *)current->comm)[0];
		second = ((const u64 *)current->comm)[1];
		cut_name(&first, &second);
		op++;
	} else {
		if (map->key_words)
			first = word_of(op++, fregs);
		if (map->key_words == 2)
			second = word_of(op++, fregs);
	}
	if (map->has_value)
		value = word_of(op, fregs);
	add_at_home(plan, first, second, value);
}

void argtrace_aggregate_words(struct argtrace_plan *plan, const struct argtrace_regs *fregs)
{
	add_words(plan, fregs);
	preempt_enable_notrace();
}

/* ARGTRACE_OUTPUTS_STACK_KEY: the key is 0 if there is no stack, as if it could not be read. */
static __always_inline void add_stack_id(struct argtrace_plan *plan, u64 key)
{
	const struct argtrace_map_cpu *cpu = this_cpu_ptr(plan->code->map->cpus);
	struct argtrace_map_slot *slot = argtrace_map_home(cpu, argtrace_map_hash(0, key));

	if (unlikely(!key))
		argtrace_count_here(plan->counters, faults);
	if (!argtrace_aggregate_has_key(slot, argtrace_map_key(slot, false), key))
		return add_elsewhere(plan, key, 0, 0);
	argtrace_map_count(&slot->count);
	argtrace_count_here(plan->counters, records);
}

void argtrace_aggregate_stack(struct argtrace_plan *plan, const struct argtrace_regs *fregs)
{
	u64 id;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
	} else {
		id = argtrace_stack_of(plan->code, plan->code->values, fregs);
		argtrace_scratch_leave();
		add_stack_id(plan, id);
	}
	preempt_enable_notrace();
}

void argtrace_aggregate_return(struct argtrace_plan *plan, struct argtrace_run *run)
{
	aggregate(plan, run, true);
}

void argtrace_aggregate_entry(struct argtrace_plan *plan, unsigned long parent_ip,
			      struct ftrace_ops *ops, const struct argtrace_regs *fregs)
{
	struct argtrace_run run argtrace_uninitialized;

	if (plan->code->outputs == ARGTRACE_OUTPUTS_WORDS) {
		add_words(plan, fregs);
	} else if (argtrace_code_sink(plan->code)->kind == ARGTRACE_OP_ADD_STACK) {
		return argtrace_aggregate_stack(plan, fregs);
	} else if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
	} else if (plan->code->outputs == ARGTRACE_OUTPUTS_STACK_KEY) {
		/* Calls have a sink of their own: this is the tick of a timer. */
		add_stack_id(plan, argtrace_stack_of_tick(plan->code, fregs));
		argtrace_scratch_leave();
	} else {
		run.code = plan->code;
		run.fregs = fregs;
		run.caller = parent_ip;
		aggregate(plan, &run, false);
		argtrace_scratch_leave();
	}
	preempt_enable_notrace();
}

void argtrace_aggregate_gathered(struct argtrace_plan *plan, const struct argtrace_run *run,
				 u64 *words, const u64 *end)
{
	add_key(plan, run, words, end);
	argtrace_scratch_leave();
	preempt_enable_notrace();
}

void argtrace_aggregate_elsewhere(struct argtrace_plan *plan, u64 first, u64 second, u64 value)
{
	/* A key of two words is a name. */
	if (plan->code->map->key_words == 2)
		cut_name(&first, &second);
	add_elsewhere(plan, first, second, value);
	preempt_enable_notrace();
}

void argtrace_aggregate_carry(struct argtrace_plan *plan, struct argtrace_map_slot *slot, u64 value)
{
	argtrace_map_carry(plan->code->map, slot, value);
	argtrace_map_count_call(slot);
	argtrace_aggregate_count(plan);
}

void argtrace_aggregate_extreme(struct argtrace_plan *plan, struct argtrace_map_slot *slot,
				u64 value)
{
	argtrace_map_extend(slot, value, false);
	argtrace_map_sum(plan->code->map, slot, value, false);
	argtrace_map_count_call(slot);
	argtrace_aggregate_count(plan);
}
