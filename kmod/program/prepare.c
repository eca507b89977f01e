// SPDX-License-Identifier: GPL-2.0-only
/* Makes operations of the instructions of a program that has been verified. */
#include <linux/bits.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/stddef.h>

#include "base/compat.h"
#include "base/schema.h"
#include "program/insn.h"
#include "program/program.h"
#include "program/quicken.h"
#include "program/verify.h"
#include "read/operands.h"
#include "read/path.h"
#include "read/text.h"

static const struct argtrace_op *target(const struct argtrace_op *ops,
					const struct argtrace_op *accept, u8 to)
{
	if (to == ARGTRACE_ACCEPT)
		return accept;
	return to == ARGTRACE_REJECT ? ARGTRACE_OP_REJECT : ops + to;
}

/*
 * The offset of an identity in struct cred, where none is at 0; ARGTRACE_NOT_IN_CRED for the
 * cgroup.
 */
static u8 place_in_cred(u8 identity)
{
	static_assert(offsetof(struct cred, uid) && offsetof(struct cred, gid));
	if (identity == ARGTRACE_IDENTITY_CGROUP)
		return ARGTRACE_NOT_IN_CRED;
	return identity == ARGTRACE_IDENTITY_UID ? offsetof(struct cred, uid) :
						   offsetof(struct cred, gid);
}

/* Where an operation finds the word that lies there. */
static u8 word_at(unsigned int place)
{
	return place / sizeof(u64);
}

static unsigned int register_place(const struct argtrace_insn *insn,
				   const struct argtrace_verified *program)
{
	const unsigned int index = array_index_nospec(insn->index, ARGTRACE_USER_REG_COUNT);

	return program->goroutines ? argtrace_kept_place(index) : argtrace_reg_place(index);
}

static unsigned int result_place(const struct argtrace_insn *insn)
{
	const unsigned int number = argtrace_result_number(insn->index);

	return argtrace_result_place(array_index_nospec(number, ARGTRACE_RESULTS));
}

static u8 place_of(const struct argtrace_insn *insn, const struct argtrace_verified *program)
{
	switch (insn->source) {
	case ARGTRACE_SOURCE_REG:
		return word_at(register_place(insn, program));
	case ARGTRACE_SOURCE_STACK:
		return word_at(argtrace_reg_place(ARGTRACE_USER_STACK_REG));
	case ARGTRACE_SOURCE_SLOT:
		return array_index_nospec(insn->index, ARGTRACE_SLOTS);
	case ARGTRACE_SOURCE_RETURN:
		if (insn->index >= ARGTRACE_RETURN_VECTOR)
			return insn->index - ARGTRACE_RETURN_VECTOR;
		return word_at(argtrace_return_place(array_index_nospec(insn->index, 2)));
	case ARGTRACE_SOURCE_VECTOR:
		return insn->index;
	case ARGTRACE_SOURCE_RESULT:
		return word_at(result_place(insn));
	case ARGTRACE_SOURCE_DURATION:
		return word_at(argtrace_duration_place());
	case ARGTRACE_SOURCE_IDENTITY:
		return place_in_cred(insn->index);
	case ARGTRACE_SOURCE_STACK_ID:
		return word_at(argtrace_bp_place(program->followed));
	default:
		/*
		 * Any valid one: it is read before it turns out to be unused, and a call's frame
		 * lacks part of struct argtrace_regs.
		 */
		return word_at(argtrace_reg_place(0));
	}
}

/*
 * The task has the registers of floating-point numbers at entry, and at return. What is hit in user
 * code has its stack pointer in full registers; that of a call that is followed is where those of
 * the kernel's functions are.
 */
static u8 prepared_source(const struct argtrace_insn *insn,
			  const struct argtrace_verified *program)
{
	if (insn->source == ARGTRACE_SOURCE_STACK && program->user_code && !program->followed)
		return ARGTRACE_SOURCE_REG;
	return insn->source == ARGTRACE_SOURCE_RETURN && insn->index >= ARGTRACE_RETURN_VECTOR ?
		       ARGTRACE_SOURCE_VECTOR : insn->source;
}

