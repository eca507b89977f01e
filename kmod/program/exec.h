/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes prepared programs, in the context of the call, with preemption off. Every operation has
 * been verified; all that can go wrong is that memory cannot be read.
 */
#ifndef ARGTRACE_EXEC_H
#define ARGTRACE_EXEC_H

#include <linux/cred.h>
#include <linux/sched.h>

#include "base/compat.h"
#include "read/load.h"
#include "program/program.h"
#include "read/path.h"
#include "read/text.h"
#include "stack/table.h"

struct argtrace_regs;

/* One call, as the operations see it. */
struct argtrace_run {
	const struct argtrace_code *code;
	const struct argtrace_regs *fregs;
	unsigned long caller;
	/* values from the entry, after the word that says which could not be read; NULL: none */
	const u8 *kept;
	u64 unreadable;			/* bit n: output n */
	u64 last;			/* the bit of the last output */
	u64 slots[ARGTRACE_SLOTS];
};

enum argtrace_verdict {
	ARGTRACE_VERDICT_REJECT = 0,
	ARGTRACE_VERDICT_ACCEPT = 1,
	ARGTRACE_VERDICT_FAULT = 2,
	ARGTRACE_VERDICT_TOO_DEEP = 3,	/* it could not be run: see read/scratch.h */
};

/* A register, whose `place` is that of an operation: in words. */
static __always_inline u64 argtrace_register_at(const struct argtrace_regs *fregs, u8 place)
{
	return ((const u64 *)fregs)[place];
}

static __always_inline u64 argtrace_op_reg(const struct argtrace_op *op,
					   const struct argtrace_regs *fregs)
{
	return argtrace_register_at(fregs, op->index);
}

static __always_inline u64 argtrace_op_task(const struct argtrace_op *op)
{
	return *(const u64 *)((const u8 *)current + op->offset[2]);
}

static __always_inline u64 argtrace_op_identity(const struct argtrace_op *op)
{
	if (op->index == ARGTRACE_NOT_IN_CRED)
		return argtrace_current_cgroup();
	return *(const u32 *)((const u8 *)current_cred() + op->index);
}

/*
 * The number of the call's stack for an operation that takes it, within argtrace_scratch_enter(); 0
 * if there is none.
 */
static __always_inline u64 argtrace_stack_of(const struct argtrace_code *code,
					     const struct argtrace_op *op,
					     const struct argtrace_regs *fregs)
{
	return argtrace_stack_id(code->stacks.kernel, argtrace_regs_return_slot(fregs),
				 argtrace_op_reg(op, fregs));
}

/*
 * The same for what a tick has interrupted. A CPU whose idle task is in an interrupt is not idle,
 * as far as can be seen: only an NMI can interrupt a hard interrupt.
 */
static __always_inline u64 argtrace_stack_of_tick(const struct argtrace_code *code,
						  const struct argtrace_regs *fregs)
{
	if (argtrace_regs_are_of_user(fregs))
		return ARGTRACE_STACK_ID_USER;
	if (is_idle_task(current) && !code->idle_has_stacks && !in_serving_softirq() &&
	    (!in_nmi() || !hardirq_count()))
		return ARGTRACE_STACK_ID_IDLE;
	return argtrace_stack_id_interrupted(code->stacks.kernel, fregs);
}

/* As argtrace_op_task(), for an int, which is sign-extended. */
static __always_inline u64 argtrace_op_task_int(const struct argtrace_op *op)
{
	return (s64)*(const s32 *)((const u8 *)current + op->offset[2]);
}

static __always_inline const struct argtrace_op *argtrace_op_test(const struct argtrace_op *op,
								  u64 value)
{
	/* A pointer instead of an index, which UBSAN would check, with a call for its report. */
	const struct argtrace_op *const *next = &op->next[1];
	s64 missed;

	value = ((value & op->mask) ^ op->sign) - op->base;
	missed = -(s64)(op->span < value);
	/* -1 or 0 by a subtraction with borrow, which takes no jump. */
	OPTIMIZER_HIDE_VAR(missed);
	return next[missed];
}

/*
 * The unmasked value of a quick operation; within argtrace_scratch_enter() if it is a load. False
 * if the operation is not quick, or if one of its loads is not from kernel memory or may have
 * failed; the slow path then finds out which. A load that fails yields -EFAULT, which is no kernel
 * address once the next offset has been added (see failure_shows() in program/quicken.c), so only
 * the last load need be checked. Calls no function.
 */
