// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verifies what holds a program together: that its parts fill it, that every way through a filter
 * or a value ends where it may, and that the outputs are those that the probe describes.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "base/schema.h"
#include "program/insn.h"
#include "program/verify.h"
#include "sink/map.h"

struct verifier {
	const struct argtrace_verified *program;
	/* The part that is being verified: */
	u32 verdicts_end;		/* its end if it is a filter; 0: it is a value */
	bool returns;			/* it is run when the function returns */
	u16 defined[ARGTRACE_INSNS_MAX + 1]; /* slots that are set on every way to an instruction */
	u16 supplied;			/* slots that may have what user code has supplied */
};

static bool is_output(const struct argtrace_insn *insn)
{
	return argtrace_action_is_output(insn->action);
}

/* Notes that `to` can be reached with these slots set. */
static void reach(struct verifier *verifier, u32 to, u16 defined)
{
	verifier->defined[to] &= defined;
}

/* Checks a jump from `at` within a part that ends before `end`. */
static bool jump_is_valid(struct verifier *verifier, u32 at, u32 end, u8 to, u16 defined)
{
	if (verifier->verdicts_end && to >= ARGTRACE_REJECT)
		return true;
	if (to <= at || to >= end)
		return false;
	reach(verifier, to, defined);
	return true;
}

static bool step_is_valid(struct verifier *verifier, u32 at, u32 end)
{
	const struct argtrace_insn *insn = &verifier->program->insns[at];
	u16 defined = verifier->defined[at];
	bool supplies = false;

	if (!argtrace_insn_is_valid(verifier->program, insn, verifier->returns, defined))
		return false;
	if (verifier->program->user_code &&
	    !argtrace_insn_trusts_no_address(insn, verifier->supplied, &supplies))
		return false;
	if (argtrace_action_sets(insn->action))
		defined |= BIT(insn->arg);
	/* FILE makes a pointer of the kernel's own, whatever the descriptor is. */
	if (supplies && (insn->action == ARGTRACE_DO_SET || insn->action == ARGTRACE_DO_ALU))
		verifier->supplied |= BIT(insn->arg);
	if (!argtrace_action_jumps(insn->action)) {
		/* A filter must end with a verdict. */
		if (at + 1 == end)
			return is_output(insn);
		reach(verifier, at + 1, defined);
		return true;
	}
	return jump_is_valid(verifier, at, end, insn->then, defined) &&
	       (insn->action == ARGTRACE_DO_JUMP ||
		jump_is_valid(verifier, at, end, insn->other, defined));
}

/* Whether the instruction at `from` may continue at `to`. */
static bool leads_to(const struct argtrace_insn *insns, u32 from, u32 to)
{
	const struct argtrace_insn *insn = &insns[from];

	if (!argtrace_action_jumps(insn->action))
		return from + 1 == to;
	return insn->then == to || (insn->action != ARGTRACE_DO_JUMP && insn->other == to);
}

/*
 * Checks a part: a filter, or a value. It begins with no slots set. Since jumps only go forward,
 * all paths to an instruction are known by the time it is checked; an instruction that cannot be
 * reached is refused.
 */
static bool part_is_valid(struct verifier *verifier, u32 begin, u32 end)
{
	const u16 none_yet = ~0;
	bool reached;
	u32 at, from;

	for (at = begin; at < end; at++)
		verifier->defined[at] = none_yet;
	verifier->defined[begin] = 0;
	verifier->supplied = 0;
	for (at = begin; at < end; at++) {
		reached = at == begin;
		for (from = begin; from < at && !reached; from++)
			reached = leads_to(verifier->program->insns, from, at);
		if (!reached || !step_is_valid(verifier, at, end))
			return false;
	}
	return true;
}

static bool filter_is_valid(struct verifier *verifier, u32 begin, u32 end)
{
	bool valid;
	u32 at;

	for (at = begin; at < end; at++) {
		if (is_output(&verifier->program->insns[at]))
			return false;
	}
	verifier->verdicts_end = end;
	valid = begin == end || part_is_valid(verifier, begin, end);
	verifier->verdicts_end = 0;
	return valid;
}

static bool filters_are_valid(struct verifier *verifier)
{
	const struct argtrace_verified *program = verifier->program;
	const u32 nr_filter = program->head->nr_filter;

	verifier->returns = false;
	if (!filter_is_valid(verifier, 0, nr_filter))
		return false;
	verifier->returns = program->followed;
	return filter_is_valid(verifier, nr_filter, program->values_begin);
}

static bool values_are_valid(struct verifier *verifier)
{
	const struct argtrace_verified *program = verifier->program;
	const struct argtrace_insn *insns = program->insns;
	const u32 nr_insns = program->head->nr_insns;
	u32 begin, end, nr_values = 0;

	for (begin = program->values_begin; begin < nr_insns; begin = end) {
		for (end = begin; end < nr_insns && !is_output(&insns[end]); end++)
			;
		if (end == nr_insns)
			return false;
		verifier->returns = program->followed && insns[end].flags & ARGTRACE_INSN_RETURN;
		if (!part_is_valid(verifier, begin, ++end))
			return false;
		nr_values++;
	}
	return nr_values <= ARGTRACE_VALUES_MAX;
}