/* ARGTRACE_USER_* of an instruction, whose last load has offset[2] in an operation. */
static u8 user_of(const struct argtrace_insn *insn)
{
	const u8 loads = (insn->flags & ARGTRACE_INSN_USER_LOADS) / ARGTRACE_INSN_USER(0);

	return (insn->loads ? loads << (3 - insn->loads) : 0) |
	       (insn->flags & ARGTRACE_INSN_USER_DATA ? ARGTRACE_USER_DATA : 0);
}

static enum argtrace_op_simple simple_source(const struct argtrace_insn *insn,
					     const struct argtrace_verified *program)
{
	if (insn->loads || insn->shl || insn->shr || insn->flags & ARGTRACE_INSN_SWAP)
		return ARGTRACE_SIMPLE_NOT;
	switch (prepared_source(insn, program)) {
	case ARGTRACE_SOURCE_SLOT:
		return ARGTRACE_SIMPLE_SLOT;
	case ARGTRACE_SOURCE_REG:
	case ARGTRACE_SOURCE_RETURN:
	case ARGTRACE_SOURCE_RESULT:
	case ARGTRACE_SOURCE_DURATION:
		return ARGTRACE_SIMPLE_REG;
	case ARGTRACE_SOURCE_CONST:
		return argtrace_action_jumps(insn->action) ? ARGTRACE_SIMPLE_NOT :
							     ARGTRACE_SIMPLE_CONST;
	default:
		return ARGTRACE_SIMPLE_NOT;
	}
}

static void prepare_op(struct argtrace_op *op, const struct argtrace_insn *insn,
		       const struct argtrace_op *ops, const struct argtrace_op *accept,
		       const struct argtrace_verified *program)
{
	u32 i;

	*op = (struct argtrace_op){
		.mask = insn->mask, .base = insn->base, .span = insn->span,
		.next = { (void *)(unsigned long)insn->other, (void *)(unsigned long)insn->then },
		.arg = insn->arg,
		.source = prepared_source(insn, program),
		.action = insn->action,
		.shl = insn->shl,
		.shr = insn->shr,
		.flags = insn->flags,
		.kind = ARGTRACE_OP_OTHER,
		.index = place_of(insn, program),
		.loads = insn->loads,
		.width = insn->width,
		.user = user_of(insn),
		.simple = simple_source(insn, program),
	};
	if (insn->source == ARGTRACE_SOURCE_STACK_ID)
		op->loads = ARGTRACE_LOADS_STACK;
	else if (insn->source == ARGTRACE_SOURCE_USER_STACK_ID)
		op->loads = ARGTRACE_LOADS_USER_STACK;
	if (argtrace_action_jumps(insn->action)) {
		op->next[0] = target(ops, accept, insn->other);
		op->next[1] = target(ops, accept, insn->then);
	}
	for (i = 0; i < insn->loads; i++)
		op->offset[3 - insn->loads + i] = insn->offset[i];
	if (insn->loads < 3)
		op->offset[0] = insn->offset[insn->loads];
}

static u32 output_size(const struct argtrace_insn *insn)
{
	switch (insn->action) {
	case ARGTRACE_DO_OUT:
		return insn->arg;
	case ARGTRACE_DO_PATH:
		return sizeof(u16) + ARGTRACE_PATH_ROOM;
	default:
		return sizeof(u16) + insn->arg;
	}
}

/* What the outputs of a program have in common. */
struct output_traits {
	bool quick;			/* all operations are quick */
	bool fixed;			/* the size is known beforehand */
	bool paths;
	bool stack;			/* the number of the stack is among them */
	bool user;			/* text of user memory is */
};

static enum argtrace_outputs recorded_kind(const struct output_traits *traits)
{
	if (traits->quick && traits->stack && traits->fixed)
		return ARGTRACE_OUTPUTS_STACK;
	if (!traits->quick || traits->stack)
		return traits->fixed ? ARGTRACE_OUTPUTS_FIXED : ARGTRACE_OUTPUTS_VARIABLE;
	if (traits->user)
		return ARGTRACE_OUTPUTS_USER;
	if (traits->paths)
		return ARGTRACE_OUTPUTS_PATHS;
	return traits->fixed ? ARGTRACE_OUTPUTS_QUICK : ARGTRACE_OUTPUTS_TEXT;
}

