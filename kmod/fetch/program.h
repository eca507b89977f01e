/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe's program (include/uapi/argtrace_program.h), verified and prepared, so that a call only has to execute it
 * (fetch/exec.h).
 */
#ifndef ARGTRACE_PROGRAM_H
#define ARGTRACE_PROGRAM_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

/* How an operation gets its value. The first two, with a TEST, are what a filter does at its best. */
enum argtrace_op_kind {
	ARGTRACE_OP_REG,		/* from an argument register: TEST */
	ARGTRACE_OP_TASK,		/* from the current task: TEST */
	ARGTRACE_OP_OTHER,		/* see `source` and `action` */
};

/* An instruction, prepared: a cache line. */
struct argtrace_op {
	u64 mask, base, span;
	const struct argtrace_op *then, *other;	/* where it goes on; ARGTRACE_OP_ACCEPT, ARGTRACE_OP_REJECT; ALU: operation and width */
	s32 offset[3];
	u16 arg;
	u8 kind;			/* enum argtrace_op_kind */
	u8 source;
	u8 index;			/* of a slot; of a register: where it is in struct ftrace_regs */
	u8 loads;
	u8 width;
	bool shift;			/* shl or shr is not 0 */
	u8 shl;
	u8 shr;
	u8 flags;
	u8 action;
};

#define ARGTRACE_OP_REJECT	((const struct argtrace_op *)0ul)
#define ARGTRACE_OP_ACCEPT	((const struct argtrace_op *)1ul)
#define argtrace_op_ends(op)	((unsigned long)(op) <= 1)

struct argtrace_code {
	const struct argtrace_op *filter;	/* NULL: every call is accepted */
	const struct argtrace_op *values, *end;	/* equal: there are none */
	const u8 *data;
	bool simple;			/* there is a filter, all operations of which are ARGTRACE_OP_REG or TASK */
	bool filter_reads;		/* memory */
	bool values_read;
	bool variable;			/* the size of what it outputs is not known beforehand */
	u16 unreadable_at;		/* in the record: a word, followed by the outputs */
	u16 output;			/* bytes of all outputs at most */
	u32 sample;			/* 0: each call */
	u32 max_rate;			/* 0: any */
	atomic64_t rate;		/* the second in the upper half, and how many records it has had */
};

/* Bytes that the prepared form of a program of so many bytes takes at most. */
size_t argtrace_code_size(size_t program);

/*
 * Verifies the program of `size` bytes, and writes its prepared form to *code and what follows it. The outputs must be those
 * that the arguments of `schema` with ARGTRACE_LOC_PROGRAM describe. 0, -EINVAL, -E2BIG.
 */
int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema);

#endif
