/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels. No other files but fprobe.h and uprobes.h have conditionals for
 * them, or arch/ where an architecture has some of its own. Where possible, features are detected
 * (by a macro that is defined or not) instead of derived from the version, since Debian's stable
 * kernels carry newer interfaces under older version numbers.
 */
#ifndef ARGTRACE_COMPAT_H
#define ARGTRACE_COMPAT_H

#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/ktime.h>
#include <linux/version.h>

/* Kbuild says where the second will do. */
#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#error "argtrace needs a kernel with CONFIG_DYNAMIC_FTRACE_WITH_ARGS: without it ftrace does not hand over the argument registers"
#endif

/*
 * The id of the current task's cgroup in the unified hierarchy. Preemption is off, so the cgroup
 * stays. Accessors with lockdep checks are avoided, as they call functions that can be traced.
 */
static __always_inline u64 argtrace_current_cgroup(void)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(rcu_dereference_raw(current->cgroups)->dfl_cgrp);
#else
	return 0;
#endif
}

/*
 * How many levels of disabled preemption the tracepoint and our probe add to those of the code that
 * passes the tracepoint. Tracepoints that may fault do not disable preemption, and since Linux 7
 * none does. Kernels that do not count levels have none.
 */
static inline u8 argtrace_tracepoint_own_levels(struct tracepoint *tracepoint)
{
	if (!PREEMPT_DISABLE_OFFSET)
		return 0;
#if defined(ARGTRACE_TRACEPOINTS_LEAVE_PREEMPTION)
	return 1;
#elif defined(ARGTRACE_HAS_TRACEPOINT_IS_FAULTABLE)
	return tracepoint_is_faultable(tracepoint) ? 1 : 2;
#else
	return 2;
#endif
}

/*
 * Kernels that check the types of indirect calls would not accept one function of ours for every
 * tracepoint.
 */
#define ARGTRACE_TRACEPOINTS_CALL_ANYTHING \
	(!IS_ENABLED(CONFIG_CFI_CLANG) && !IS_ENABLED(CONFIG_CFI))

/*
 * What the tracepoint sched_process_exit passes to its probes, which must have exactly these
 * parameters where the kernel checks the types of indirect calls.
 */
#ifdef ARGTRACE_PROCESS_EXIT_HAS_GROUP_DEAD
#define ARGTRACE_PROCESS_EXIT_ARGUMENTS	struct task_struct *task, bool group_dead
#else
#define ARGTRACE_PROCESS_EXIT_ARGUMENTS	struct task_struct *task
#endif

/*
 * Whether the current task is to be rescheduled, at once or lazily. Kernels with lazy
 * preemption (Linux 6.13) have a flag for each, in one byte, and one instruction tests both:
 * it is a plain load so that the compiler can make it part of the test.
 */
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
#define argtrace_resched_is_due() \
	(current_thread_info()->flags & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY))
#define argtrace_lazy_resched_is_due() tif_test_bit(TIF_NEED_RESCHED_LAZY)
#else
#define argtrace_resched_is_due() tif_need_resched()
#define argtrace_lazy_resched_is_due() false
#endif

/*
 * The softirq part of a preemption count. PREEMPT_RT counts that in the task instead, so that its
 * preemption count does not contain it.
 */
static __always_inline u32 argtrace_softirq_count(u32 preempt)
{
	return IS_ENABLED(CONFIG_PREEMPT_RT) ? softirq_count() : preempt & SOFTIRQ_MASK;
}

#define argtrace_softirq_is_hidden() (IS_ENABLED(CONFIG_PREEMPT_RT) && softirq_count())

/*
 * Keeps CONFIG_INIT_STACK_ALL_ZERO from clearing a variable of which nothing is read before it is
 * written.
 */
#if __has_attribute(__uninitialized__)
#define argtrace_uninitialized __attribute__((__uninitialized__))
#else
#define argtrace_uninitialized
#endif

/* On failure try_cmpxchg_local() overwrites `old`; no caller reads it again. */
#ifdef try_cmpxchg_local
#define argtrace_try_cmpxchg_local(ptr, old, new) try_cmpxchg_local(ptr, &(old), new)
#else
#define argtrace_try_cmpxchg_local(ptr, old, new) (cmpxchg_local(ptr, old, new) == (old))
#endif

/* Linux 6.3 took vm_flags out of direct reach. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void argtrace_vm_flags_mod(struct vm_area_struct *vma,
					 unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void argtrace_vm_flags_mod(struct vm_area_struct *vma,
					 unsigned long set, unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

/* When a file was written to, in nanoseconds. Linux 6.7 took the time out of direct reach. */
static inline s64 argtrace_inode_mtime(const struct inode *inode)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
	const struct timespec64 mtime = inode->i_mtime;
#else
	const struct timespec64 mtime = inode_get_mtime(inode);
#endif

	return timespec64_to_ns(&mtime);
}

/*
 * Linux 6.16 moved x86's struct fpu from the task behind it; what a debug kernel looks it up with
 * is not exported.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 16, 0)
#define argtrace_fpu_of(task) (&(task)->thread.fpu)
#else
#define argtrace_fpu_of(task) ((const struct fpu *)((task) + 1))
#endif

/*
 * Whether the current task is one of a program, with user registers of its own; the kernel's
 * workers for io_uring and vhost share its memory without having any.
 */
static inline bool argtrace_is_user_task(void)
{
#ifdef PF_USER_WORKER
	const unsigned int workers = PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER;
#else
	const unsigned int workers = PF_KTHREAD | PF_IO_WORKER;
#endif

	return current->mm && !(current->flags & workers);
}

/* Whether a CPU runs the task. */
static inline bool argtrace_is_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	/* Pairs with the release of the kernel's finish_task(). */
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/*
 * Waits until all running callbacks have ended. They run with preemption off, which is
 * enough for RCU where it is watching. The rude flavour also covers the idle and entry
 * code of kernels before 6.3, which can be traced while RCU is not watching.
 */
static inline void argtrace_synchronize(void)
{
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
}

/* The cycle counter of the kernel's clocksource, read now. Linux 7 takes the clock's id. */
static inline u64 argtrace_timekeeper_cycles(void)
{
	struct system_time_snapshot snapshot;

#ifdef ARGTRACE_HAS_KTIME_GET_SNAPSHOT_ID
	ktime_get_snapshot_id(CLOCK_MONOTONIC, &snapshot);
#else
	ktime_get_snapshot(&snapshot);
#endif
	return snapshot.cycles;
}

#endif
