/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verifies programs (include/uapi/argtrace_program.h). Nothing is trusted, and nothing remains to
 * be checked during a call.
 */
#ifndef ARGTRACE_VERIFY_H
#define ARGTRACE_VERIFY_H

#include <linux/nospec.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "stack/table.h"

struct argtrace_map_set;

/* A program that has been verified, and what its probe and its session determine for it. */
struct argtrace_verified {
	const struct argtrace_program *head;
	const struct argtrace_insn *insns;
	const u8 *data;
	u32 values_begin;			/* after the filters */
	const struct argtrace_map_set *map;	/* of ARGTRACE_SINK_MAP */
	struct argtrace_stack_sets stacks;	/* the session's */
	bool followed;				/* calls are recorded when they return */
	bool ticks;				/* there are no calls, but ticks of a timer */
	bool user_code;				/* calls are those of user code */
	bool goroutines;			/* followed calls: of functions of Go */
	bool idle_has_stacks;			/* ARGTRACE_TIMER_IDLE */
};

/*
 * Verifies the program of a probe; the parameters are those of argtrace_code_prepare(). 0, -EINVAL,
 * -E2BIG.
 */
int argtrace_program_verify(struct argtrace_verified *program, const struct argtrace_probe *schema,
			    struct argtrace_map_set *const *maps,
			    const struct argtrace_stack_sets *stacks, u64 *too_dear);

/*
 * Whether an instruction is valid by itself. `returns`: it is run when the function returns.
 * `defined`: the slots that are set on every way to it. program/verify_insn.c
 */
bool argtrace_insn_is_valid(const struct argtrace_verified *program,
			    const struct argtrace_insn *insn, bool returns, u16 defined);

/*
 * For programs of user code: whether an instruction reads no memory of the kernel's at an address
 * that the program being traced may have supplied. `supplied`: the slots that may have such values;
 * *supplies: whether its own value may. program/verify_insn.c
 */
bool argtrace_insn_trusts_no_address(const struct argtrace_insn *insn, u16 supplied,
				     bool *supplies);

/* The literal or the layout of an instruction, once its place has been checked. */
static inline const void *argtrace_program_data(const struct argtrace_verified *program,
						const struct argtrace_insn *insn)
{
	return program->data + array_index_nospec(insn->base, program->head->data);
}

#endif