static enum argtrace_outputs outputs_kind(const struct argtrace_verified *program,
					  struct argtrace_op *ops,
					  const struct output_traits *traits)
{
	const u32 begin = program->values_begin, nr = program->head->nr_insns - begin;
	enum argtrace_outputs kind;

	if (program->head->sink == ARGTRACE_SINK_COUNT)
		return ARGTRACE_OUTPUTS_COUNT;
	if (program->map)
		return argtrace_quicken_map(program, ops);
	if (!nr)
		return ARGTRACE_OUTPUTS_NONE;
	kind = recorded_kind(traits);
	if (kind == ARGTRACE_OUTPUTS_PATHS && nr == 1 && ops[begin].arg != ARGTRACE_PATH_OF_NODE)
		return ARGTRACE_OUTPUTS_PATH;
	return kind;
}

/* Prepares an instruction of a value. */
static void prepare_value(struct argtrace_op *op, const struct argtrace_insn *insn,
			  const struct argtrace_op *ops, const struct argtrace_verified *program,
			  struct output_traits *traits)
{
	prepare_op(op, insn, ops, NULL, program);
	if (insn->action == ARGTRACE_DO_PATH)
		op->next[0] = insn->arg == ARGTRACE_PATH_OF_DENTRY ? NULL :
			      argtrace_program_data(program, insn);
	if ((program->ticks || program->user_code) && insn->source == ARGTRACE_SOURCE_STACK_ID) {
		op->loads = ARGTRACE_LOADS_TICK;
		traits->quick = false;
	} else {
		traits->quick &= argtrace_quicken_output(op, insn);
	}
	if (!argtrace_action_is_output(insn->action))
		return;
	traits->fixed &= insn->action == ARGTRACE_DO_OUT;
	traits->paths |= insn->action == ARGTRACE_DO_PATH;
	traits->stack |= insn->source == ARGTRACE_SOURCE_STACK_ID;
	traits->user |= op->user & ARGTRACE_USER_DATA;
}

static int prepare_values(struct argtrace_code *code, const struct argtrace_verified *program,
			  struct argtrace_op *ops)
{
	struct output_traits traits = { .quick = true, .fixed = true };
	const u32 nr_insns = program->head->nr_insns;
	bool reads_user = false;
	u32 at, output = 0;

	code->keeps_all = program->followed;
	code->values = ops + program->values_begin;
	code->end = ops + nr_insns;
	for (at = program->values_begin; at < nr_insns; at++) {
		const struct argtrace_insn *insn = &program->insns[at];

		prepare_value(&ops[at], insn, ops, program, &traits);
		reads_user |= user_of(insn);
		if (!argtrace_action_is_output(insn->action))
			continue;
		output += output_size(insn);
		if (!program->followed)
			continue;
		if (insn->flags & ARGTRACE_INSN_RETURN) {
			code->keeps_all = false;
			code->reads_user_at_return |= reads_user;
		}
		reads_user = false;
		if (insn->flags & ARGTRACE_INSN_RETURN)
			continue;
		code->keeps = true;
		code->kept += output_size(insn);
	}
	/* Where returns are followed, only numbers have a quick way. */
	traits.quick &= !program->followed || (traits.fixed && !traits.stack);
	code->outputs = outputs_kind(program, ops, &traits);
	code->map = program->map;
	code->output = output + (code->outputs == ARGTRACE_OUTPUTS_TEXT ? ARGTRACE_TEXT_ROOM : 0);
	/* In scratch memory they follow a word. */
	return output <= ARGTRACE_OUTPUT_MAX - sizeof(u64) ? 0 : -E2BIG;
}

/*
 * Makes operations of what precedes and follows the filter, so that calls without either pay
 * nothing.
 */
