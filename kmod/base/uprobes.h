/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels in their uprobes; like compat.h. */
#ifndef ARGTRACE_BASE_UPROBES_H
#define ARGTRACE_BASE_UPROBES_H

#include <linux/err.h>
#include <linux/mm_types.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/uprobes.h>

/* Whether the kernel sets breakpoints in user code for us. */
#define ARGTRACE_CAN_PROBE_USER	IS_ENABLED(CONFIG_UPROBES)

/*
 * What a consumer of uprobes is made of. Linux 6.13 has handlers share data with their return,
 * which we do not use; before Linux 6.12 filters were told why they are asked.
 */
#ifdef ARGTRACE_UPROBE_HANDLERS_TAKE_DATA
#define DEFINE_UPROBE_HANDLER(name, consumer, full) \
static int name(struct uprobe_consumer *consumer, argtrace_full_regs *full, __u64 *data)
#define DEFINE_UPROBE_RETURN_HANDLER(name, consumer, full) \
static int name(struct uprobe_consumer *consumer, unsigned long function, \
		argtrace_full_regs *full, __u64 *data)
#else
#define DEFINE_UPROBE_HANDLER(name, consumer, full) \
static int name(struct uprobe_consumer *consumer, argtrace_full_regs *full)
#define DEFINE_UPROBE_RETURN_HANDLER(name, consumer, full) \
static int name(struct uprobe_consumer *consumer, unsigned long function, argtrace_full_regs *full)
#endif
#ifdef ARGTRACE_UPROBE_FILTERS_TAKE_CONTEXT
#define DEFINE_UPROBE_FILTER(name, consumer, mm) \
static bool name(struct uprobe_consumer *consumer, enum uprobe_filter_ctx context, \
		 struct mm_struct *mm)
#else
#define DEFINE_UPROBE_FILTER(name, consumer, mm) \
static bool name(struct uprobe_consumer *consumer, struct mm_struct *mm)
#endif

/*
 * Registers a consumer, with the offset of a semaphore in the file or 0, unregisters it, and waits
 * until no handler of those that have been unregistered runs. Before Linux 6.12 there was no handle
 * (it is NULL), and unregistering waited.
 */
static inline struct uprobe *argtrace_uprobe_register(struct inode *inode, loff_t offset,
						      loff_t semaphore,
						      struct uprobe_consumer *consumer)
{
#ifdef ARGTRACE_UPROBES_ARE_HANDLES
	return uprobe_register(inode, offset, semaphore, consumer);
#else
	return ERR_PTR(uprobe_register_refctr(inode, offset, semaphore, consumer));
#endif
}

static inline void argtrace_uprobe_unregister(struct uprobe *uprobe, struct inode *inode,
					      loff_t offset, struct uprobe_consumer *consumer)
{
#ifdef ARGTRACE_UPROBES_ARE_HANDLES
	uprobe_unregister_nosync(uprobe, consumer);
#else
	uprobe_unregister(inode, offset, consumer);
#endif
}

static inline void argtrace_uprobes_synchronize(void)
{
#ifdef ARGTRACE_UPROBES_ARE_HANDLES
	uprobe_unregister_sync();
#endif
}

/*
 * Whether the kernel follows no more calls of this task by uretprobes, and so not one that it is
 * about to have a handler for. kernel/events/uprobes.c, prepare_uretprobe().
 */
static inline bool argtrace_uretprobes_are_used_up(void)
{
#ifdef CONFIG_UPROBES
	const struct uprobe_task *task = current->utask;

	return task && task->depth >= MAX_URETPROBE_DEPTH;
#else
	return false;
#endif
}

/*
 * The thread group that has an mm, or -1 if none is known to, as while it is made for execve().
 * Kernels without memory cgroups do not note it. Under RCU.
 */
static inline pid_t argtrace_mm_tgid(const struct mm_struct *mm)
{
#ifdef CONFIG_MEMCG
	const struct task_struct *owner = rcu_dereference(mm->owner);

	return owner ? owner->tgid : -1;
#else
	const struct task_struct *task;

	if (current->mm == mm)
		return current->tgid;
	for_each_process(task) {
		if (READ_ONCE(task->mm) == mm)
			return task->tgid;
	}
	return -1;
#endif
}

#endif
