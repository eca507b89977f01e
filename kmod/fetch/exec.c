// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitops.h>
#include <linux/glob.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/swab.h>

#include "compat.h"
#include "fetch/exec.h"
#include "fetch/operands.h"
#include "fetch/text.h"

static u64 source_of(const struct argtrace_op *op, const struct argtrace_run *run)
{
	switch (op->source) {
	case ARGTRACE_SOURCE_REG:
		return argtrace_op_reg(op, run->fregs);
	case ARGTRACE_SOURCE_SLOT:
		return run->slots[op->index];
	case ARGTRACE_SOURCE_TASK:
		return (u64)current;
	case ARGTRACE_SOURCE_CONST:
		return op->action >= ARGTRACE_DO_SET ? op->span : 0;
	case ARGTRACE_SOURCE_STACK:
		return (u64)argtrace_stack(run->fregs);
	case ARGTRACE_SOURCE_CALLER:
		return run->caller;
	case ARGTRACE_SOURCE_CPU:
		return raw_smp_processor_id();
	default:
		return ktime_get_mono_fast_ns();
	}
}

/* The value of any operation. False: a fault. */
static __always_inline bool value_of(const struct argtrace_op *op, const struct argtrace_run *run, u64 *result)
{
	u64 value = source_of(op, run);

	if (op->loads && !argtrace_op_load(op, &value))
		return false;
	if (op->action != ARGTRACE_DO_TEST && op->loads < 3)
		value += op->offset[op->loads];
	if (op->flags & ARGTRACE_INSN_SWAP)
		value = swab64(value);
	if (op->shift)
		value = argtrace_op_shift(op, value);
	*result = value & op->mask;
	return true;
}

/* The divisions that the processor would trap. */
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
	return (unsigned long)op->then;
}

static unsigned int alu_width(const struct argtrace_op *op)
{
	return (unsigned long)op->other;
}

/* With 4 bytes the operands are the lower halves, extended like the result. */
static u64 extend(u64 value, const struct argtrace_op *op)
{
	if (alu_width(op) == 8)
		return value;
	return op->flags & ARGTRACE_INSN_SIGNED ? (u64)(s64)(s32)value : (u32)value;
}

static bool alu(const struct argtrace_op *op, u64 *slot, u64 value)
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

/* The next operation; *fault: there is none. */
static const struct argtrace_op *step(const struct argtrace_op *op, struct argtrace_run *run, bool *fault)
{
	u64 value;
	int match;

	if (!value_of(op, run, &value))
		goto fault;
	switch (op->action) {
	case ARGTRACE_DO_TEST:
		/* The mask has been applied; it may be once more. */
		return argtrace_op_test(op, value);
	case ARGTRACE_DO_TEXT:
		match = argtrace_text_matches(value, op->arg, run->code->data + op->base, op->span, op->span >> 32);
		if (match < 0)
			goto fault;
		return match ? op->then : op->other;
	case ARGTRACE_DO_JUMP:
		return op->then;
	case ARGTRACE_DO_SET:
		run->slots[op->arg] = value;
		return op + 1;
	default:
		if (alu(op, &run->slots[op->arg], value))
			return op + 1;
	}
fault:
	*fault = true;
	return op;
}

enum argtrace_verdict argtrace_run_filter(struct argtrace_run *run)
{
	const struct argtrace_op *op = run->code->filter;
	bool fault = false;

	do {
		op = step(op, run, &fault);
		if (unlikely(fault))
			return ARGTRACE_VERDICT_FAULT;
	} while (!argtrace_op_ends(op));
	return (unsigned long)op;
}

static u8 *put(u8 *to, u64 value, unsigned int bytes)
{
	switch (bytes) {
	case 8:
		__builtin_memcpy(to, &value, 8);
		break;
	case 4:
		__builtin_memcpy(to, &value, 4);
		break;
	case 2:
		__builtin_memcpy(to, &value, 2);
		break;
	default:
		*to = value;
	}
	return to + bytes;
}

/* What an output without a value writes. */
static u8 *put_nothing(u8 *to, const struct argtrace_op *op)
{
	return put(to, 0, op->action == ARGTRACE_DO_OUT ? op->arg : sizeof(u16));
}

/* NULL: a fault. */
static u8 *put_bytes(u8 *to, u64 from, u64 size, u32 limit)
{
	const u16 length = min_t(u64, size, limit);

	if (!argtrace_read_bytes(to + sizeof(length), from, length))
		return NULL;
	return put(to, length, sizeof(length)) + length;
}

static u8 *put_text(u8 *to, u64 from, u32 limit)
{
	bool cut;
	const int length = argtrace_read_text(to + sizeof(u16), from, limit, &cut);

	if (length < 0)
		return NULL;
	return put(to, length | (cut ? ARGTRACE_TEXT_CUT : 0), sizeof(u16)) + length;
}

/* An output; NULL: a fault. */
static u8 *output(u8 *to, const struct argtrace_op *op, const struct argtrace_run *run)
{
	u64 value;

	if (unlikely(!value_of(op, run, &value)))
		return NULL;
	switch (op->action) {
	case ARGTRACE_DO_OUT:
		return put(to, value, op->arg);
	case ARGTRACE_DO_STR:
		return put_text(to, value, op->arg);
	case ARGTRACE_DO_BUF:
		return put_bytes(to, value, run->slots[op->base], op->arg);
	default:
		return put_bytes(to, value, op->arg, op->arg);
	}
}

u8 *argtrace_run_values(struct argtrace_run *run, u8 *to)
{
	const struct argtrace_op *op = run->code->values, *end = run->code->end;
	u64 bit = 1;
	bool fault = false;
	u8 *next;

	run->unreadable = 0;
	while (op < end) {
		if (op->action < ARGTRACE_DO_OUT) {
			op = step(op, run, &fault);
			if (likely(!fault))
				continue;
			/* What depends on it is left out. */
			while (op->action < ARGTRACE_DO_OUT)
				op++;
		}
		next = fault ? NULL : output(to, op, run);
		fault = false;
		if (unlikely(!next)) {
			run->unreadable |= bit;
			next = put_nothing(to, op);
		}
		to = next;
		bit <<= 1;
		op++;
	}
	return to;
}
