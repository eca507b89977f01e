/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A probe's program (include/uapi/argtrace_program.h), verified (program/verify.h) and prepared, so
 * that a call only has to execute it (program/exec.h).
 */
#ifndef ARGTRACE_PROGRAM_H
#define ARGTRACE_PROGRAM_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "stack/table.h"

/*
 * The kind of an operation. Except for IDENTITY, the quick kinds are a TEST in a filter, and an
 * OUT, STR or PATH without shifts in a value. They read 8 bytes from where their name says, of
 * which `mask` selects what is wanted. That is so quick that it pays to distinguish where the value
 * comes from.
 *
 * A call asks for groups of kinds by a single comparison, so their order matters to the predicates
 * below, and to nothing else.
 */
enum argtrace_op_kind {
	ARGTRACE_OP_REG,		/* an argument register */
	/* memory of the current task, at offset[2], which is always mapped */
	ARGTRACE_OP_TASK,
	/* memory reached from an argument register, by so many loads */
	ARGTRACE_OP_LOAD_1,
	ARGTRACE_OP_LOAD_2,
	ARGTRACE_OP_LOAD_3,
	ARGTRACE_OP_LOAD_TASK,		/* memory reached from the current task, by `loads` loads */
	ARGTRACE_OP_IDENTITY,		/* its user, group or cgroup */
	ARGTRACE_OP_STACK,		/* the number of the call's stack; takes a call */
	ARGTRACE_OP_OTHER,		/* see `source` and `action` */
	/* In the key of a map, or its value: */
	ARGTRACE_OP_CONST,		/* `span` */
	ARGTRACE_OP_REG_INT,		/* as REG and TASK, but a signed number of 4 bytes */
	ARGTRACE_OP_TASK_INT,
	/* Made from fields of argtrace_program, not from instructions. They continue at next[1]. */
	ARGTRACE_OP_SAMPLE,
	ARGTRACE_OP_CAP,
	/*
	 * Sinks, in place of ACCEPT if nothing is recorded: what to do with the call. The kinds
	 * that call no function have everything in one operation: `base` is the map's cpus; the key
	 * is a word of a register or of the task, as in their own operations, or the task's name,
	 * or nothing; and the value is the register `width` with the mask `span`.
	 */
	ARGTRACE_OP_COUNT,
	ARGTRACE_OP_ADD_REG,
	ARGTRACE_OP_ADD_TASK,
	ARGTRACE_OP_ADD_TASK_INT,
	ARGTRACE_OP_ADD_NAME,
	/* the bucket is the whole key, and there are more slots than buckets */
	ARGTRACE_OP_ADD_LOG2,
	ARGTRACE_OP_ADD_NAME_LOG2,
	ARGTRACE_OP_ADD_NAME_VALUE,
	ARGTRACE_OP_ADD_CONST_LOG2,	/* the key is `mask` */
	/* the key is the number of the call's stack; takes a call */
	ARGTRACE_OP_ADD_STACK,
	ARGTRACE_OP_ADD_OTHER,		/* see argtrace_code.outputs */
};

#define ARGTRACE_NOT_IN_CRED	0	/* the cgroup */

