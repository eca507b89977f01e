// SPDX-License-Identifier: GPL-2.0-only
/* Whether this kernel lets calls be followed, and the calls of a task that ends within them. */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "arch/divert.h"
#include "base/compat.h"
#include "source/returns/following.h"
#include "source/returns/returns.h"

static struct tracepoint *exit_point;
/* ftrace keeps the ops of try_returns(), and the module stays */
static bool trial_failed;

struct argtrace_return argtrace_return_given_up = {
	.leave_path = ARGTRACE_LEAVE_STOPPED,
};

static void give_up(struct argtrace_frame *frame, bool in_body, void *data)
{
	const unsigned long stack = (unsigned long)task_stack_page(current);

	if ((unsigned long)frame - stack > THREAD_SIZE - sizeof(*frame) ||
	    !IS_ALIGNED((unsigned long)frame, 8) || frame->returns == &argtrace_return_given_up)
		return;
	preempt_disable_notrace();
	argtrace_count_following(frame->returns->following, exited);
	/* Should the function return all the same, it counts no more. */
	frame->returns = &argtrace_return_given_up;
	preempt_enable_notrace();
}

/* The calls of the task that end with it: its stack is ours, and all of it will be forgotten. */
static void task_exits(void *data, ARGTRACE_PROCESS_EXIT_ARGUMENTS)
{
	if (task == current)
		argtrace_for_each_followed(current, give_up, NULL);
}

static void find_exit_point(struct tracepoint *point, void *data)
{
	check_trace_callback_type_sched_process_exit(task_exits);
	if (!strcmp(point->name, "sched_process_exit"))
		exit_point = point;
}

/* Has a function of ours go on in the trampoline. Its frame finds that it has been given up. */
static void trial_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			   struct ftrace_regs *fregs)
{
	struct argtrace_regs *regs = argtrace_regs_of_ftrace(fregs);

	argtrace_return_given_up.body = argtrace_body_of(regs);
	argtrace_divert(regs, &argtrace_return_given_up, argtrace_return_quick);
}

/*
 * ftrace promises that a callback may change the instruction pointer only to one that has
 * FTRACE_OPS_FL_IPMODIFY, which excludes live patches of the same function. That it does so
 * without, and passes on the struct argtrace_return, is seen here.
 */
static int try_returns(void)
{
	/*
	 * Not on the stack: if ftrace has shut itself down after an internal error, it goes on
	 * using the ops.
	 */
	static struct ftrace_ops ops;
	bool followed;
	int ret;

	ops = (struct ftrace_ops){ .func = trial_callback };
	ret = ftrace_set_filter_ip(&ops, (unsigned long)argtrace_return_trial, 0, 1);
	if (!ret)
		ret = register_ftrace_function(&ops);
	if (ret && ret != -ENODEV) {
		ftrace_free_filter(&ops);
		return ret;
	}
	followed = !ret && argtrace_in_trampoline(argtrace_return_trial());
	if (ret || WARN_ON_ONCE(unregister_ftrace_function(&ops))) {
		trial_failed = true;
		__module_get(THIS_MODULE);
		return -EOPNOTSUPP;
	}
	ftrace_free_filter(&ops);
	return followed ? 0 : -EOPNOTSUPP;
}

int argtrace_following_begin(void)
{
	static bool tried;
	int ret = 0;

	if (!argtrace_can_find_followed() || trial_failed)
		return -EOPNOTSUPP;
	if (!tried)
		ret = try_returns();
	tried = !ret;
	if (ret)
		return ret;
	for_each_kernel_tracepoint(find_exit_point, NULL);
	return exit_point ? tracepoint_probe_register(exit_point, task_exits, NULL) : -EOPNOTSUPP;
}

void argtrace_following_end(void)
{
	tracepoint_probe_unregister(exit_point, task_exits, NULL);
	tracepoint_synchronize_unregister();
}
