// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "base/hook.h"
#include "filter/fork_watch.h"

static DEFINE_MUTEX(watches_lock);
static LIST_HEAD(watches);		/* changed under watches_lock, read under RCU */
static struct tracepoint *fork_point;	/* our probe is registered while there are watches */

static void process_forked(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct argtrace_fork_watch *watch;

	if (child->tgid != child->pid)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(watch, &watches, link) {
		watch->begins(watch, parent, child);
		ARGTRACE_HOOK(PID_FILTERS);
	}
	rcu_read_unlock();
}

static void find_fork_point(struct tracepoint *point, void *data)
{
	check_trace_callback_type_sched_process_fork(process_forked);
	if (!strcmp(point->name, "sched_process_fork"))
		fork_point = point;
}

int argtrace_fork_watch_add(struct argtrace_fork_watch *watch)
{
	int ret = 0;

	mutex_lock(&watches_lock);
	if (list_empty(&watches)) {
		for_each_kernel_tracepoint(find_fork_point, NULL);
		ret = fork_point ? tracepoint_probe_register(fork_point, process_forked, NULL) :
				   -EOPNOTSUPP;
	}
	if (!ret)
		list_add_rcu(&watch->link, &watches);
	mutex_unlock(&watches_lock);
	return ret;
}

void argtrace_fork_watch_remove(struct argtrace_fork_watch *watch)
{
	mutex_lock(&watches_lock);
	list_del_rcu(&watch->link);
	if (list_empty(&watches)) {
		tracepoint_probe_unregister(fork_point, process_forked, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&watches_lock);
	synchronize_rcu();
}
