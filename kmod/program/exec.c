// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/swab.h>

#include "arch/vector.h"
#include "base/compat.h"
#include "program/exec.h"
#include "program/insn.h"
#include "read/file.h"
#include "read/operands.h"
#include "read/path.h"
#include "read/text.h"
#include "sink/encode.h"

static u64 source_of(const struct argtrace_op *op, const struct argtrace_run *run)
{
	if (op->kind == ARGTRACE_OP_IDENTITY)
		return argtrace_op_identity(op);
	if (argtrace_op_is_quick(op))
		return op->kind == ARGTRACE_OP_TASK || op->kind == ARGTRACE_OP_LOAD_TASK ?
			       (u64)current : argtrace_op_reg(op, run->fregs);
	switch (op->source) {
	case ARGTRACE_SOURCE_REG:
	case ARGTRACE_SOURCE_RETURN:
	case ARGTRACE_SOURCE_RESULT:
	case ARGTRACE_SOURCE_DURATION:
		return argtrace_op_reg(op, run->fregs);
	case ARGTRACE_SOURCE_SLOT:
		return run->slots[op->index];
	case ARGTRACE_SOURCE_TASK:
		return (u64)current;
	case ARGTRACE_SOURCE_CONST:
		return argtrace_action_jumps(op->action) ? 0 : op->span;
	case ARGTRACE_SOURCE_STACK:
		return (u64)argtrace_stack(run->fregs);
	case ARGTRACE_SOURCE_CALLER:
		return run->caller;
	case ARGTRACE_SOURCE_CPU:
		return raw_smp_processor_id();
	case ARGTRACE_SOURCE_IDENTITY:
		return argtrace_op_identity(op);
	case ARGTRACE_SOURCE_STACK_ID:
	case ARGTRACE_SOURCE_USER_STACK_ID:
		return 0;
	case ARGTRACE_SOURCE_VECTOR:
		return argtrace_vector_word(op->index);
	default:
		return ktime_get_mono_fast_ns();
	}
}

static __always_inline u64 simple_value(const struct argtrace_op *op,
					const struct argtrace_run *run)
{
	if (op->simple == ARGTRACE_SIMPLE_SLOT)
		return run->slots[op->index];
	return op->simple == ARGTRACE_SIMPLE_REG ? argtrace_op_reg(op, run->fregs) : op->span;
}

/* Loads of which some read user memory. False on a fault. */
static noinline bool load_some_of_user(const struct argtrace_op *op, u64 *value)
{
	u32 i;

	for (i = 3 - op->loads; i < 2; i++) {
		if (!argtrace_load(*value + op->offset[i], 8, op->user & BIT(i), value))
			return false;
	}
	return argtrace_load(*value + op->offset[2], op->width, op->user & BIT(2), value);
}

/* False on a fault. */
static __always_inline bool load(const struct argtrace_op *op, u64 *value)
{
	const s64 *offset = &op->offset[3 - op->loads];

	if (unlikely(op->user & ARGTRACE_USER_LOADS))
		return load_some_of_user(op, value);
	for (; offset < &op->offset[2]; offset++) {
		if (unlikely(!argtrace_load(*value + *offset, 8, false, value)))
			return false;
	}
	return argtrace_load(*value + *offset, op->width, false, value);
}

static u64 shifted(const struct argtrace_op *op, u64 value)
{
	if (op->flags & ARGTRACE_INSN_SWAP)
		value = swab64(value);
	value <<= op->shl;
	return op->flags & ARGTRACE_INSN_SIGNED ? (u64)((s64)value >> op->shr) : value >> op->shr;
}

