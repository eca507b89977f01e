// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "memory.h"
#include "processes.h"

static DEFINE_MUTEX(sets_lock);
static LIST_HEAD(sets);			/* changed under sets_lock, read under RCU */
static struct tracepoint *fork_point;	/* our probe is registered while there are sets */

/*
 * Before the child runs. The parent is current, so the bit that is handed down cannot change
 * meanwhile but by a new set.
 */
static void process_begins(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct argtrace_processes *processes;

	if (child->tgid != child->pid)
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(processes, &sets, link) {
		if (processes->children && argtrace_processes_has(processes, parent->tgid))
			set_bit(child->tgid, processes->bits);
		else
			clear_bit(child->tgid, processes->bits);
	}
	rcu_read_unlock();
}

static void find_fork_point(struct tracepoint *point, void *data)
{
	if (!strcmp(point->name, "sched_process_fork"))
		fork_point = point;
}

static int enlist(struct argtrace_processes *processes)
{
	int ret = 0;

	mutex_lock(&sets_lock);
	if (list_empty(&sets)) {
		for_each_kernel_tracepoint(find_fork_point, NULL);
		ret = fork_point ? tracepoint_probe_register(fork_point, process_begins, NULL) :
				   -EOPNOTSUPP;
	}
	if (!ret)
		list_add_rcu(&processes->link, &sets);
	mutex_unlock(&sets_lock);
	return ret;
}

static void strike(struct argtrace_processes *processes)
{
	mutex_lock(&sets_lock);
	list_del_rcu(&processes->link);
	if (list_empty(&sets)) {
		tracepoint_probe_unregister(fork_point, process_begins, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&sets_lock);
	synchronize_rcu();
}

static void release(struct argtrace_processes *processes)
{
	u32 i;

	for (i = 0; i < processes->nr_asked; i++)
		put_pid(processes->asked[i]);
	kvfree(processes->asked);
	argtrace_memory_uncharge(processes->charged);
	kvfree(processes);
}

/*
 * The bit is set before we look whether the process is there: if it ends after that, whoever
 * gets its number is told apart by process_begins().
 */
static int ask_for(struct argtrace_processes *processes, u32 number)
{
	struct pid *pid = number && number < PID_MAX_LIMIT ? find_get_pid(number) : NULL;

	if (!pid)
		return -ESRCH;
	set_bit(pid_nr(pid), processes->bits);
	processes->asked[processes->nr_asked++] = pid;
	return pid_has_task(pid, PIDTYPE_TGID) ? 0 : -ESRCH;
}

static struct argtrace_processes *allocate(u32 count, bool children)
{
	const u64 size = struct_size_t(struct argtrace_processes, bits, BITS_TO_LONGS(PID_MAX_LIMIT));
	const u64 bytes = argtrace_kvmalloc_size(size) +
			  argtrace_kvmalloc_size(count * sizeof(struct pid *));
	struct argtrace_processes *processes;
	int ret = argtrace_memory_charge(bytes);

	if (ret)
		return ERR_PTR(ret);
	processes = kvzalloc(size, GFP_KERNEL);
	if (!processes) {
		argtrace_memory_uncharge(bytes);
		return ERR_PTR(-ENOMEM);
	}
	processes->children = children;
	processes->charged = bytes;
	processes->asked = kvmalloc_array(count, sizeof(struct pid *), GFP_KERNEL);
	if (!processes->asked) {
		release(processes);
		return ERR_PTR(-ENOMEM);
	}
	return processes;
}

struct argtrace_processes *argtrace_processes_create(const u32 *numbers, u32 count, bool children,
						     u32 *failed)
{
	struct argtrace_processes *processes = allocate(count, children);
	u32 i;
	int ret;

	*failed = count;
	if (IS_ERR(processes))
		return processes;
	ret = enlist(processes);
	if (ret) {
		release(processes);
		return ERR_PTR(ret);
	}
	for (i = 0; i < count; i++) {
		ret = ask_for(processes, numbers[i]);
		if (ret) {
			*failed = i;
			argtrace_processes_free(processes);
			return ERR_PTR(ret);
		}
	}
	return processes;
}

void argtrace_processes_free(struct argtrace_processes *processes)
{
	if (!processes)
		return;
	strike(processes);
	release(processes);
}

void argtrace_processes_list(const struct argtrace_processes *processes, u32 *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < min(count, processes->nr_asked); i++)
		numbers[i] = pid_vnr(processes->asked[i]);
}
