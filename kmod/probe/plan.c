// SPDX-License-Identifier: GPL-2.0-only
#include <linux/align.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "base/memory.h"
#include "probe/plan.h"

static u32 prepare_steps(struct argtrace_step *steps, const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = argtrace_schema_args(schema);
	const char *strings = argtrace_schema_strings(schema);
	u32 i, count = 0;

	for (i = 0; i < schema->nr_args; i++) {
		const u16 name = array_index_nospec(args[i].name, schema->strings);

		if (args[i].loc == ARGTRACE_LOC_NONE || args[i].loc == ARGTRACE_LOC_PROGRAM ||
		    args[i].loc == ARGTRACE_LOC_RETURN)
			continue;
		steps[count++] = (struct argtrace_step){
			.is_word = args[i].loc == ARGTRACE_LOC_REG &&
				   args[i].type != ARGTRACE_TYPE_BYTES,
			.index = array_index_nospec(args[i].index, ARGTRACE_REG_COUNT),
			.size = args[i].size,
			.type = args[i].type,
			.loc = args[i].loc,
			.offset = args[i].offset,
			.name_length = strlen(strings + name) + 1,
			.name = name,
		};
	}
	return count;
}

/* The steps follow the schema, and the words on the stack follow the steps. */
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
	return ALIGN(schema->nr_args *
			     (sizeof(struct argtrace_step) + sizeof(struct argtrace_stack_word)),
		     sizeof(u64));
}

static struct argtrace_code *plan_code(struct argtrace_plan *plan)
{
	return (void *)plan_steps(plan) + steps_size(plan->schema);
}

/* The additional room that a plan takes if its calls may go through a trampoline. */
static size_t return_size(const struct argtrace_probe *schema,
			  const struct argtrace_plan_rules *rules)
{
	return schema->flags & (ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WAITS) ?
		       sizeof(struct argtrace_return) + rules->size :
		       0;
}

static struct argtrace_return *plan_return(struct argtrace_plan *plan)
{
	return (void *)plan_code(plan) + argtrace_code_size(plan->schema->program);
}

struct argtrace_plan *argtrace_plan_alloc(const struct argtrace_probe *header,
					  const struct argtrace_plan_rules *rules)
{
	struct argtrace_plan *plan;
	u64 bytes, charge;
	int ret;

	bytes = sizeof(*plan) + header->size + steps_size(header) +
		argtrace_code_size(header->program) + return_size(header, rules);
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
	plan->rules = rules;
	refcount_set(&plan->references, 1);
	plan->schema = (void *)(plan + 1);
	return plan;
}

/*
 * Verifies and prepares the program. Returns the maximum size of a record with the program's
 * outputs, which has `record_size` bytes without them, or an error.
 */
static int prepare_code(struct argtrace_plan *plan, const struct argtrace_plan_format *format,
			u32 record_size)
{
	struct argtrace_code *code = plan_code(plan);
	u64 too_dear = 0;
	int ret;

	if (!plan->schema->program)
		return record_size;
	ret = argtrace_code_prepare(code, plan->schema, format->maps, &format->stacks, &too_dear);
	if (format->cost)
		*format->cost = too_dear;
	if (ret)
		return ret;
	if (format->registers_only && code->reads)
		return -EPERM;
	plan->code = code;
	plan->start = code->start;
	if (code->outputs == ARGTRACE_OUTPUTS_NONE || argtrace_code_aggregates(code))
		return record_size;
	return format->format & ARGTRACE_FORMAT_NAMED ?
		       -EINVAL :
		       record_size + (int)sizeof(u64) + code->output;
}