/* The value of any operation. False on a fault. */
static __always_inline bool value_of(const struct argtrace_op *op, const struct argtrace_run *run,
				     u64 *result)
{
	u64 value;

	if (argtrace_op_has_quick_value(op) &&
	    likely(argtrace_op_quickly(op, run->fregs, &value))) {
		*result = (op->loads < 3 ? value + op->offset[0] : value) & op->mask;
		return true;
	}
	if (op->simple) {
		*result = (simple_value(op, run) + op->offset[0]) & op->mask;
		return true;
	}
	value = source_of(op, run);
	if (op->loads) {
		if (op->loads == ARGTRACE_LOADS_STACK)
			return (*result = argtrace_stack_of(run->code, op, run->fregs));
		if (op->loads == ARGTRACE_LOADS_TICK)
			return (*result = argtrace_stack_of_tick(run->code, run->fregs));
		if (op->loads == ARGTRACE_LOADS_USER_STACK)
			return (*result = argtrace_stack_id_of_user(run->code->stacks.user));
		if (!load(op, &value))
			return false;
	}
	if (op->loads < 3)
		value += op->offset[0];
	if (!argtrace_op_is_quick(op))
		value = shifted(op, value);
	*result = value & op->mask;
	return true;
}

/* Handles the divisions for which the processor would trap. */
static bool divide(u64 a, u64 b, bool is_signed, bool modulo, u64 *result)
{
	if (!b)
		return false;
	if (is_signed && b == (u64)-1)
		*result = modulo ? 0 : -a;
	else if (is_signed)
		*result = modulo ? (s64)a % (s64)b : (s64)a / (s64)b;
	else
		*result = modulo ? a % b : a / b;
	return true;
}

static enum argtrace_alu alu_operation(const struct argtrace_op *op)
{
	return (unsigned long)op->next[1];
}

static unsigned int alu_width(const struct argtrace_op *op)
{
	return (unsigned long)op->next[0];
}

/* An operation of 4 bytes takes the lower halves, extended like its result. */
static u64 extend(u64 value, const struct argtrace_op *op)
{
	if (alu_width(op) == 8)
		return value;
	return op->flags & ARGTRACE_INSN_SIGNED ? (u64)(s64)(s32)value : (u32)value;
}

/* Those that are the same for numbers with and without a sign, of 8 bytes. */
static __always_inline bool alu_of_words(enum argtrace_alu operation, u64 *slot, u64 value)
{
	if (operation == ARGTRACE_ALU_ADD)
		*slot += value;
	else if (operation == ARGTRACE_ALU_SUB)
		*slot -= value;
	else if (operation == ARGTRACE_ALU_AND)
		*slot &= value;
	else
		return false;
	return true;
}

static noinline bool alu(const struct argtrace_op *op, u64 *slot, u64 value)
{
	const bool is_signed = op->flags & ARGTRACE_INSN_SIGNED;
	const unsigned int shift = value & (alu_width(op) * 8 - 1);
	const u64 a = extend(*slot, op), b = extend(value, op);
	u64 result;

	switch (alu_operation(op)) {
	case ARGTRACE_ALU_ADD:
		result = a + b;
		break;
	case ARGTRACE_ALU_SUB:
		result = a - b;
		break;
	case ARGTRACE_ALU_MUL:
		result = a * b;
		break;
	case ARGTRACE_ALU_DIV:
	case ARGTRACE_ALU_MOD:
		if (!divide(a, b, is_signed, alu_operation(op) == ARGTRACE_ALU_MOD, &result))
			return false;
		break;
	case ARGTRACE_ALU_AND:
		result = a & b;
		break;
	case ARGTRACE_ALU_OR:
		result = a | b;
		break;
	case ARGTRACE_ALU_XOR:
		result = a ^ b;
		break;
	case ARGTRACE_ALU_SHL:
		result = a << shift;
		break;
	case ARGTRACE_ALU_SHR:
		result = is_signed ? (u64)((s64)a >> shift) : a >> shift;
		break;
	case ARGTRACE_ALU_EQ:
		*slot = a == b;
		return true;
	case ARGTRACE_ALU_NE:
		*slot = a != b;
		return true;
	case ARGTRACE_ALU_LT:
		*slot = is_signed ? (s64)a < (s64)b : a < b;
		return true;
	default:
		*slot = is_signed ? (s64)a <= (s64)b : a <= b;
		return true;
	}
	*slot = extend(result, op);
	return true;
}

