/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes prepared programs, in whatever context a call was made, with preemption off. Every operation has been
 * verified; what can go wrong is that memory cannot be read.
 */
#ifndef ARGTRACE_EXEC_H
#define ARGTRACE_EXEC_H

#include <linux/sched.h>

#include "fetch/load.h"
#include "fetch/program.h"

struct ftrace_regs;

/* One call, as the operations see it. */
struct argtrace_run {
	const struct argtrace_code *code;
	const struct ftrace_regs *fregs;
	unsigned long caller;
	u64 unreadable;			/* bit n: output n */
	u64 slots[ARGTRACE_SLOTS];
};

enum argtrace_verdict {
	ARGTRACE_VERDICT_REJECT = 0,
	ARGTRACE_VERDICT_ACCEPT = 1,
	ARGTRACE_VERDICT_FAULT = 2,
	ARGTRACE_VERDICT_TOO_DEEP = 3,	/* it could not be run: see fetch/scratch.h */
	ARGTRACE_VERDICT_UNDECIDED = 4,	/* see argtrace_run_simple() */
};

static __always_inline u64 argtrace_op_reg(const struct argtrace_op *op, const struct ftrace_regs *fregs)
{
	return *(const u64 *)((const u8 *)fregs + op->index);
}

/* The loads of an operation, from *value on. False: a fault. */
static __always_inline bool argtrace_op_load(const struct argtrace_op *op, u64 *value)
{
	const unsigned int last = op->loads - 1;
	unsigned int i;

	for (i = 0; i < last; i++) {
		if (unlikely(!argtrace_load(*value + op->offset[i], 8, value)))
			return false;
	}
	return argtrace_load(*value + op->offset[last], op->width, value);
}

static __always_inline u64 argtrace_op_shift(const struct argtrace_op *op, u64 value)
{
	value <<= op->shl;
	return op->flags & ARGTRACE_INSN_SIGNED ? (u64)((s64)value >> op->shr) : value >> op->shr;
}

static __always_inline const struct argtrace_op *argtrace_op_test(const struct argtrace_op *op, u64 value)
{
	return (value & op->mask) - op->base <= op->span ? op->then : op->other;
}

/*
 * A filter of nothing but tests of registers, the task, and kernel memory. It calls no function, so that a callback that
 * rejects saves no registers: what is rare, a fault or user memory, it leaves to argtrace_run_filter().
 */
static __always_inline enum argtrace_verdict argtrace_run_simple(const struct argtrace_op *op,
								 const struct ftrace_regs *fregs)
{
	unsigned int i;
	u64 value;

	do {
		value = op->kind == ARGTRACE_OP_REG ? argtrace_op_reg(op, fregs) : (u64)current;
		for (i = 0; i < op->loads; i++) {
			value += op->offset[i];
			if (unlikely(!argtrace_is_kernel_address(value) ||
				     !argtrace_load_kernel(value, i + 1 < op->loads ? 8 : op->width, &value)))
				return ARGTRACE_VERDICT_UNDECIDED;
		}
		if (op->shift)
			value = argtrace_op_shift(op, value);
		op = argtrace_op_test(op, value);
	} while (!argtrace_op_ends(op));
	return (unsigned long)op;
}

/* Any filter. */
enum argtrace_verdict argtrace_run_filter(struct argtrace_run *run);

/*
 * Computes the values, and writes the outputs from `to` on, where there are code->output bytes. Returns their end; what could
 * not be read is in run->unreadable.
 */
u8 *argtrace_run_values(struct argtrace_run *run, u8 *to);

#endif