/* An instruction, prepared. */
struct argtrace_op {
	u64 mask;
	/*
	 * For OUTPUTS_QUICK and STACK: where in the record it goes; for TEXT, PATH and PATHS: what
	 * is added to the value.
	 */
	u64 base;
	u64 span;
	/*
	 * The next operation, or ARGTRACE_OP_ACCEPT or REJECT: [0] if a test fails, else [1]. ALU:
	 * width and operation. Outputs have none, except quick ones, whose [1] is the next output
	 * or NULL, and PATH, whose [0] is the layout or NULL.
	 */
	const struct argtrace_op *next[2];
	union {
		/*
		 * For a quick TEST: toggled in the value before `base` is subtracted, so that
		 * signed numbers compare in order.
		 */
		u64 sign;
		/* For all other operations. */
		struct {
			u16 arg;
			u8 source;
			u8 action;
			u8 shl;
			u8 shr;
			u8 flags;
		};
	};
	/*
	 * Added before each load, the last load having offset[2]. With fewer than 3 loads, the
	 * first is added after them.
	 */
	s64 offset[3];
	u8 kind;			/* enum argtrace_op_kind */
	/*
	 * of a slot; of a register: where it is in struct argtrace_regs, in words; of an identity:
	 * in struct cred, in bytes
	 */
	u8 index;
	/*
	 * ARGTRACE_LOADS_STACK: none, it is the number of the stack; _TICK: of a timer's;
	 * _USER_STACK: of the task's user stack
	 */
	u8 loads;
	u8 width;
	/* ARGTRACE_USER_*; 0 where the kind is quick, but for the data of an output */
	u8 user;
	u8 simple;			/* enum argtrace_op_simple */
};

/*
 * Where the value of an operation comes from that is of no quick kind, but takes neither loads nor
 * shifts: `offset[0]` is added, and `mask` selects what is wanted.
 */
enum argtrace_op_simple {
	ARGTRACE_SIMPLE_NOT,
	ARGTRACE_SIMPLE_SLOT,
	ARGTRACE_SIMPLE_REG,
	ARGTRACE_SIMPLE_CONST,		/* `span` */
};

/* What of an operation is in user memory: bit n stands for the load at offset[n]. */
#define ARGTRACE_USER_LOADS	0x07
#define ARGTRACE_USER_DATA	0x08

#define ARGTRACE_LOADS_STACK	4
#define ARGTRACE_LOADS_TICK	5
#define ARGTRACE_LOADS_USER_STACK	6

#define ARGTRACE_OP_REJECT	((const struct argtrace_op *)0ul)
#define ARGTRACE_OP_ACCEPT	((const struct argtrace_op *)1ul)
#define argtrace_op_ends(op)	((unsigned long)(op) <= 1)

static __always_inline bool argtrace_op_is_quick(const struct argtrace_op *op)
{
	return op->kind < ARGTRACE_OP_OTHER;
}

/* Whether argtrace_op_quickly() may compute its value, by reading only what is mapped or caught. */
static __always_inline bool argtrace_op_has_quick_value(const struct argtrace_op *op)
{
	return op->kind <= ARGTRACE_OP_LOAD_TASK;
}

/* Whether that takes at least one load that may fail. */
static __always_inline bool argtrace_op_is_load(const struct argtrace_op *op)
{
	return op->kind >= ARGTRACE_OP_LOAD_1 && op->kind <= ARGTRACE_OP_LOAD_TASK;
}

static __always_inline bool argtrace_op_is_sink(const struct argtrace_op *op)
{
	return op->kind >= ARGTRACE_OP_COUNT;
}

/* Whether it follows a filter that has accepted the call. */
static __always_inline bool argtrace_op_follows_filter(const struct argtrace_op *op)
{
	return op->kind == ARGTRACE_OP_CAP || argtrace_op_is_sink(op);
}

/* Beside the instructions: SAMPLE, CAP, and what is in place of ACCEPT. */
#define ARGTRACE_OPS_EXTRA	3

/*
 * How the outputs of a program are written. As with the kinds of operations, predicates rely on the
 * order, and so does argtrace_record_outputs().
 */