/* Returns the next operation; none if *fault is set. */
static const struct argtrace_op *step(const struct argtrace_op *op, struct argtrace_run *run,
				      bool *fault)
{
	u64 value;
	int match;

	if (!value_of(op, run, &value))
		goto fault;
	if (argtrace_op_is_quick(op))
		return argtrace_op_test(op, value);
	switch (op->action) {
	case ARGTRACE_DO_TEST:
		return op->next[value - op->base <= op->span];
	case ARGTRACE_DO_TEXT:
		match = argtrace_text_matches(value, op->arg, run->code->data + op->base, op->span,
					      op->span >> 32, op->user & ARGTRACE_USER_DATA);
		if (match < 0)
			goto fault;
		return op->next[match];
	case ARGTRACE_DO_JUMP:
		return op->next[1];
	case ARGTRACE_DO_SET:
		run->slots[op->arg] = value;
		return op + 1;
	case ARGTRACE_DO_FILE:
		if (argtrace_file_of(value, &run->slots[op->arg]))
			return op + 1;
		break;
	default:
		if ((alu_width(op) == 8 &&
		     alu_of_words(alu_operation(op), &run->slots[op->arg], value)) ||
		    alu(op, &run->slots[op->arg], value))
			return op + 1;
	}
fault:
	*fault = true;
	return op;
}

enum argtrace_verdict argtrace_run_filter(struct argtrace_run *run, const struct argtrace_op *op)
{
	bool fault = false;

	do {
		op = step(op, run, &fault);
		if (unlikely(fault))
			return ARGTRACE_VERDICT_FAULT;
		if (!argtrace_op_ends(op) && argtrace_op_follows_filter(op))
			return ARGTRACE_VERDICT_ACCEPT;
	} while (!argtrace_op_ends(op));
	return (unsigned long)op;
}

/* Not inlined wherever an output is written. */
static u8 *put(u8 *to, u64 value, unsigned int bytes)
{
	return argtrace_encode_value(to, value, bytes);
}

/* What an output without a value writes. */
static u8 *put_nothing(u8 *to, const struct argtrace_op *op)
{
	return put(to, 0, op->action == ARGTRACE_DO_OUT ? op->arg : sizeof(u16));
}

/* NULL on a fault. */
static u8 *put_bytes(u8 *to, u64 from, u64 size, const struct argtrace_op *op)
{
	const u16 length = min_t(u64, size, op->arg);

	if (!argtrace_read_bytes(to + sizeof(length), from, length, op->user & ARGTRACE_USER_DATA))
		return NULL;
	return put(to, length | (size > op->arg ? ARGTRACE_TEXT_CUT : 0), sizeof(length)) + length;
}

/* Registers that have an object together. */
static u8 *put_words(u8 *to, u64 first, const struct argtrace_op *op,
		     const struct argtrace_run *run)
{
	u64 words[2] = { first };

	if (op->arg > sizeof(first))
		words[1] = run->slots[op->base];
	to = put(to, op->arg, sizeof(u16));
	argtrace_copy(to, (const u8 *)words, op->arg);
	return to + op->arg;
}

/* How many bytes a BUF is to read. */
static u64 size_of_buffer(const struct argtrace_op *op, const struct argtrace_run *run)
{
	const u64 size = run->slots[op->base];

	return op->next[0] && (s64)size < 0 ? 0 : size;
}

/* The end of text or a path that has been written to `to`; NULL on a fault. */
static u8 *end_of(u8 *to, long length)
{
	return length < 0 ? NULL : to + sizeof(u16) + length;
}

/* ARGTRACE_OUT_* of an output; quick ones, which have none, have the next output there. */
static u8 output_flags(const struct argtrace_op *op)
{
	return argtrace_op_is_quick(op) ? 0 : (unsigned long)op->next[1];
}

/* ARGTRACE_OUT_NULL */
static u8 *put_null(u8 *to, const struct argtrace_op *op)
{
	if (op->action != ARGTRACE_DO_PATH)
		return put(to, 0, sizeof(u16));
	to = put(to, sizeof(u16), sizeof(u16));
	return put(to, ARGTRACE_PATH_NONE, sizeof(u16));
}

