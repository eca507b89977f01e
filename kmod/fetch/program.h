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

/*
 * What an operation is. The quick ones are, in a filter, a TEST, and in a value, an OUT, STR or PATH without shifts, but for an IDENTITY: they get the value
 * from where their name says, 8 bytes of it of which `mask` has what is wanted, and so quickly that the ways to it
 * are worth being told apart.
 */
enum argtrace_op_kind {
	ARGTRACE_OP_REG,		/* an argument register */
	ARGTRACE_OP_TASK,		/* memory of the current task, at offset[2], which is there */
	ARGTRACE_OP_LOAD_1,		/* memory behind an argument register, after so many loads */
	ARGTRACE_OP_LOAD_2,
	ARGTRACE_OP_LOAD_3,
	ARGTRACE_OP_LOAD_TASK,		/* memory behind the current task, after `loads` */
	ARGTRACE_OP_IDENTITY,		/* its user, group or cgroup */
	ARGTRACE_OP_STACK,		/* the number of the call's stack; takes a call */
	ARGTRACE_OP_OTHER,		/* see `source` and `action` */
	/* In the key of a map, or its value: */
	ARGTRACE_OP_CONST,		/* `span` */
	ARGTRACE_OP_REG_INT,		/* as REG and TASK, but 4 bytes, of a signed number */
	ARGTRACE_OP_TASK_INT,
	/* Not instructions, but what argtrace_program says beside them. They go on at next[1]. */
	ARGTRACE_OP_SAMPLE,
	ARGTRACE_OP_CAP,
	/*
	 * In place of ACCEPT, where nothing is recorded: what becomes of the call. Those that need no function have all that it takes in
	 * one operation: `base` is the map's cpus; the key is a word of a register or of the task, as their operations have it, or the
	 * task's name, or nothing; and the value is the register `width` with the mask `span`.
	 */
	ARGTRACE_OP_COUNT,
	ARGTRACE_OP_ADD_REG,
	ARGTRACE_OP_ADD_TASK,
	ARGTRACE_OP_ADD_TASK_INT,
	ARGTRACE_OP_ADD_NAME,
	ARGTRACE_OP_ADD_LOG2,		/* no key but the bucket, and more slots than there can be buckets */
	ARGTRACE_OP_ADD_NAME_LOG2,
	ARGTRACE_OP_ADD_NAME_VALUE,
	ARGTRACE_OP_ADD_OTHER,		/* see argtrace_code.outputs */
};

#define ARGTRACE_NOT_IN_CRED	0	/* the cgroup */

#define argtrace_op_is_quick(op) ((op)->kind < ARGTRACE_OP_OTHER)
/* Whether argtrace_op_quickly() may have its value, and reads nothing but what is there. */
#define argtrace_op_has_quick_value(op) ((op)->kind <= ARGTRACE_OP_LOAD_TASK)
#define argtrace_op_is_load(op) ((op)->kind >= ARGTRACE_OP_LOAD_1 && (op)->kind <= ARGTRACE_OP_LOAD_TASK)

