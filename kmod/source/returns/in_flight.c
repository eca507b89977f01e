// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that waits is unwound from here, and what has been found counts if the task has not run
 * meanwhile. One that is running is unwound by an interrupt on its own CPU.
 */
#include <linux/bsearch.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "base/compat.h"
#include "base/hook.h"
#include "base/memory.h"
#include "probe/plan.h"
#include "source/returns/in_flight.h"
#include "source/returns/returns.h"

#define TRIES	10	/* for each task */
#define SPARE	64	/* tasks that may have been born since they were counted */

static int compare_addresses(const void *a, const void *b)
{
	const unsigned long one = *(const unsigned long *)a, other = *(const unsigned long *)b;

	return one < other ? -1 : one > other;
}

static void describe(struct argtrace_in_flight_call *call, const struct task_struct *task,
		     const struct argtrace_frame *frame)
{
	unsigned long args[ARGTRACE_REG_COUNT];
	u32 i;

	*call = (struct argtrace_in_flight_call){
		.id = frame->returns->plan->id,
		.tid = task->pid,
		.tgid = task->tgid,
		.nr_regs = ARRAY_SIZE(args),
		.context = (u32)frame->state >> 16,
		.preempt = (u32)frame->state >> 24,
		.clock = frame->clock,
		.caller = frame->caller,
	};
	argtrace_frame_arguments(frame, args);
	for (i = 0; i < ARRAY_SIZE(args); i++)
		call->regs[i] = args[i];
	/* It may be changing its name; the last byte is always 0. */
	memcpy(call->comm, task->comm, sizeof(call->comm) - 1);
}

struct task_search {
	struct argtrace_in_flight_search *search;
	const struct task_struct *task;
};

/* The frame may be nonsense, if the task has begun to run. */
static void add_call(struct argtrace_frame *at, bool in_body, void *data)
{
	const struct task_search *of_task = data;
	struct argtrace_in_flight_search *search = of_task->search;
	struct argtrace_frame frame;

	if (!in_body || copy_from_kernel_nofault(&frame, at, sizeof(frame)) ||
	    !bsearch(&frame.returns, search->wanted, search->nr_wanted, sizeof(*search->wanted),
		     compare_addresses))
		return;
	if (search->found < search->room)
		describe(&search->calls[search->found], of_task->task, &frame);
	search->found++;
}

static void walk(struct argtrace_in_flight_search *search, struct task_struct *task)
{
	struct task_search of_task = { search, task };

	argtrace_for_each_followed(task, add_call, &of_task);
}

/*
 * Walks the stack of a task that no CPU runs, and returns false if it has run meanwhile. The stack
 * is freed after an RCU grace period. /proc/PID/stack unwinds in the same way, but does not check
 * whether the task runs.
 */
static bool walk_waiting(struct argtrace_in_flight_search *search, struct task_struct *task)
{
	unsigned long switches;
	bool has_run = true;

	rcu_read_lock();
	if (!argtrace_is_on_cpu(task)) {
		switches = READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
		if (READ_ONCE(task->stack))
			walk(search, task);
		ARGTRACE_HOOK(TASK_WALKED);
		/*
		 * Whoever has seen what it wrote to its stack sees that it is on a CPU, or else, as
		 * finish_task() releases it, that it has been switched from.
		 */
		smp_rmb();
		has_run = argtrace_is_on_cpu(task) ||
			  READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw) != switches;
	}
	rcu_read_unlock();
	return !has_run;
}

struct running {
	struct argtrace_in_flight_search *search;
	const struct task_struct *task;
	bool walked;
};

static void walk_running(void *info)
{
	struct running *running = info;

	if (current != running->task)
		return;
	walk(running->search, current);
	running->walked = true;
}

static bool try_task(struct argtrace_in_flight_search *search, struct task_struct *task)
{
	struct running running = { .search = search, .task = task };

	if (task == current) {
		walk(search, task);
		return true;
	}
	if (!argtrace_is_on_cpu(task))
		return walk_waiting(search, task);
	smp_call_function_single(task_cpu(task), walk_running, &running, true);
	return running.walked;
}

static void find_of_task(struct argtrace_in_flight_search *search, struct task_struct *task)
{
	const u32 before = search->found;
	u32 tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (try_task(search, task))
			return;
		search->found = before;
		cond_resched();
	}
	search->missed++;
}

/* Gets up to `room` of them; returns how many there are. */
static u32 get_all_tasks(struct task_struct **tasks, u32 room)
{
	struct task_struct *process, *task;
	u32 count = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		if (count++ < room) {
			get_task_struct(task);
			tasks[count - 1] = task;
		}
	}
	rcu_read_unlock();
	return count;
}

int argtrace_in_flight_find(struct argtrace_in_flight_search *search)
{
	struct task_struct **tasks;
	u32 room, count, i;

	search->found = 0;
	search->missed = 0;
	if (!search->nr_wanted)
		return 0;
	sort(search->wanted, search->nr_wanted, sizeof(*search->wanted), compare_addresses, NULL);
	room = get_all_tasks(NULL, 0) + SPARE;
	tasks = argtrace_kvmalloc_array(room, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	count = get_all_tasks(tasks, room);
	for (i = 0; i < min(count, room); i++) {
		find_of_task(search, tasks[i]);
		put_task_struct(tasks[i]);
		cond_resched();
	}
	search->missed += count - i;
	kvfree(tasks);
	return 0;
}

void argtrace_in_flight_name_tasks(const struct argtrace_return *returns, char *text, size_t size)
{
	struct argtrace_in_flight_call calls[4];
	struct argtrace_in_flight_search search = {
		.wanted = &returns, .nr_wanted = 1, .calls = calls, .room = ARRAY_SIZE(calls),
	};
	size_t length = 0;
	u32 i;

	text[0] = '\0';
	if (argtrace_in_flight_find(&search) || !search.found)
		return;
	for (i = 0; i < min(search.found, search.room); i++)
		length += scnprintf(text + length, size - length, "%s%s %u", i ? ", " : " (in ",
				    calls[i].comm, calls[i].tid);
	if (search.found > search.room)
		length += scnprintf(text + length, size - length, " and %u more",
				    search.found - search.room);
	scnprintf(text + length, size - length, ")");
}