/* Writes an output; NULL on a fault. */
static u8 *output(u8 *to, const struct argtrace_op *op, const struct argtrace_run *run)
{
	u64 value;

	if (unlikely(!value_of(op, run, &value)))
		return NULL;
	if (op->action == ARGTRACE_DO_OUT)
		return put(to, value, op->arg);
	if (output_flags(op) & ARGTRACE_OUT_NULL && value < ARGTRACE_NULL_END)
		return put_null(to, op);
	switch (op->action) {
	case ARGTRACE_DO_STR:
		return end_of(to, argtrace_write_text(to, value, op->arg,
						      op->user & ARGTRACE_USER_DATA));
	case ARGTRACE_DO_BUF:
		return put_bytes(to, value, size_of_buffer(op, run), op);
	case ARGTRACE_DO_PATH:
		return end_of(to, argtrace_write_path(to, value, op));
	case ARGTRACE_DO_WORDS:
		return put_words(to, value, op, run);
	case ARGTRACE_DO_STRS:
		return end_of(to, argtrace_write_texts(to, value, op->arg,
						       (unsigned long)op->next[0],
						       op->user & ARGTRACE_USER_DATA));
	default:
		return put_bytes(to, value, op->arg, op);
	}
}

/* The words of a key that an output has. */
static u32 key_words(const struct argtrace_op *op)
{
	return op->action == ARGTRACE_DO_OUT ? 1 : op->arg / sizeof(u64);
}

static u8 *put_zeros(u8 *to, const u8 *end)
{
	for (; to < end; to++)
		*to = 0;
	return to;
}

/* The same as words of a key. */
static u8 *output_words(u8 *to, const struct argtrace_op *op, const struct argtrace_run *run)
{
	const u8 *end = to + key_words(op) * sizeof(u64);
	u64 value;
	bool cut;
	int length;

	if (unlikely(!value_of(op, run, &value)))
		return NULL;
	if (op->action == ARGTRACE_DO_OUT)
		return put(to, value & GENMASK_ULL(op->arg * 8 - 1, 0), sizeof(u64));
	if (op->action == ARGTRACE_DO_BUF) {
		length = min_t(u64, size_of_buffer(op, run), op->arg);
		if (!argtrace_read_bytes(to, value, length, op->user & ARGTRACE_USER_DATA))
			return NULL;
		return put_zeros(to + length, end);
	}
	length = argtrace_read_text(to, value, op->arg, op->user & ARGTRACE_USER_DATA, &cut);
	return length < 0 ? NULL : put_zeros(to + length, end);
}

static __always_inline u8 *run_values(struct argtrace_run *run, u8 *to, const bool as_key)
{
	const struct argtrace_op *op = run->code->values, *end = run->code->end;
	u64 bit = 1;
	bool fault = false;
	u8 *next;

	run->unreadable = 0;
	while (op < end) {
		if (!argtrace_action_is_output(op->action)) {
			op = step(op, run, &fault);
			if (likely(!fault))
				continue;
			/* Skip the operations that depend on it. */
			while (!argtrace_action_is_output(op->action))
				op++;
		}
		next = fault ? NULL : as_key ? output_words(to, op, run) : output(to, op, run);
		fault = false;
		if (unlikely(!next)) {
			run->unreadable |= bit;
			next = as_key ? put_zeros(to, to + key_words(op) * sizeof(u64)) :
					put_nothing(to, op);
		}
		to = next;
		run->last = bit;
		bit <<= 1;
		op++;
	}
	return to;
}

u8 *argtrace_run_values(struct argtrace_run *run, u8 *to)
{
	return run_values(run, to, false);
}

u64 *argtrace_run_key(struct argtrace_run *run, u64 *to)
{
	return (u64 *)run_values(run, (u8 *)to, true);
}

/* Computes a value, from its first operation to its output. `bit` is set if it cannot be read. */
static __always_inline u8 *run_value(struct argtrace_run *run, const struct argtrace_op *op,
				     const struct argtrace_op *out, u8 *to, u64 bit,
				     const bool as_key)
{
	bool fault = false;
	u8 *end;

	while (op < out && !fault)
		op = step(op, run, &fault);
	end = fault ? NULL : as_key ? output_words(to, out, run) : output(to, out, run);
	if (likely(end))
		return end;
	run->unreadable |= bit;
	return as_key ? put_zeros(to, to + key_words(out) * sizeof(u64)) : put_nothing(to, out);
}