static int prepare(struct argtrace_code *code, const struct argtrace_verified *program)
{
	const struct argtrace_program *head = program->head;
	struct argtrace_op *sample = (void *)(code + 1), *cap = sample + 1, *sink = cap + 1;
	struct argtrace_op *ops = sample + ARGTRACE_OPS_EXTRA;
	const struct argtrace_op *accept = ARGTRACE_OP_ACCEPT;
	u32 at;
	int ret;

	/* Where returns are followed, these are decided when the call returns. */
	if (!program->followed && head->max_rate)
		accept = cap;
	else if (!program->followed && head->sink != ARGTRACE_SINK_RECORD)
		accept = sink;

	*code = (struct argtrace_code){
		.filter = head->nr_filter ? ops : NULL,
		.return_filter = head->nr_return ? ops + head->nr_filter : NULL,
		.data = program->data,
		.stacks = program->stacks,
		.idle_has_stacks = program->idle_has_stacks,
		.sample = head->sample > 1 ? head->sample : 0,
		.max_rate = head->max_rate,
	};
	*cap = (struct argtrace_op){ .kind = ARGTRACE_OP_CAP, .next[1] = ARGTRACE_OP_ACCEPT };
	*sample = (struct argtrace_op){
		.kind = ARGTRACE_OP_SAMPLE,
		.next[1] = head->nr_filter ? ops : accept,
	};
	code->start = code->sample ? sample : sample->next[1];
	for (at = 0; at < program->values_begin; at++) {
		prepare_op(&ops[at], &program->insns[at], ops, accept, program);
		argtrace_quicken_test(&ops[at], &program->insns[at]);
	}
	for (at = 0; at < head->nr_insns; at++) {
		code->reads |= argtrace_insn_reads_memory(&program->insns[at]);
		code->reads_user |= user_of(&program->insns[at]);
		if (at >= head->nr_filter && at < head->nr_filter + head->nr_return)
			code->reads_user_at_return |= user_of(&program->insns[at]);
		code->times |= program->insns[at].source == ARGTRACE_SOURCE_DURATION;
	}
	ret = prepare_values(code, program, ops);
	if (!ret && head->sink != ARGTRACE_SINK_RECORD)
		argtrace_quicken_sink(sink, code, program);
	return ret;
}

size_t argtrace_code_size(size_t program)
{
	const size_t nr_ops = program / sizeof(struct argtrace_insn) + ARGTRACE_OPS_EXTRA;

	return program ? sizeof(struct argtrace_code) + nr_ops * sizeof(struct argtrace_op) : 0;
}

int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema,
			  struct argtrace_map_set *const *maps,
			  const struct argtrace_stack_sets *stacks, u64 *too_dear)
{
	struct argtrace_verified program;
	int ret = argtrace_program_verify(&program, schema, maps, stacks, too_dear);

	if (ret)
		return ret;
	ret = prepare(code, &program);
	/* Registers are between what is kept of a goroutine and its frame: ARGTRACE_FRAME_LOWER. */
	code->keeps_all &= !(schema->flags & ARGTRACE_PROBE_GOROUTINES);
	code->maps = maps;
	return ret;
}

/* What becomes of outputs if the other parts of the record are not written quickly. */
static enum argtrace_outputs outputs_beside_slow_record(enum argtrace_outputs outputs)
{
	switch (outputs) {
	case ARGTRACE_OUTPUTS_QUICK:
	case ARGTRACE_OUTPUTS_STACK:
		return ARGTRACE_OUTPUTS_FIXED;
	case ARGTRACE_OUTPUTS_PATH:
	case ARGTRACE_OUTPUTS_TEXT:
	case ARGTRACE_OUTPUTS_PATHS:
	case ARGTRACE_OUTPUTS_USER:
		return ARGTRACE_OUTPUTS_VARIABLE;
	default:
		return outputs;
	}
}

void argtrace_code_place(struct argtrace_code *code, u32 at, bool quick)
{
	struct argtrace_op *op = (struct argtrace_op *)code->values;
	bool fixed;

	code->unreadable_at = at;
	if (!quick)
		code->outputs = outputs_beside_slow_record(code->outputs);
	switch (code->outputs) {
	case ARGTRACE_OUTPUTS_QUICK:
	case ARGTRACE_OUTPUTS_STACK:
		fixed = true;
		break;
	case ARGTRACE_OUTPUTS_PATH:
	case ARGTRACE_OUTPUTS_TEXT:
	case ARGTRACE_OUTPUTS_PATHS:
		fixed = false;
		break;
	default:
		return;
	}
	at += sizeof(u64);
	for (; op < code->end; op++) {
		op->next[1] = op + 1 < code->end ? op + 1 : NULL;
		if (fixed) {
			op->base = at;
			at += op->arg;
		} else {
			op->base = op->loads < 3 ? op->offset[0] : 0;
		}
	}
}
