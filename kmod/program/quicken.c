// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/stddef.h>

#include "program/insn.h"
#include "program/quicken.h"
#include "sink/map.h"

/*
 * A load that fails yields -EFAULT. If the next offset leaves that within the uppermost 16 MiB, or
 * makes it positive, the next load recognises that it is no kernel address.
 */
static bool failure_shows(const struct argtrace_insn *insn)
{
	u32 i;

	for (i = 1; i < insn->loads; i++) {
		if (insn->offset[i] < -(s32)SZ_16M + 2 * EFAULT)
			return false;
	}
	return true;
}

/* The quick form of an instruction's value, or ARGTRACE_OP_OTHER if there is none. */
static enum argtrace_op_kind quick_kind(const struct argtrace_insn *insn)
{
	static const enum argtrace_op_kind of_register[] = {
		ARGTRACE_OP_REG, ARGTRACE_OP_LOAD_1, ARGTRACE_OP_LOAD_2, ARGTRACE_OP_LOAD_3,
	};

	if (insn->flags & (ARGTRACE_INSN_SWAP | ARGTRACE_INSN_USER_LOADS) || !failure_shows(insn))
		return ARGTRACE_OP_OTHER;
	switch (insn->source) {
	case ARGTRACE_SOURCE_TASK:
		/*
		 * The last member, `thread`, may be cut short to what the processor needs: see
		 * fpu__init_task_struct_size().
		 */
		if (insn->loads == 1 && insn->offset[0] >= 0 &&
		    insn->offset[0] <= (s32)(offsetof(struct task_struct, thread) - sizeof(u64)))
			return ARGTRACE_OP_TASK;
		return insn->loads ? ARGTRACE_OP_LOAD_TASK : ARGTRACE_OP_OTHER;
	case ARGTRACE_SOURCE_RETURN:
		if (insn->index >= ARGTRACE_RETURN_VECTOR)
			return ARGTRACE_OP_OTHER;
		fallthrough;
	case ARGTRACE_SOURCE_REG:
	case ARGTRACE_SOURCE_RESULT:
	case ARGTRACE_SOURCE_DURATION:
		return of_register[array_index_nospec(insn->loads, ARRAY_SIZE(of_register))];
	case ARGTRACE_SOURCE_IDENTITY:
		return insn->loads ? ARGTRACE_OP_OTHER : ARGTRACE_OP_IDENTITY;
	default:
		return ARGTRACE_OP_OTHER;
	}
}

static void make_quick(struct argtrace_op *op, enum argtrace_op_kind kind)
{
	op->kind = kind;
	if (op->loads)
		op->mask &= GENMASK_ULL(op->width * 8 - 1, 0);
}

/*
 * The shifts that extend a sign are dropped: with its sign bit toggled, a number compares like an
 * unsigned one.
 */
void argtrace_quicken_test(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const enum argtrace_op_kind kind = quick_kind(insn);
	const u64 bits = GENMASK_ULL(63 - insn->shl, 0);
	u64 sign = 0;

	if (kind == ARGTRACE_OP_OTHER || insn->action != ARGTRACE_DO_TEST || insn->shl != insn->shr)
		return;
	if (insn->flags & ARGTRACE_INSN_SIGNED && insn->shl && insn->mask & ~bits) {
		/* Only if all bits of the sign are compared. */
		if (insn->mask != ~0ull)
			return;
		sign = bits ^ (bits >> 1);
	}
	op->mask &= bits;
	op->base += sign;
	op->sign = sign;
	make_quick(op, kind);
}

bool argtrace_quicken_output(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const enum argtrace_op_kind kind = quick_kind(insn);
	const bool is_address = insn->action == ARGTRACE_DO_STR || insn->action == ARGTRACE_DO_PATH;

	if (insn->source == ARGTRACE_SOURCE_STACK_ID) {
		op->kind = ARGTRACE_OP_STACK;
		return true;
	}
	/* The quick paths of records have no register left for an identity. */
	if (kind == ARGTRACE_OP_OTHER || kind == ARGTRACE_OP_IDENTITY ||
	    (insn->action != ARGTRACE_DO_OUT && !is_address) || insn->shl || insn->shr ||
	    (argtrace_action_is_output(insn->action) && insn->then))
		return false;
	/* The mask of a narrow load would be applied after the addition. */
	if (op->loads < 3 && op->offset[0] && (!is_address || (op->loads && op->width != 8)))
		return false;
	make_quick(op, kind);
	return true;
}

/* Whether the output is the full name of the current task. */
static bool is_name(const struct argtrace_insn *insn)
{
	return insn->action == ARGTRACE_DO_STR && insn->arg == TASK_COMM_LEN &&
	       insn->source == ARGTRACE_SOURCE_TASK && !insn->loads && !insn->shl && !insn->shr &&
	       !(insn->flags & ~ARGTRACE_INSN_RETURN) && insn->mask == ~0ull &&
	       insn->offset[0] == (s32)offsetof(struct task_struct, comm);
}

/* Whether the output is a signed number of 4 bytes, extended to a word. */
static bool extends_int(const struct argtrace_insn *insn)
{
	return insn->shl == 32 && insn->shr == 32 &&
	       (insn->flags & ~ARGTRACE_INSN_RETURN) == ARGTRACE_INSN_SIGNED &&
	       insn->mask == ~0ull && insn->arg == sizeof(u64);
}

/* The form of a signed number of 4 bytes, or ARGTRACE_OP_OTHER. */
static enum argtrace_op_kind int_kind(const struct argtrace_insn *insn)
{
	switch (quick_kind(insn)) {
	case ARGTRACE_OP_TASK:
		return insn->width == sizeof(int) ? ARGTRACE_OP_TASK_INT : ARGTRACE_OP_OTHER;
	case ARGTRACE_OP_REG:
		return ARGTRACE_OP_REG_INT;
	default:
		return ARGTRACE_OP_OTHER;
	}
}