static const struct argtrace_op *find_output(const struct argtrace_op *op)
{
	while (!argtrace_action_is_output(op->action))
		op++;
	return op;
}

u8 *argtrace_run_entry_values(struct argtrace_run *run, u8 *to)
{
	const struct argtrace_op *op, *out, *end = run->code->end;
	u64 bit = 1;

	run->unreadable = 0;
	for (op = run->code->values; op < end; op = out + 1, bit <<= 1) {
		out = find_output(op);
		if (!(out->flags & ARGTRACE_INSN_RETURN))
			to = run_value(run, op, out, to, bit, false);
	}
	return to;
}

/*
 * Writes the value kept at *kept, and advances that. In a key, text is not preceded by its length.
 */
static u8 *put_kept(u8 *to, const struct argtrace_op *out, const u8 **kept, const bool as_key)
{
	const u8 *from = *kept, *words_end = to + key_words(out) * sizeof(u64);
	u16 length = out->arg;
	u64 value;

	if (out->action == ARGTRACE_DO_OUT) {
		/* Reading a whole word is safe for any value: the frame follows the kept values. */
		__builtin_memcpy(&value, from, sizeof(value));
		put(to, value, length);
	} else {
		__builtin_memcpy(&length, from, sizeof(length));
		length &= ~ARGTRACE_TEXT_CUT;
		if (as_key)
			from += sizeof(length);
		else
			length += sizeof(length);
		memcpy(to, from, length);
	}
	*kept = from + length;
	return as_key ? put_zeros(to + length, words_end) : to + length;
}

/* Whether a value is computed at the return for no other reason than that it takes no memory. */
static bool is_of_arguments(const struct argtrace_op *op, const struct argtrace_op *out)
{
	if (out->action != ARGTRACE_DO_OUT)
		return false;
	for (; op <= out; op++) {
		if (op->loads || (op->source != ARGTRACE_SOURCE_REG &&
				  op->source != ARGTRACE_SOURCE_SLOT &&
				  op->source != ARGTRACE_SOURCE_CONST))
			return false;
	}
	return true;
}

/* `left`: it has not returned, and will not. */
static __always_inline u8 *run_return_values(struct argtrace_run *run, u8 *to, const bool as_key,
					     const bool left)
{
	const struct argtrace_op *op, *out, *end = run->code->end;
	const u8 *kept = run->kept;
	u64 bit = 1;

	run->unreadable = kept ? *((const u64 *)kept - 1) : 0;
	for (op = run->code->values; op < end; op = out + 1, bit <<= 1) {
		out = find_output(op);
		if (left && out->flags & ARGTRACE_INSN_RETURN && !is_of_arguments(op, out)) {
			run->unreadable |= bit;
			to = put_nothing(to, out);
		} else if (out->flags & ARGTRACE_INSN_RETURN) {
			to = run_value(run, op, out, to, bit, as_key);
		} else if (unlikely(run->unreadable & bit) && !as_key && !left &&
			   output_flags(out) & ARGTRACE_OUT_AGAIN) {
			/* Its length is kept, which is 0. */
			kept += sizeof(u16);
			run->unreadable &= ~bit;
			to = run_value(run, op, out, to, bit, false);
		} else {
			to = put_kept(to, out, &kept, as_key);
		}
		run->last = bit;
	}
	return to;
}

u8 *argtrace_run_return_values(struct argtrace_run *run, u8 *to)
{
	return run_return_values(run, to, false, false);
}

u64 *argtrace_run_return_key(struct argtrace_run *run, u64 *to)
{
	return (u64 *)run_return_values(run, (u8 *)to, true, false);
}

u8 *argtrace_run_left_values(struct argtrace_run *run, u8 *to)
{
	return run_return_values(run, to, false, true);
}