enum argtrace_outputs {
	ARGTRACE_OUTPUTS_NONE,
	/* quick operations, and the rest of the record is plain as well */
	ARGTRACE_OUTPUTS_QUICK,
	/* the path of a file and nothing else, and the rest of the record as for QUICK */
	ARGTRACE_OUTPUTS_PATH,
	ARGTRACE_OUTPUTS_TEXT,		/* as QUICK, with text among them */
	ARGTRACE_OUTPUTS_PATHS,		/* the same with paths */
	/* the same with the number of the stack, and neither text nor paths */
	ARGTRACE_OUTPUTS_STACK,
	/* as TEXT or PATHS, with text of user memory, which has no quick way, among them */
	ARGTRACE_OUTPUTS_USER,
	ARGTRACE_OUTPUTS_FIXED,		/* any outputs whose size is known beforehand */
	ARGTRACE_OUTPUTS_VARIABLE,
	/* Nothing is recorded: */
	ARGTRACE_OUTPUTS_COUNT,
	/* a key of up to two words, and a value if there is one, without loads */
	ARGTRACE_OUTPUTS_WORDS,
	/* a key that is the number of the stack, and nothing else */
	ARGTRACE_OUTPUTS_STACK_KEY,
	ARGTRACE_OUTPUTS_MAP,		/* any key and value */
};

struct argtrace_map_set;

struct argtrace_code {
	const struct argtrace_op *start;	/* where a call begins; may be ARGTRACE_OP_ACCEPT */
	const struct argtrace_op *filter;	/* NULL: every call is accepted */
	const struct argtrace_op *return_filter; /* the same for followed calls at their return */
	const struct argtrace_op *values, *end;	/* equal: there are none */
	const u8 *data;
	struct argtrace_stack_sets stacks; /* the session's */
	u8 outputs;			/* enum argtrace_outputs */
	bool reads;			/* memory */
	bool reads_user;		/* user memory */
	bool reads_user_at_return;	/* the same when a call returns that is followed */
	bool idle_has_stacks;		/* ARGTRACE_TIMER_IDLE */
	bool keeps;			/* followed calls: some values are computed at entry */
	bool keeps_all;			/* the same of all values */
	bool times;			/* followed calls: how long they take matters */
	u16 unreadable_at;		/* in the record: a word, followed by the outputs */
	u16 output;			/* bytes of all outputs at most */
	/* followed calls: bytes of the outputs that are computed at entry */
	u16 kept;
	u32 sample;			/* 0: each call */
	u32 max_rate;			/* 0: any */
	const struct argtrace_map_set *map;	/* where the outputs go, or NULL */
	struct argtrace_map_set *const *maps;	/* the session's */
	atomic64_t rate;		/* see argtrace_may_record() */
};

/* The maximum size of the prepared form of a program of so many bytes. */
size_t argtrace_code_size(size_t program);

/*
 * Verifies the program of `size` bytes, and writes its prepared form to *code and the memory after
 * it. The outputs must be those that the arguments of `schema` with ARGTRACE_LOC_PROGRAM describe,
 * and suit the map if they go to one of `maps`. Numbers of stacks come from `stacks`, and are
 * refused if there are none, or it is NULL. 0, -EINVAL, -E2BIG. If it may cost too much, *too_dear
 * is set to the cost, unless it is NULL.
 */
int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema,
			  struct argtrace_map_set *const *maps,
			  const struct argtrace_stack_sets *stacks, u64 *too_dear);

/*
 * What is done with a call that is not recorded, in one operation: at its entry, or when a followed
 * call returns.
 */
static inline const struct argtrace_op *argtrace_code_sink(const struct argtrace_code *code)
{
	return (const struct argtrace_op *)(code + 1) + ARGTRACE_OPS_EXTRA - 1;
}

/* Whether its calls are counted or added to a map instead of being recorded. */
static inline bool argtrace_code_aggregates(const struct argtrace_code *code)
{
	return code->outputs >= ARGTRACE_OUTPUTS_COUNT;
}

/* Whether a followed call may begin without running any of the program. */
static inline bool argtrace_code_waits_for_return(const struct argtrace_code *code)
{
	return !code->filter && !code->sample && !code->keeps;
}

/*
 * Places the outputs at `at` in the record. `quick` says whether the other parts of the record are
 * written quickly.
 */
void argtrace_code_place(struct argtrace_code *code, u32 at, bool quick);

#endif