int argtrace_plan_prepare(struct argtrace_plan *plan, const struct argtrace_plan_format *format)
{
	bool named = format->format & ARGTRACE_FORMAT_NAMED;
	struct argtrace_step *steps = plan_steps(plan);
	u32 count, record_size = sizeof(struct argtrace_record), outputs_at;
	int ret;

	plan->addr = plan->schema->addr;
	plan->kind = plan->schema->kind;
	plan->strings = argtrace_schema_strings(plan->schema);
	count = prepare_steps(steps, plan->schema);
	if (!(format->format & ARGTRACE_FORMAT_NO_CALLER)) {
		plan->layout.caller_at = record_size;
		record_size += sizeof(u64);
	}
	if (plan->schema->flags & ARGTRACE_PROBE_RETURN) {
		if (named)
			return -EINVAL;
		/* Nothing is done to the kernel's stacks for these. */
		if (plan->kind != ARGTRACE_KIND_USER && !format->may_follow())
			return -EPERM;
		plan->returns = plan_return(plan);
		plan->returns->duration_at = record_size;
		record_size += sizeof(u64);
	} else if (plan->schema->flags & ARGTRACE_PROBE_WAITS) {
		if (format->may_follow())
			plan->returns = plan_return(plan);
		else
			plan->rules = NULL;
	}
	outputs_at = argtrace_place_steps(steps, count, named, record_size);
	if (plan->returns)
		outputs_at = argtrace_return_prepare(plan, outputs_at);
	ret = prepare_code(plan, format, outputs_at);
	if (ret < 0)
		return ret;
	record_size = ALIGN(ret, 8);
	if (plan->rules && plan->rules->prepare) {
		ret = plan->rules->prepare(plan);
		if (ret)
			return ret;
	}
	if (record_size > format->max_record)
		return -E2BIG;
	plan->record_size = record_size;
	if (named)
		argtrace_plan_named(&plan->layout, steps, count);
	else
		argtrace_plan_layout(&plan->layout, steps, count, plan_stack(plan), outputs_at,
				     record_size);
	if (plan->code)
		argtrace_code_place(plan->code, outputs_at, !plan->layout.has_rest);
	return 0;
}

struct argtrace_plan *argtrace_plan_create_at(const struct argtrace_plan *from, unsigned long addr)
{
	struct argtrace_plan *plan = argtrace_plan_alloc(from->schema, from->rules);

	if (IS_ERR(plan))
		return plan;
	memcpy(plan->schema, from->schema, from->schema->size + steps_size(from->schema));
	plan->schema->addr = addr;
	plan->addr = addr;
	plan->kind = from->kind;
	plan->strings = argtrace_schema_strings(plan->schema);
	plan->record_size = from->record_size;
	plan->layout = from->layout;
	plan->layout.steps = plan_steps(plan);
	plan->layout.steps_end = plan->layout.steps +
				 (from->layout.steps_end - from->layout.steps);
	plan->layout.stack = plan_stack(plan);
	plan->layout.stack_end = plan->layout.stack + (from->layout.stack_end - from->layout.stack);
	/* Its operations point to each other. */
	if (from->code) {
		plan->code = plan_code(plan);
		WARN_ON_ONCE(argtrace_code_prepare(plan->code, plan->schema, from->code->maps,
						   &from->code->stacks, NULL));
		argtrace_code_place(plan->code, from->code->unreadable_at, !plan->layout.has_rest);
		plan->start = plan->code->start;
	}
	if (from->returns) {
		plan->returns = plan_return(plan);
		plan->returns->duration_at = from->returns->duration_at;
		argtrace_return_prepare(plan, from->returns->value_at);
	}
	return plan;
}

/* Joins *block, or a new block if that is full. */
static int join(struct argtrace_counters_block **block, struct argtrace_counters **counters,
		struct argtrace_counters_block **joined)
{
	if (!*block || !argtrace_counters_block_join(*block, counters)) {
		*block = argtrace_counters_block_create();
		if (IS_ERR(*block))
			return PTR_ERR(*block);
		argtrace_counters_block_join(*block, counters);
	}
	*joined = *block;
	return 0;
}

int argtrace_plans_alloc_counters(struct argtrace_plan **plans, u32 count)
{
	struct argtrace_counters_block *block = NULL;
	u32 i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++) {
		struct argtrace_plan *plan = plans[i];

		ret = join(&block, &plan->counters, &plan->counters_block);
		if (!ret && plan->code && plan->code->sample)
			ret = join(&block, &plan->sampling, &plan->sampling_block);
		if (!ret && plan->returns)
			ret = join(&block, &plan->returns->following,
				   &plan->returns->following_block);
	}
	return ret;
}

void argtrace_plan_succeed(struct argtrace_plan *plan, struct argtrace_plan *removed)
{
	if (removed->successor)
		return;
	removed->successor = plan;
	plan->succeeds = removed;
}