static __always_inline bool argtrace_op_quickly(const struct argtrace_op *op,
						const struct argtrace_regs *fregs, u64 *value)
{
	u64 v = argtrace_op_reg(op, fregs);

	if (op->kind == ARGTRACE_OP_LOAD_2)
		goto two;
	/*
	 * The usual kind is compared in memory; without this, all of them would be in a register
	 * that has to be loaded.
	 */
	barrier();
	if (op->kind == ARGTRACE_OP_LOAD_1)
		goto one;
	if (op->kind == ARGTRACE_OP_REG || op->kind == ARGTRACE_OP_TASK) {
		*value = op->kind == ARGTRACE_OP_REG ? v : argtrace_op_task(op);
		return true;
	}
	if (unlikely(op->kind != ARGTRACE_OP_LOAD_3)) {
		if (op->kind != ARGTRACE_OP_LOAD_TASK)
			return false;
		v = (u64)current;
		if (op->loads == 2)
			goto two;
		if (op->loads == 1)
			goto one;
	}
	v += op->offset[0];
	if (unlikely(!argtrace_is_kernel_address(v)))
		return false;
	v = argtrace_load_quickly(v);
two:
	v += op->offset[1];
	if (unlikely(!argtrace_is_kernel_address(v)))
		return false;
	v = argtrace_load_quickly(v);
one:
	v += op->offset[2];
	if (unlikely(!argtrace_is_kernel_address(v)))
		return false;
	v = argtrace_load_quickly(v);
	*value = v;
	return likely(v != (u64)-EFAULT);
}

/*
 * Runs a filter, starting with a load, as far as its operations are quick; within
 * argtrace_scratch_enter(). Returns the operation at which it stopped, which may have to be
 * executed again. Calls no function, so that a callback that rejects a call saves no registers.
 */
static __always_inline const struct argtrace_op *
argtrace_run_loads(const struct argtrace_op *op, const struct argtrace_regs *fregs)
{
	u64 value;

	do {
		if (unlikely(!argtrace_op_quickly(op, fregs, &value)))
			break;
		op = argtrace_op_test(op, value);
	} while (!argtrace_op_ends(op));
	return op;
}

/* Any filter of the code, from its first operation up to its verdict. */
enum argtrace_verdict argtrace_run_filter(struct argtrace_run *run, const struct argtrace_op *op);

/*
 * Computes the values and writes the outputs to `to`, which has room for code->output bytes.
 * Returns their end; run->unreadable says which could not be read.
 */
u8 *argtrace_run_values(struct argtrace_run *run, u8 *to);

/* The same if the outputs are the key of a map and its value: writes words to `to`. */
u64 *argtrace_run_key(struct argtrace_run *run, u64 *to);

/*
 * At the entry of a call whose return is followed: as argtrace_run_values(), for the values that
 * are kept until it returns.
 */
u8 *argtrace_run_entry_values(struct argtrace_run *run, u8 *to);

/* When it returns, the other values, and between them those that were kept in run->kept. */
u8 *argtrace_run_return_values(struct argtrace_run *run, u8 *to);
u64 *argtrace_run_return_key(struct argtrace_run *run, u64 *to);

/*
 * When it will not return, those that were kept, and what else is known from its arguments; the
 * others are nothing, and not readable.
 */
u8 *argtrace_run_left_values(struct argtrace_run *run, u8 *to);

/* The path that an operation says: argtrace_read_path() or argtrace_read_node_path(). */
static __always_inline int argtrace_read_path_of(u8 *to, u64 from, const struct argtrace_op *op)
{
	if (unlikely(op->arg == ARGTRACE_PATH_OF_NODE))
		return argtrace_read_node_path(to, from, (const void *)op->next[0]);
	return argtrace_read_path(to, from, (const void *)op->next[0]);
}

/*
 * Writes text as in a record, beginning with its length. Returns the number of bytes that follow
 * the length, or a negative error.
 */
static __always_inline long argtrace_write_text(u8 *to, u64 from, u32 limit, bool user)
{
	bool cut;
	const int length = argtrace_read_text(to + sizeof(u16), from, limit, user, &cut);

	*(u16 *)to = length | (cut ? ARGTRACE_TEXT_CUT : 0);
	return length;
}

/* The same for the texts that an array of pointers leads to. */
static __always_inline long argtrace_write_texts(u8 *to, u64 from, u32 limit, u32 width, bool user)
{
	bool cut;
	const int length = argtrace_read_texts(to + sizeof(u16), from, limit, ARGTRACE_STRS_MAX,
					       width, user, &cut);

	*(u16 *)to = length | (cut ? ARGTRACE_TEXT_CUT : 0);
	return length;
}

/* The same for the path that an operation says. */
static __always_inline long argtrace_write_path(u8 *to, u64 from, const struct argtrace_op *op)
{
	const int length = argtrace_read_path_of(to + sizeof(u16), from, op);

	*(u16 *)to = length;
	return length;
}

#endif
