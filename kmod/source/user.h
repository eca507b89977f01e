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
struct mm_struct;

/*
 * A place that calls us. Who may still hold it when it is to be freed: handlers, until
 * argtrace_uprobes_synchronize() has returned after it was unregistered.
 */
struct argtrace_user_place {
	struct uprobe_consumer consumer;
	struct argtrace_plan __rcu *plan; /* as the lane's table has it: NULL if that has none */
	struct argtrace_lane *lane;
	unsigned long addr;		/* of its probe, made by ARGTRACE_USER_PLACE() */
	struct uprobe *uprobe;		/* what is registered; as uprobes.h has it */
	/* registered for a moment only: see user_filter_changed() */
	struct uprobe_consumer refresher;
	struct list_head link;		/* in lane->user_places */
	/*
	 * While it is being registered, the adding process counts as selected: it has mapped the
	 * file so that uprobes look at the instruction.
	 */
	bool is_new;
};

/* What a consumer is registered with: source/user.c. */
void argtrace_user_consumer(struct uprobe_consumer *consumer);

/* Whether the lane wants calls of processes with that mm. */
bool argtrace_user_wants(const struct argtrace_user_place *place, const struct mm_struct *mm);

#endif