void argtrace_plan_free(struct argtrace_plan *plan)
{
	if (IS_ERR_OR_NULL(plan))
		return;
	if (plan->succeeds)
		plan->succeeds->successor = NULL;
	plan->succeeds = NULL;
	if (plan->rules && plan->returns)
		plan->rules->release(plan);
	argtrace_plan_put(plan);
}

void argtrace_plan_put(struct argtrace_plan *plan)
{
	if (!refcount_dec_and_test(&plan->references))
		return;
	if (plan->counters)
		argtrace_counters_block_leave(plan->counters_block, &plan->counters);
	if (plan->sampling)
		argtrace_counters_block_leave(plan->sampling_block, &plan->sampling);
	if (plan->returns && plan->returns->following)
		argtrace_counters_block_leave(plan->returns->following_block,
					      &plan->returns->following);
	argtrace_memory_uncharge(plan->charged);
	kvfree(plan);
}

/* The flags that user space passes in. */
#define FLAGS_IN                                                                        \
	(ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS_MASK | ARGTRACE_PROBE_BY_KERNEL | \
	 ARGTRACE_PROBE_BY_REASON_MASK | ARGTRACE_PROBE_RETURNS_MASK |                   \
	 ARGTRACE_PROBE_NEVER_RETURNS | ARGTRACE_PROBE_LOOPS | ARGTRACE_PROBE_GOROUTINES | \
	 ARGTRACE_PROBE_WAITS | ARGTRACE_PROBE_IN_MEMORY)

bool argtrace_plan_same_schema(const struct argtrace_plan *a, const struct argtrace_plan *b)
{
	/* The fields before it may differ: the id, the address, and the flag REMOVED. */
	size_t from = offsetof(struct argtrace_probe, nr_args);

	return a->schema->size == b->schema->size &&
	       !((a->schema->flags ^ b->schema->flags) & FLAGS_IN) &&
	       !memcmp((const u8 *)a->schema + from, (const u8 *)b->schema + from,
		       a->schema->size - from);
}

struct argtrace_counted argtrace_plan_counted(const struct argtrace_plan *plan)
{
	struct argtrace_counted counted = { .outcomes = argtrace_counters_sum(&plan->counters) };

	if (plan->returns)
		counted.following = argtrace_return_counters_sum(&plan->returns->following);
	if (plan->rules && plan->rules->missed)
		counted.missed = plan->rules->missed(plan);
	return counted;
}

void argtrace_plan_count_from(struct argtrace_plan *plan, const struct argtrace_counted *counted)
{
	plan->before = counted->outcomes;
	if (plan->returns) {
		plan->returns->before = counted->following;
		plan->returns->missed_before = counted->missed;
	}
}

/* Structures of counters are arrays of them here. */
static void subtract_counters(unsigned long *from, const unsigned long *counters)
{
	size_t i;

	for (i = 0; i < sizeof(struct argtrace_counters) / sizeof(*from); i++)
		from[i] -= counters[i];
}

/* What is to be subtracted is negative: the numbers wrap. */
void argtrace_plan_inherit(struct argtrace_plan *plan, const struct argtrace_plan *predecessor)
{
	const struct argtrace_counted counted = argtrace_plan_counted(predecessor);
	struct argtrace_counted before = { .outcomes = predecessor->before };

	subtract_counters((unsigned long *)&before.outcomes,
			  (const unsigned long *)&counted.outcomes);
	if (plan->returns) {
		before.following = predecessor->returns->before;
		before.missed = predecessor->returns->missed_before - counted.missed;
		subtract_counters((unsigned long *)&before.following,
				  (const unsigned long *)&counted.following);
	}
	argtrace_plan_count_from(plan, &before);
}

static void fill_counts(const struct argtrace_plan *plan, const struct argtrace_counted *counted,
			struct argtrace_counts *counts)
{
	const struct argtrace_counters *sum = &counted->outcomes, *before = &plan->before;
	int cause;

