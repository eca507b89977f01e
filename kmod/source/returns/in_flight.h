/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which calls are in flight, and of which tasks. Nothing is kept for a task or call but the frame
 * on the task's stack. Finding them unwinds the stack of every task.
 */
#ifndef ARGTRACE_IN_FLIGHT_H
#define ARGTRACE_IN_FLIGHT_H

#include <linux/types.h>
#include <uapi/argtrace.h>

struct argtrace_return;

struct argtrace_in_flight_search {
	/* calls of these plans; argtrace_in_flight_find() sorts them */
	const struct argtrace_return **wanted;
	u32 nr_wanted;
	struct argtrace_in_flight_call *calls;	/* where the first `room` of them go */
	u32 room;
	u32 found;				/* there are so many */
	u32 missed;				/* tasks that did not stand still for long enough */
};

/*
 * Finds the calls whose body is running when their task is looked at, in the order of struct
 * argtrace_in_flight. The plans stay meanwhile. May sleep. 0, -ENOMEM.
 */
int argtrace_in_flight_find(struct argtrace_in_flight_search *search);

/*
 * For the kernel's log: " (in sleep 123, cat 145 and 3 more)" of one plan, as far as they are
 * known; else "".
 */
void argtrace_in_flight_name_tasks(const struct argtrace_return *returns, char *text, size_t size);

#endif
