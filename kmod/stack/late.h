/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User stacks that end where memory is absent, and are completed when their task is on its way
 * back to user mode: until then they do not change, and there the memory can be waited for.
 *
 * Each takes a slot. The walk that finds memory absent, in any context but an NMI, claims it and
 * has the kernel call resume_user_mode_work() for the task (TIF_NOTIFY_RESUME). Nothing else is
 * pending while the task is in the kernel, where it may sleep for ever: task work cannot be taken
 * back, and would keep the module. A function that resume_user_mode_work() calls is hooked, and
 * queues task work there, which runs within a few instructions, brings the memory in and walks
 * again.
 *
 *   free -> FILLING -> WAITING -> QUEUED -> free
 *
 * Who may still hold a slot: its task, in interrupts too, from FILLING to WAITING; the hooks, under
 * RCU, which belong to the task as well; the task work. Nothing of another task's touches it, but
 * for the search for a free one. argtrace_late_free() is called when no walk is under way any more:
 * it waits for the hooks and for the task work, and drops what is WAITING. A task that exits gives
 * up its slots (exit_files(), behind PF_EXITING, with which none is claimed), and one that has
 * executed another program, or has another stack by now because a signal is to be handled, does so
 * in the hook. What is given up remains incomplete, and is counted as that.
 */
#ifndef ARGTRACE_STACK_LATE_H
#define ARGTRACE_STACK_LATE_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "arch/regs.h"

struct argtrace_late;
struct argtrace_stack_set;

/* A stack that has a slot. */
struct argtrace_late_stack {
	u64 id;				/* 0: it has just been claimed */
	u64 plain;			/* the incomplete stack that it is so far ... */
	u32 count;			/* ... and how many words it has */
	atomic_t walks;			/* how many calls have it */
	argtrace_full_regs regs;	/* with which the task has entered the kernel */
};

/* NULL: the kernel cannot tell us of the way back, or there is no memory. */
struct argtrace_late *argtrace_late_create(const struct argtrace_stack_set *set);
/* When no walk is under way any more. Accepts NULL. Sleeps. */
void argtrace_late_free(struct argtrace_late *late);
/* When the module is unloaded: no task is in our text any more. */
void argtrace_late_exit(void);

/*
 * The slot that the current task has for these registers, or a new one, whose `plain` and `id` are
 * then to be written before argtrace_late_wait(). NULL: there is no free one, or the kernel may not
 * look at the task's flags again. Preemption is off.
 */
struct argtrace_late_stack *argtrace_late_claim(struct argtrace_late *late,
						const argtrace_full_regs *regs);
/* From here on it is completed when the task goes back to user mode. */
void argtrace_late_wait(struct argtrace_late_stack *stack);
/* The slot is free. */
void argtrace_late_end(struct argtrace_late_stack *stack);

#endif