	*counts = (struct argtrace_counts){
		.id = plan->id,
		.flags = plan->removed ? ARGTRACE_PROBE_REMOVED : 0,
		.records = sum->records - before->records,
		.filtered = sum->filtered - before->filtered,
		.sampled = sum->sampled - before->sampled,
		.capped = sum->capped - before->capped,
		.faults = sum->faults - before->faults,
	};
	for (cause = 0; cause < ARGTRACE_LOST_COUNT; cause++)
		counts->lost[cause] = sum->lost[cause] - before->lost[cause];
	if (plan->returns) {
		const struct argtrace_return_counters *entry = &counted->following,
						      *earlier = &plan->returns->before;

		counts->flags |= plan->returns->is_entry ? 0 : ARGTRACE_PROBE_RETURN;
		counts->filtered += entry->filtered - earlier->filtered;
		counts->sampled += entry->sampled - earlier->sampled;
		counts->faults += entry->faults - earlier->faults;
	}
}

void argtrace_plan_counts(const struct argtrace_plan *plan, struct argtrace_counts *counts)
{
	const struct argtrace_counted counted = argtrace_plan_counted(plan);

	fill_counts(plan, &counted, counts);
}

/* How many of the calls that were entered have ended. */
static u64 ended(const struct argtrace_plan *plan, const struct argtrace_counters *outcomes,
		 const struct argtrace_return_counters *following)
{
	u64 sum = outcomes->records + outcomes->filtered + outcomes->sampled + outcomes->capped +
		  following->removed + following->exited +
		  (plan->kind == ARGTRACE_KIND_USER ? following->left : 0);
	int cause;

	for (cause = 0; cause < ARGTRACE_LOST_COUNT; cause++)
		sum += outcomes->lost[cause];
	return sum;
}

/*
 * A call is entered before it ends, and this is read after what has ended, so that the difference
 * is not negative. Processors that reorder stores may show it the other way round for a moment: no
 * call waits for its counters to be seen. When plans leave, argtrace_synchronize() has made all
 * entries visible.
 */
static u64 entered_by(const struct argtrace_plan *plan)
{
	/* Orders the loads of both sums. */
	smp_rmb();
	return argtrace_return_counters_sum(&plan->returns->following).entered;
}

static u64 in_flight(u64 entered, u64 ended)
{
	return entered > ended ? entered - ended : 0;
}

u64 argtrace_plan_in_flight(const struct argtrace_plan *plan)
{
	const struct argtrace_counted counted = argtrace_plan_counted(plan);

	return in_flight(entered_by(plan),
			 ended(plan, &counted.outcomes, &counted.following));
}

/* What is counted as low_stack. */
static enum argtrace_unfollowed why_not_entered(const struct argtrace_plan *plan)
{
	if (plan->kind != ARGTRACE_KIND_USER)
		return ARGTRACE_UNFOLLOWED_STACK;
	return plan->schema->flags & ARGTRACE_PROBE_GOROUTINES ? ARGTRACE_UNFOLLOWED_NO_GOROUTINE :
								 ARGTRACE_UNFOLLOWED_MISSED;
}

void argtrace_plan_return_counts(const struct argtrace_plan *plan,
				 struct argtrace_return_counts *counts)
{
	const struct argtrace_counted counted = argtrace_plan_counted(plan);
	const struct argtrace_return_counters *earlier = &plan->returns->before;
	const struct argtrace_return_counters *following = &counted.following;
	const u64 entered = entered_by(plan);

	*counts = (struct argtrace_return_counts){
		/* A plan is only revived when none of its calls is in flight. */
		.in_flight = in_flight(entered, ended(plan, &counted.outcomes, following)),
		.unfollowed = {
			[ARGTRACE_UNFOLLOWED_REMOVED] = following->removed - earlier->removed,
			[ARGTRACE_UNFOLLOWED_EXITED] = following->exited - earlier->exited,
			[ARGTRACE_UNFOLLOWED_MISSED] =
				counted.missed - plan->returns->missed_before,
		},
	};
	counts->unfollowed[plan->kind == ARGTRACE_KIND_USER ? ARGTRACE_UNFOLLOWED_LEFT :
							      ARGTRACE_UNFOLLOWED_TAKEN] =
		following->taken - earlier->taken;
	counts->unfollowed[why_not_entered(plan)] += following->low_stack - earlier->low_stack;
	fill_counts(plan, &counted, &counts->counts);
}

