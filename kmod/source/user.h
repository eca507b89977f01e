/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions of user code as a source: include/uapi/argtrace_user_file.h. Each is a consumer of
 * the kernel's uprobes, which leads to its plan without a table.
 */
#ifndef ARGTRACE_SOURCE_USER_H
#define ARGTRACE_SOURCE_USER_H

#include <linux/list.h>
#include <linux/types.h>

#include "base/uprobes.h"

struct argtrace_lane;
struct argtrace_plan;
struct argtrace_regs;
struct argtrace_user_place;
struct mm_struct;

/* An instruction with a breakpoint. */
struct argtrace_user_point {
	struct uprobe_consumer consumer;
	struct argtrace_user_place *place;
	loff_t offset;			/* in the place's file */
	bool registered;
	struct uprobe *uprobe;		/* in which; as uprobes.h has it */
	/* registered for a moment only: see user_filter_changed() */
	struct uprobe_consumer refresher;
};

/*
 * A place that calls us. Who may still hold it when it is to be freed: handlers, until
 * argtrace_uprobes_synchronize() has returned after its points were unregistered; and calls that
 * have not returned, until argtrace_user_calls_forget() has.
 */
struct argtrace_user_place {
	struct argtrace_plan __rcu *plan; /* as the lane's table has it: NULL if that has none */
	struct argtrace_lane *lane;
	unsigned long addr;		/* of its probe, made by ARGTRACE_USER_PLACE() */
	struct list_head link;		/* in lane->user_places */
	/*
	 * While it is being registered, the adding process counts as selected: it has mapped the
	 * file so that uprobes look at the instruction.
	 */
	bool is_new;
	/* the rest is for functions whose return is followed: user_return.c */
	bool leaves;			/* no handler has it, and it is about to be freed */
	bool loops;			/* ARGTRACE_PROBE_LOOPS */
	bool by_uretprobe;		/* the kernel's says when it returns */
	bool goroutines;		/* ARGTRACE_PROBE_GOROUTINES */
	bool returns_at_once;		/* its first instruction is one that it returns by */
	bool result_in_vector;		/* what it returns is a floating-point number */
	u32 call_size;			/* bytes that are kept of a call; 0: it is not followed */
	u32 nr_points;
	u64 charged;
	/* the instruction itself, then those that the function returns by */
	struct argtrace_user_point points[];
};

/* What the points are registered with: source/user.c and source/user_return.c. */
void argtrace_user_consumer(struct uprobe_consumer *consumer);
void argtrace_user_entry_consumer(struct uprobe_consumer *consumer, bool by_uretprobe);
void argtrace_user_exit_consumer(struct uprobe_consumer *consumer);

/* Whether the lane wants calls of processes with that mm. */
bool argtrace_user_wants(const struct argtrace_user_place *place, const struct mm_struct *mm);

/*
 * Begins a hit of a function whose return is followed, with preemption off: what the program's
 * filter reads, and the values that it computes now, has been brought in. NULL: nothing is to be
 * recorded, preemption is on, and the outcome has been counted.
 */
struct argtrace_plan *argtrace_user_begin_followed(struct argtrace_user_place *place,
						   const struct argtrace_regs *regs);

/* What a handler of uprobes returns for a hit that is none: its place has no probe, or not here. */
int argtrace_user_unwanted(const struct argtrace_user_place *place);

#endif
