/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user stack of the current task: from the instruction at which it has entered the kernel, by
 * the tables of the objects that it has mapped, and by frame pointers where there are none.
 */
#ifndef ARGTRACE_STACK_USER_H
#define ARGTRACE_STACK_USER_H

#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/regs.h"
#include "arch/user.h"

struct argtrace_atlas;
struct mm_struct;

/* The memory that a walk takes, for itself alone. */
struct argtrace_user_room {
	u64 frames[ARGTRACE_STACK_DEPTH_MAX + 1];	/* words of a user stack */
	u64 registers[ARGTRACE_USER_REGS];
};

struct argtrace_user_walked {
	u32 count;			/* of room->frames; 0: nothing has been executed yet */
	bool cut;			/* there are more */
	/* enum argtrace_end, and then the last word says so; or -1: the stack is complete */
	s8 end;
	u64 hash;			/* argtrace_stack_hash() of them, from 0 on */
	/* ARGTRACE_END_UNREADABLE: the word that is absent; 0: no memory can be read here */
	u64 missing;
};

/*
 * Walks up to `max` frames, from the registers with which the current task has entered the kernel
 * (argtrace_user_entry(); NULL: those of 32-bit code). Preemption is off, and the task is one of a
 * program, whose memory is `mm`. Reads user memory alone, and does not fault.
 */
void argtrace_user_stack_walk(const struct argtrace_atlas *atlas, const struct mm_struct *mm,
			      const argtrace_full_regs *regs, struct argtrace_user_room *room,
			      u32 max, struct argtrace_user_walked *walked);

#endif