/*
 * Prepares part of a key, or a value, if it is a word that is computed without loads, at the call
 * or its return.
 */
static bool quicken_word(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const u32 flags = insn->flags & ~ARGTRACE_INSN_RETURN;

	if (insn->action != ARGTRACE_DO_OUT || insn->loads > 1 || insn->offset[insn->loads])
		return false;
	if (extends_int(insn)) {
		op->kind = int_kind(insn);
		return op->kind != ARGTRACE_OP_OTHER;
	}
	if (insn->shl || insn->shr || flags)
		return false;
	/* A record drops the higher bits of a narrow output, but a key would contain them. */
	op->mask &= GENMASK_ULL(insn->arg * 8 - 1, 0);
	if (insn->source == ARGTRACE_SOURCE_CONST && !insn->loads) {
		op->span &= op->mask;
		op->kind = ARGTRACE_OP_CONST;
	}
	return op->kind == ARGTRACE_OP_REG || op->kind == ARGTRACE_OP_TASK ||
	       op->kind == ARGTRACE_OP_CONST;
}

/* Whether the key (of two words at most, or the task's name) and the value consist of words. */
static bool quicken_words(const struct argtrace_verified *program, struct argtrace_op *ops)
{
	const u32 begin = program->values_begin, nr = program->head->nr_insns - begin;
	const struct argtrace_insn *insns = program->insns + begin;
	const bool has_name = nr && is_name(insns);
	u32 i;

	if (program->map->key_words > 2)
		return false;
	for (i = has_name; i < nr; i++) {
		if (!quicken_word(&ops[begin + i], &insns[i]))
			return false;
	}
	return true;
}

/*
 * Whether the map's key is only the number of a stack, of a call or of a tick, and there is no
 * value.
 */
static bool is_stack_key(const struct argtrace_verified *program, const struct argtrace_op *ops)
{
	const struct argtrace_op *op = &ops[program->values_begin];

	return program->head->nr_insns - program->values_begin == 1 &&
	       program->map->key_words == 1 && !program->map->has_value && !program->followed &&
	       (op->kind == ARGTRACE_OP_STACK || op->loads == ARGTRACE_LOADS_TICK);
}

enum argtrace_outputs argtrace_quicken_map(const struct argtrace_verified *program,
					   struct argtrace_op *ops)
{
	if (is_stack_key(program, ops))
		return ARGTRACE_OUTPUTS_STACK_KEY;
	return quicken_words(program, ops) ? ARGTRACE_OUTPUTS_WORDS : ARGTRACE_OUTPUTS_MAP;
}

/* How a call is added to a map whose key and value are words. */
static enum argtrace_op_kind sink_kind(const struct argtrace_verified *program,
				       const struct argtrace_op *key,
				       const struct argtrace_op *value)
{
	const struct argtrace_map_set *map = program->map;
	const bool is_log2 = map->buckets.kind == ARGTRACE_BUCKETS_LOG2;

	if (map->buckets.is_signed || (map->has_value && value->kind != ARGTRACE_OP_REG))
		return ARGTRACE_OP_ADD_OTHER;
	if (map->key_words && is_name(&program->insns[program->values_begin])) {
		if (!map->has_value)
			return ARGTRACE_OP_ADD_NAME;
		if (is_log2)
			return ARGTRACE_OP_ADD_NAME_LOG2;
		return map->buckets.kind == ARGTRACE_BUCKETS_NONE ? ARGTRACE_OP_ADD_NAME_VALUE :
								    ARGTRACE_OP_ADD_OTHER;
	}
	if (!map->key_words && is_log2 && map->slots > BITS_PER_TYPE(u64))
		return ARGTRACE_OP_ADD_LOG2;
	if (map->key_words == 1 && is_log2 && key->kind == ARGTRACE_OP_CONST)
		return ARGTRACE_OP_ADD_CONST_LOG2;
	if (map->key_words != 1 || map->has_value)
		return ARGTRACE_OP_ADD_OTHER;
	switch (key->kind) {
	case ARGTRACE_OP_REG:
		return ARGTRACE_OP_ADD_REG;
	case ARGTRACE_OP_TASK:
		return ARGTRACE_OP_ADD_TASK;
	case ARGTRACE_OP_TASK_INT:
		return ARGTRACE_OP_ADD_TASK_INT;
	default:
		return ARGTRACE_OP_ADD_OTHER;
	}
}

void argtrace_quicken_sink(struct argtrace_op *sink, const struct argtrace_code *code,
			   const struct argtrace_verified *program)
{
	static const struct argtrace_op none;
	const bool has_any = code->values < code->end;
	const struct argtrace_op *key = has_any ? code->values : &none;
	const struct argtrace_op *value = has_any ? code->end - 1 : &none;

	*sink = (struct argtrace_op){ .kind = ARGTRACE_OP_ADD_OTHER };
	switch (code->outputs) {
	case ARGTRACE_OUTPUTS_COUNT:
		sink->kind = ARGTRACE_OP_COUNT;
		break;
	case ARGTRACE_OUTPUTS_STACK_KEY:
		if (key->kind == ARGTRACE_OP_STACK)
			sink->kind = ARGTRACE_OP_ADD_STACK;
		break;
	case ARGTRACE_OUTPUTS_WORDS:
		sink->kind = sink_kind(program, key, value);
		sink->base = (u64)(unsigned long __force)program->map->cpus;
		sink->mask = key->kind == ARGTRACE_OP_CONST ? key->span : key->mask;
		sink->index = key->index;
		sink->offset[2] = key->offset[2];
		sink->span = value->mask;
		sink->width = value->index;
		break;
	}
}