static bool output_is(const struct argtrace_insn *insn, const struct argtrace_arg *arg)
{
	if (insn->action == ARGTRACE_DO_PATH)
		return arg->type == ARGTRACE_TYPE_PATH && arg->size == ARGTRACE_PATH_MAX;
	if (insn->arg != arg->size)
		return false;
	switch (insn->action) {
	case ARGTRACE_DO_OUT:
		return argtrace_type_size(arg->type) == arg->size &&
		       (arg->type == ARGTRACE_TYPE_STACK) ==
			       (insn->source == ARGTRACE_SOURCE_STACK_ID ||
				insn->source == ARGTRACE_SOURCE_USER_STACK_ID);
	case ARGTRACE_DO_STR:
		return arg->type == ARGTRACE_TYPE_STR;
	default:
		return arg->type == ARGTRACE_TYPE_BYTES;
	}
}

/* Whether the outputs match their descriptions in the schema. */
static bool outputs_are(const struct argtrace_verified *program,
			const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = argtrace_schema_args(schema);
	u32 at = program->values_begin, i;

	for (i = 0; i < schema->nr_args; i++) {
		if (args[i].loc != ARGTRACE_LOC_PROGRAM)
			continue;
		while (at < program->head->nr_insns && !is_output(&program->insns[at]))
			at++;
		if (at == program->head->nr_insns || !output_is(&program->insns[at++], &args[i]))
			return false;
	}
	return at == program->head->nr_insns;
}

/* How many words an output takes in a map's key; 0 if it cannot be part of one. */
static u32 words_of_key(const struct argtrace_insn *insn)
{
	if (insn->action == ARGTRACE_DO_OUT)
		return 1;
	if ((insn->action == ARGTRACE_DO_STR || insn->action == ARGTRACE_DO_BUF) &&
	    !(insn->arg % sizeof(u64)))
		return insn->arg / sizeof(u64);
	return 0;
}

/* Whether the outputs suit what is done with the call. */
static bool outputs_fit_sink(const struct argtrace_verified *program)
{
	const struct argtrace_insn *insn = &program->insns[program->values_begin];
	const struct argtrace_insn *end = &program->insns[program->head->nr_insns];
	u32 words = 0;

	if (program->head->sink == ARGTRACE_SINK_RECORD)
		return true;
	if (program->head->sink == ARGTRACE_SINK_COUNT)
		return insn == end;
	if (program->map->has_value) {
		if (insn == end)
			return false;
		end--;
		if (end->action != ARGTRACE_DO_OUT || end->arg != sizeof(u64))
			return false;
	}
	for (; insn < end; insn++) {
		if (!is_output(insn))
			continue;
		if (!words_of_key(insn))
			return false;
		words += words_of_key(insn);
	}
	return words == program->map->key_words;
}

/* What a call may take at most: jumps go forward, so that each instruction is executed once. */
static u64 cost_of(const struct argtrace_verified *program)
{
	u64 cost = 0;
	u32 at;

	for (at = 0; at < program->head->nr_insns; at++)
		cost += argtrace_insn_cost(&program->insns[at]);
	return cost;
}

static bool head_is_valid(const struct argtrace_program *head, const struct argtrace_probe *schema)
{
	if (schema->program < sizeof(*head) || head->nr_insns > ARGTRACE_INSNS_MAX ||
	    head->nr_filter > head->nr_insns ||
	    head->nr_return > head->nr_insns - head->nr_filter)
		return false;
	if (head->nr_return && !(schema->flags & ARGTRACE_PROBE_RETURN))
		return false;
	return head->sink <= ARGTRACE_SINK_MAP && (!head->map || head->sink == ARGTRACE_SINK_MAP) &&
	       !head->reserved;
}

/* Whether the parts of the program fill it, and nothing but zeros pads it. */
static bool parts_fill(const struct argtrace_verified *program, u32 size)
{
	const u8 *end = program->data + program->head->data;
	const u64 used = end - (const u8 *)program->head;

	return size == ALIGN(used, 8) && !memchr_inv(end, 0, size - used);
}

int argtrace_program_verify(struct argtrace_verified *program, const struct argtrace_probe *schema,
			    struct argtrace_map_set *const *maps,
			    const struct argtrace_stack_sets *stacks, u64 *too_dear)
{
	const struct argtrace_program *head = argtrace_schema_program(schema);
	struct verifier verifier = { .program = program };
	u64 cost;

	if (!head_is_valid(head, schema))
		return -EINVAL;
	*program = (struct argtrace_verified){
		.head = head,
		.insns = (const void *)(head + 1),
		.stacks = stacks ? *stacks : (struct argtrace_stack_sets){ },
		.values_begin = head->nr_filter + head->nr_return,
		.followed = schema->flags & ARGTRACE_PROBE_RETURN,
		.ticks = schema->kind == ARGTRACE_KIND_TIMER,
		.user_code = schema->kind == ARGTRACE_KIND_USER,
		.goroutines = schema->flags & ARGTRACE_PROBE_GOROUTINES,
	};
	program->data = (const u8 *)(program->insns + head->nr_insns);
	program->idle_has_stacks = program->ticks &&
				   schema->addr & ARGTRACE_TIMER(0, 0, ARGTRACE_TIMER_IDLE);
	if (head->sink == ARGTRACE_SINK_MAP) {
		program->map = maps ? argtrace_map_of(maps, head->map) : NULL;
		if (!program->map)
			return -EINVAL;
	}
	if (!parts_fill(program, schema->program) || !filters_are_valid(&verifier) ||
	    !values_are_valid(&verifier) || !outputs_are(program, schema) ||
	    !outputs_fit_sink(program))
		return -EINVAL;
	cost = cost_of(program);
	if (cost > ARGTRACE_COST_MAX) {
		if (too_dear)
			*too_dear = cost;
		return -E2BIG;
	}
	return 0;
}
