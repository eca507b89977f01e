/* SPDX-License-Identifier: GPL-2.0-only */
/* What an action does with its value: asked when a program is verified, prepared and executed. */
#ifndef ARGTRACE_INSN_H
#define ARGTRACE_INSN_H

#include <linux/types.h>
#include <uapi/argtrace.h>

/* Any of the loads reads user memory. */
#define ARGTRACE_INSN_USER_LOADS \
	(ARGTRACE_INSN_USER(0) | ARGTRACE_INSN_USER(1) | ARGTRACE_INSN_USER(2))

/* Whether the action writes an output. Outputs have the upper numbers, as the ABI has it. */
static inline bool argtrace_action_is_output(u8 action)
{
	return action >= ARGTRACE_DO_OUT;
}

/* Whether the program continues at `then` (or `other`) instead of the next instruction. */
static inline bool argtrace_action_jumps(u8 action)
{
	return action == ARGTRACE_DO_TEST || action == ARGTRACE_DO_TEXT ||
	       action == ARGTRACE_DO_JUMP;
}

/* Whether the action gives a slot its value, whatever that was. */
static inline bool argtrace_action_sets(u8 action)
{
	return action == ARGTRACE_DO_SET || action == ARGTRACE_DO_FILE;
}

/* Whether the action reads text or bytes that may be in user memory. */
static inline bool argtrace_action_reads_data(u8 action)
{
	return action == ARGTRACE_DO_TEXT || action == ARGTRACE_DO_STR ||
	       action == ARGTRACE_DO_BUF || action == ARGTRACE_DO_MEM ||
	       action == ARGTRACE_DO_STRS;
}

static inline bool argtrace_insn_reads_memory(const struct argtrace_insn *insn)
{
	return insn->loads || argtrace_action_reads_data(insn->action) ||
	       insn->action == ARGTRACE_DO_PATH || insn->action == ARGTRACE_DO_FILE;
}

#endif