/* An instruction, prepared: a cache line. */
struct argtrace_op {
	u64 mask;
	u64 base;			/* of OUTPUTS_QUICK: where in the record it goes; TEXT, PATH: what is added to the value */
	u64 span;			/* of PATH: the address of the layout, or 0 */
	/*
	 * Where it goes on if a test fails, and if not or without one; ARGTRACE_OP_ACCEPT, REJECT. ALU: width and operation.
	 * Outputs have none, but quick ones the next output in next[1], or NULL.
	 */
	const struct argtrace_op *next[2];
	union {
		/* For a quick TEST: toggled in the value before `base` is subtracted, so that signed numbers compare in order. */
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
	/* Before the loads: the last one's is offset[2]. With fewer than 3 the first is what is added after them. */
	s32 offset[3];
	u8 kind;			/* enum argtrace_op_kind */
	u8 index;			/* of a slot; of a register: where it is in struct ftrace_regs; of an identity: in struct cred */
	u8 loads;			/* ARGTRACE_LOADS_STACK: none, it is the number of the stack; _TICK: of a timer's */
	u8 width;
};

#define ARGTRACE_LOADS_STACK	4
#define ARGTRACE_LOADS_TICK	5

#define ARGTRACE_OP_REJECT	((const struct argtrace_op *)0ul)
#define ARGTRACE_OP_ACCEPT	((const struct argtrace_op *)1ul)
#define argtrace_op_ends(op)	((unsigned long)(op) <= 1)

#define argtrace_op_is_sink(op)	((op)->kind >= ARGTRACE_OP_COUNT)

/* Beside the instructions: SAMPLE, CAP, and what is in place of ACCEPT. */
#define ARGTRACE_OPS_EXTRA	3

/* What a program adds to a record. */
enum argtrace_outputs {
	ARGTRACE_OUTPUTS_NONE,
	ARGTRACE_OUTPUTS_QUICK,		/* quick operations, and the rest of the record takes no care either */
	ARGTRACE_OUTPUTS_TEXT,		/* the same with text among them */
	ARGTRACE_OUTPUTS_PATH,		/* the same with paths */
	ARGTRACE_OUTPUTS_STACK,		/* the same with the number of the stack, and neither text nor paths */
	ARGTRACE_OUTPUTS_FIXED,		/* any, of a size that is known beforehand */
	ARGTRACE_OUTPUTS_VARIABLE,
	/* Nothing is recorded: */
	ARGTRACE_OUTPUTS_COUNT,
	ARGTRACE_OUTPUTS_WORDS,		/* a key of up to two words, and a value if there is one, without loads */
	ARGTRACE_OUTPUTS_STACK_KEY,	/* a key that is the number of the stack, and nothing else */
	ARGTRACE_OUTPUTS_MAP,		/* any key and value */
};

struct argtrace_map_set;
struct argtrace_stack_set;

struct argtrace_code {
	const struct argtrace_op *start;	/* where a call begins; may be ARGTRACE_OP_ACCEPT */
	const struct argtrace_op *filter;	/* NULL: every call is accepted */
	const struct argtrace_op *return_filter; /* the same, when a call that is followed returns */
	const struct argtrace_op *values, *end;	/* equal: there are none */
	const u8 *data;
	const struct argtrace_stack_set *stacks; /* the session's, or NULL */
	u8 outputs;			/* enum argtrace_outputs */
	bool reads;			/* memory */
	bool idle_has_stacks;		/* ARGTRACE_TIMER_IDLE */
	bool keeps;			/* of calls that are followed: some values are computed at entry */
	bool times;			/* of calls that are followed: how long they take matters */
	u16 unreadable_at;		/* in the record: a word, followed by the outputs */
	u16 output;			/* bytes of all outputs at most */
	u16 kept;			/* of calls that are followed: of outputs that are computed at entry */
	u32 sample;			/* 0: each call */
	u32 max_rate;			/* 0: any */
	const struct argtrace_map_set *map;	/* where the outputs go, or NULL */
	struct argtrace_map_set *const *maps;	/* the session's */
	atomic64_t rate;		/* see argtrace_may_record() */
};

/* Bytes that the prepared form of a program of so many bytes takes at most. */
size_t argtrace_code_size(size_t program);

/*
 * Verifies the program of `size` bytes, and writes its prepared form to *code and what follows it. The outputs must be those
 * that the arguments of `schema` with ARGTRACE_LOC_PROGRAM describe, and fit the map if one of `maps` is to have them. `stacks`: where
 * the numbers of stacks come from; NULL: from nowhere. 0, -EINVAL, -E2BIG.
 */
int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema,
			  struct argtrace_map_set *const *maps, const struct argtrace_stack_set *stacks);

/* Whether its calls are not recorded, but counted, or added to a map. */
static inline bool argtrace_code_aggregates(const struct argtrace_code *code)
{
	return code->outputs >= ARGTRACE_OUTPUTS_COUNT;
}

/* Whether a call that is followed may begin without a look at the program. */
static inline bool argtrace_code_waits_for_return(const struct argtrace_code *code)
{
	return !code->filter && !code->sample && !code->keeps;
}

/* Settles that the outputs begin at `at` in the record; with `quick` false other parts of it are not written quickly. */
void argtrace_code_place(struct argtrace_code *code, u32 at, bool quick);

#endif
