// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <uapi/argtrace.h>

#include "base/memory.h"
#include "filter/pid_filter.h"

/*
 * Runs before the child does. The parent is current, so that the bit which the child inherits
 * can only change meanwhile because a new filter is made.
 */
static void process_begins(struct argtrace_fork_watch *watch, const struct task_struct *parent,
			   const struct task_struct *child)
{
	struct argtrace_pid_filter *pid_filter = container_of(watch, struct argtrace_pid_filter,
							      watch);
	/*
	 * The process was asked for if its bit differs from that of a process that nobody asked
	 * for.
	 */
	const bool asked_for = pid_filter->children &&
			       argtrace_pid_filter_has(pid_filter, parent->tgid) !=
				       pid_filter->excludes;

	assign_bit(child->tgid, pid_filter->bits, asked_for != pid_filter->excludes);
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
 * The bit is changed before checking that the process exists: if it ends after that,
 * process_begins() resets the bit for the process that gets its number.
 */
static int ask_for(struct argtrace_pid_filter *pid_filter, u32 number)
{
	struct pid *pid = number && number < PID_MAX_LIMIT ? find_get_pid(number) : NULL;

	if (!pid)
		return -ESRCH;
	assign_bit(pid_nr(pid), pid_filter->bits, !pid_filter->excludes);
	pid_filter->asked[pid_filter->nr_asked++] = pid;
	return pid_has_task(pid, PIDTYPE_TGID) ? 0 : -ESRCH;
}

static struct argtrace_pid_filter *allocate(u32 count, u32 flags)
{
	const u64 size =
		struct_size_t(struct argtrace_pid_filter, bits, BITS_TO_LONGS(PID_MAX_LIMIT));
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
	pid_filter->children = flags & ARGTRACE_PROCESSES_CHILDREN;
	pid_filter->excludes = flags & ARGTRACE_PROCESSES_EXCLUDE;
	if (pid_filter->excludes)
		bitmap_fill(pid_filter->bits, PID_MAX_LIMIT);
	pid_filter->charged = bytes;
	pid_filter->asked = argtrace_kvmalloc_array(count, sizeof(struct pid *));
	if (!pid_filter->asked) {
		release(pid_filter);
		return ERR_PTR(-ENOMEM);
	}
	return pid_filter;
}

struct argtrace_pid_filter *argtrace_pid_filter_create(const u32 *numbers, u32 count, u32 flags,
						       u32 *failed)
{
	struct argtrace_pid_filter *pid_filter = allocate(count, flags);
	u32 i;
	int ret;

	*failed = count;
	if (IS_ERR(pid_filter))
		return pid_filter;
	pid_filter->watch.begins = process_begins;
	ret = argtrace_fork_watch_add(&pid_filter->watch);
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
	argtrace_fork_watch_remove(&pid_filter->watch);
	release(pid_filter);
}

void argtrace_pid_filter_list(const struct argtrace_pid_filter *pid_filter,
			      struct pid_namespace *ns, u32 *numbers, u32 count)
{
	u32 i;

	for (i = 0; i < min(count, pid_filter->nr_asked); i++)
		numbers[i] = pid_nr_ns(pid_filter->asked[i], ns);
}
