// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verifies programs. Nothing is trusted, and nothing is left to be checked when a call is made: what an instruction's
 * numbers mean depends on its action and source, so each is checked for those.
 */
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "compat.h"
#include "fetch/operands.h"
#include "fetch/program.h"
#include "probe/plan.h"

struct program {
	const struct argtrace_program *head;
	const struct argtrace_insn *insns;
	const u8 *data;
	u32 nr_values;
	u16 defined[ARGTRACE_INSNS_MAX + 1];	/* slots that are set on every way to an instruction */
};

static bool is_output(const struct argtrace_insn *insn)
{
	return insn->action >= ARGTRACE_DO_OUT;
}

/* Whether the instruction goes on at `then` (and `other`), and not at the next one. */
static bool jumps(const struct argtrace_insn *insn)
{
	return insn->action <= ARGTRACE_DO_JUMP;
}

static bool width_is_valid(u32 width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static bool source_is_valid(const struct argtrace_insn *insn, u16 defined)
{
	switch (insn->source) {
	case ARGTRACE_SOURCE_REG:
		return insn->index < ARGTRACE_REG_COUNT;
	case ARGTRACE_SOURCE_SLOT:
		return insn->index < ARGTRACE_SLOTS && defined & BIT(insn->index);
	case ARGTRACE_SOURCE_CONST:
	case ARGTRACE_SOURCE_STACK:
	case ARGTRACE_SOURCE_TASK:
	case ARGTRACE_SOURCE_CALLER:
	case ARGTRACE_SOURCE_CPU:
	case ARGTRACE_SOURCE_TIME:
		return !insn->index;
	default:
		return false;
	}
}

static bool value_is_valid(const struct argtrace_insn *insn, u16 defined)
{
	u32 i, offsets;

	if (!source_is_valid(insn, defined) || insn->loads > 3)
		return false;
	if (insn->loads ? !width_is_valid(insn->width) : insn->width)
		return false;
	offsets = insn->loads + (insn->action != ARGTRACE_DO_TEST);
	for (i = offsets; i < 3; i++) {
		if (insn->offset[i])
			return false;
	}
	return insn->shl < 64 && insn->shr < 64 &&
	       !(insn->flags & ~(ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP));
}

static bool literal_is_valid(const struct program *program, const struct argtrace_insn *insn)
{
	const u32 length = insn->span, how = insn->span >> 32;

	return insn->arg && insn->arg <= ARGTRACE_MATCH_MAX && how <= ARGTRACE_MATCH_GLOB &&
	       length && length <= ARGTRACE_MATCH_MAX && insn->base < program->head->data &&
	       length < program->head->data - insn->base &&
	       /* The end of a glob is where its NUL is. */
	       strnlen(program->data + insn->base, length + 1) == length;
}

static bool action_is_valid(const struct program *program, const struct argtrace_insn *insn, u16 defined)
{
	switch (insn->action) {
	case ARGTRACE_DO_TEST:
		return !insn->arg;
	case ARGTRACE_DO_TEXT:
		return literal_is_valid(program, insn);
	case ARGTRACE_DO_JUMP:
		return !insn->arg && !insn->other && !insn->loads;
	case ARGTRACE_DO_SET:
		return insn->arg < ARGTRACE_SLOTS && !insn->then && !insn->other;
	case ARGTRACE_DO_ALU:
		return insn->arg < ARGTRACE_SLOTS && defined & BIT(insn->arg) &&
		       insn->then <= ARGTRACE_ALU_LE && (insn->other == 4 || insn->other == 8);
	case ARGTRACE_DO_OUT:
		return width_is_valid(insn->arg) && !insn->then && !insn->other;
	case ARGTRACE_DO_STR:
	case ARGTRACE_DO_MEM:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX && !insn->then && !insn->other;
	case ARGTRACE_DO_BUF:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX && !insn->then && !insn->other &&
		       insn->base < ARGTRACE_SLOTS && defined & BIT(insn->base);
	default:
		return false;
	}
}

/* `to` may be reached with these slots set. */
static void reach(struct program *program, u32 to, u16 defined)
{
	program->defined[to] &= defined;
}

/* A jump from `at` within a part that ends before `end`. */
static bool jump_is_valid(struct program *program, u32 at, u32 end, u8 to, u16 defined)
{
	if (end == program->head->nr_filter && to >= ARGTRACE_REJECT)
		return true;
	if (to <= at || to >= end)
		return false;
	reach(program, to, defined);
	return true;
}

static bool insn_is_valid(struct program *program, u32 at, u32 end)
{
	const struct argtrace_insn *insn = &program->insns[at];
	u16 defined = program->defined[at];

	if (!value_is_valid(insn, defined) || !action_is_valid(program, insn, defined))
		return false;
	if (insn->action == ARGTRACE_DO_SET)
		defined |= BIT(insn->arg);
	if (!jumps(insn)) {
		/* The filter ends with a verdict. */
		if (at + 1 == end)
			return is_output(insn);
		reach(program, at + 1, defined);
		return true;
	}
	return jump_is_valid(program, at, end, insn->then, defined) &&
	       (insn->action == ARGTRACE_DO_JUMP ||
		jump_is_valid(program, at, end, insn->other, defined));
}

/*
 * A part: the filter, or a value. It begins without slots, and jumps are forward only, so that all ways
 * to an instruction are known when it is looked at. One that no way leads to is refused.
 */
static bool part_is_valid(struct program *program, u32 begin, u32 end)
{
	const u16 none_yet = ~0;
	bool reached;
	u32 at, from;

	for (at = begin; at < end; at++)
		program->defined[at] = none_yet;
	program->defined[begin] = 0;
	for (at = begin; at < end; at++) {
		for (reached = at == begin, from = begin; from < at && !reached; from++) {
			const struct argtrace_insn *insn = &program->insns[from];

			reached = jumps(insn) ? insn->then == at ||
						(insn->action != ARGTRACE_DO_JUMP && insn->other == at) :
						from + 1 == at;
		}
		if (!reached || !insn_is_valid(program, at, end))
			return false;
	}
	return true;
}

static bool filter_is_valid(struct program *program)
{
	u32 at;

	for (at = 0; at < program->head->nr_filter; at++) {
		if (is_output(&program->insns[at]))
			return false;
	}
	return part_is_valid(program, 0, program->head->nr_filter);
}

static bool values_are_valid(struct program *program)
{
	u32 begin = program->head->nr_filter, end;

	for (; begin < program->head->nr_insns; begin = end) {
		for (end = begin; end < program->head->nr_insns && !is_output(&program->insns[end]); end++)
			;
		if (end++ == program->head->nr_insns || !part_is_valid(program, begin, end))
			return false;
		program->nr_values++;
	}
	return program->nr_values <= ARGTRACE_VALUES_MAX;
}

static bool output_is(const struct argtrace_insn *insn, const struct argtrace_arg *arg)
{
	if (insn->arg != arg->size)
		return false;
	switch (insn->action) {
	case ARGTRACE_DO_OUT:
		return argtrace_type_size(arg->type) == arg->size;
	case ARGTRACE_DO_STR:
		return arg->type == ARGTRACE_TYPE_STR;
	default:
		return arg->type == ARGTRACE_TYPE_BYTES;
	}
}

/* Whether the outputs are what the schema says of them. */
static bool outputs_are(const struct program *program, const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = argtrace_schema_args(schema);
	u32 at = program->head->nr_filter, i;

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

static bool reads_memory(const struct argtrace_insn *insn)
{
	return insn->loads || insn->action == ARGTRACE_DO_TEXT || insn->action > ARGTRACE_DO_OUT;
}

static enum argtrace_op_kind kind_of(const struct argtrace_insn *insn)
{
	if (insn->action == ARGTRACE_DO_TEST && !(insn->flags & ARGTRACE_INSN_SWAP)) {
		if (insn->source == ARGTRACE_SOURCE_REG)
			return ARGTRACE_OP_REG;
		if (insn->source == ARGTRACE_SOURCE_TASK)
			return ARGTRACE_OP_TASK;
	}
	return ARGTRACE_OP_OTHER;
}

static const struct argtrace_op *target(const struct argtrace_op *ops, u8 to)
{
	return to == ARGTRACE_ACCEPT ? ARGTRACE_OP_ACCEPT : to == ARGTRACE_REJECT ? ARGTRACE_OP_REJECT : ops + to;
}

static void prepare_op(struct argtrace_op *ops, u32 at, const struct argtrace_insn *insn)
{
	u8 index = insn->index;

	if (insn->source == ARGTRACE_SOURCE_REG)
		index = argtrace_reg_place(array_index_nospec(index, ARGTRACE_REG_COUNT));
	else if (insn->source == ARGTRACE_SOURCE_SLOT)
		index = array_index_nospec(index, ARGTRACE_SLOTS);
	ops[at] = (struct argtrace_op){
		.mask = insn->mask, .base = insn->base, .span = insn->span,
		.then = jumps(insn) ? target(ops, insn->then) : (void *)(unsigned long)insn->then,
		.other = jumps(insn) ? target(ops, insn->other) : (void *)(unsigned long)insn->other,
		.offset = { insn->offset[0], insn->offset[1], insn->offset[2] },
		.arg = insn->arg,
		.kind = kind_of(insn),
		.source = insn->source,
		.index = index,
		.loads = insn->loads,
		.width = insn->width,
		.shl = insn->shl,
		.shr = insn->shr,
		.flags = insn->flags,
		.action = insn->action,
		.shift = insn->shl || insn->shr,
	};
	static_assert(sizeof(ops[at]) == 64);
}

static u32 output_size(const struct argtrace_insn *insn)
{
	return insn->arg + (insn->action == ARGTRACE_DO_OUT ? 0 : sizeof(u16));
}

static int prepare(struct argtrace_code *code, const struct program *program)
{
	struct argtrace_op *ops = (void *)(code + 1);
	u32 at, output = 0;

	*code = (struct argtrace_code){
		.filter = program->head->nr_filter ? ops : NULL,
		.values = ops + program->head->nr_filter,
		.end = ops + program->head->nr_insns,
		.data = program->data,
		.simple = program->head->nr_filter,
		.sample = program->head->sample > 1 ? program->head->sample : 0,
		.max_rate = program->head->max_rate,
	};
	for (at = 0; at < program->head->nr_insns; at++) {
		const struct argtrace_insn *insn = &program->insns[at];

		prepare_op(ops, at, insn);
		if (at < program->head->nr_filter) {
			code->simple &= ops[at].kind != ARGTRACE_OP_OTHER;
			code->filter_reads |= reads_memory(insn);
		} else {
			code->values_read |= reads_memory(insn);
		}
		if (is_output(insn)) {
			output += output_size(insn);
			code->variable |= insn->action != ARGTRACE_DO_OUT;
		}
	}
	code->output = output;
	return output <= ARGTRACE_OUTPUT_MAX ? 0 : -E2BIG;
}

size_t argtrace_code_size(size_t program)
{
	return program ? sizeof(struct argtrace_code) +
			 program / sizeof(struct argtrace_insn) * sizeof(struct argtrace_op) : 0;
}

int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema)
{
	const struct argtrace_program *head = argtrace_schema_program(schema);
	struct program program = { .head = head, .insns = (const void *)(head + 1) };
	u64 size;

	if (schema->program < sizeof(*head) || head->reserved || head->nr_insns > ARGTRACE_INSNS_MAX ||
	    head->nr_filter > head->nr_insns)
		return -EINVAL;
	size = sizeof(*head) + head->nr_insns * sizeof(*program.insns);
	program.data = (const u8 *)head + size;
	if (schema->program != ALIGN(size + head->data, 8) ||
	    memchr_inv(program.data + head->data, 0, schema->program - size - head->data))
		return -EINVAL;
	if ((head->nr_filter && !filter_is_valid(&program)) || !values_are_valid(&program) ||
	    !outputs_are(&program, schema))
		return -EINVAL;
	return prepare(code, &program);
}
