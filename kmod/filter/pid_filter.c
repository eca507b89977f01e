// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "hook.h"
#include "memory.h"
#include "filter/pid_filter.h"

static DEFINE_MUTEX(sets_lock);
static LIST_HEAD(sets);			/* changed under sets_lock, read under RCU */
static struct tracepoint *fork_point;	/* our probe is registered while there are sets */

/*
 * Before the child runs. The parent is current, so the bit that is handed down cannot change
 * meanwhile but by a new set.
 */
static void process_begins(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct argtrace_pid_filter *pid_filter;

	if (child->tgid != child->pid)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(pid_filter, &sets, link) {
		if (pid_filter->children && argtrace_pid_filter_has(pid_filter, parent->tgid))
			set_bit(child->tgid, pid_filter->bits);
		else
			clear_bit(child->tgid, pid_filter->bits);
		ARGTRACE_HOOK(PID_FILTERS);
	}
	rcu_read_unlock();
}

static void find_fork_point(struct tracepoint *point, void *data)
{
	if (!strcmp(point->name, "sched_process_fork"))
		fork_point = point;
}

static int enlist(struct argtrace_pid_filter *pid_filter)
{
	int ret = 0;

	mutex_lock(&sets_lock);
	if (list_empty(&sets)) {
		for_each_kernel_tracepoint(find_fork_point, NULL);
		ret = fork_point ? tracepoint_probe_register(fork_point, process_begins, NULL) :
				   -EOPNOTSUPP;
	}
	if (!ret)
		list_add_rcu(&pid_filter->link, &sets);
	mutex_unlock(&sets_lock);
	return ret;
}

static void strike(struct argtrace_pid_filter *pid_filter)
{
	mutex_lock(&sets_lock);
	list_del_rcu(&pid_filter->link);
	if (list_empty(&sets)) {
		tracepoint_probe_unregister(fork_point, process_begins, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&sets_lock);
	synchronize_rcu();
}

static void release(struct argtrace_pid_filter *pid_filter)
{
	u32 i;

	for (i = 0; i < pid_filter->nr_asked; i++)
		put_pid(pid_filter->asked[i]);
	kvfree(pid_filter->asked);
	argtrace_memory_uncharge(pid_filter->charged);
	kvfree(pid_filter);
}

/*
 * The bit is set before we look whether the process is there: if it ends after that, whoever
 * gets its number is told apart by process_begins().
 */
static int ask_for(struct argtrace_pid_filter *pid_filter, u32 number)
{
	struct pid *pid = number && number < PID_MAX_LIMIT ? find_get_pid(number) : NULL;

	if (!pid)
		return -ESRCH;
	set_bit(pid_nr(pid), pid_filter->bits);
	pid_filter->asked[pid_filter->nr_asked++] = pid;
	return pid_has_task(pid, PIDTYPE_TGID) ? 0 : -ESRCH;
}

static struct argtrace_pid_filter *allocate(u32 count, bool children)
{
	const u64 size = struct_size_t(struct argtrace_pid_filter, bits, BITS_TO_LONGS(PID_MAX_LIMIT));
	const u64 bytes = argtrace_kvmalloc_size(size) +
			  argtrace_kvmalloc_size(count * sizeof(struct pid *));
	struct argtrace_pid_filter *pid_filter;
	int ret = argtrace_memory_charge(bytes);

	if (ret)
		return ERR_PTR(ret);
	pid_filter = argtrace_kvzalloc(size);
	if (!pid_filter) {
		argtrace_memory_uncharge(bytes);
		return ERR_PTR(-ENOMEM);
	}
	pid_filter->children = children;
	pid_filter->charged = bytes;
	pid_filter->asked = argtrace_kvmalloc_array(count, sizeof(struct pid *));
	if (!pid_filter->asked) {
		release(pid_filter);
		return ERR_PTR(-ENOMEM);
	}
	return pid_filter;
}

struct argtrace_pid_filter *argtrace_pid_filter_create(const u32 *numbers, u32 count, bool children,
						     u32 *failed)
{
	struct argtrace_pid_filter *pid_filter = allocate(count, children);
	u32 i;
	int ret;

	*failed = count;
	if (IS_ERR(pid_filter))
		return pid_filter;
	ret = enlist(pid_filter);
	if (ret) {
		release(pid_filter);
		return ERR_PTR(ret);
	}
	for (i = 0; i < count; i++) {
		ret = ask_for(pid_filter, numbers[i]);
		if (ret) {
			*failed = i;
			argtrace_pid_filter_free(pid_filter);
			return ERR_PTR(ret);
		}
	}
	return pid_filter;
}

void argtrace_pid_filter_free(struct argtrace_pid_filter *pid_filter)
{
	if (!pid_filter)
		return;
	strike(pid_filter);
	release(pid_filter);
}

void argtrace_pid_filter_list(const struct argtrace_pid_filter *pid_filter, u32 *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < min(count, pid_filter->nr_asked); i++)
		numbers[i] = pid_vnr(pid_filter->asked[i]);
}
