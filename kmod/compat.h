/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels and architectures, and nothing else does.
 * Features are probed where they can be (a macro that is defined or not): Debian's
 * stable kernels carry newer interfaces under older version numbers.
 */
#ifndef ARGTRACE_COMPAT_H
#define ARGTRACE_COMPAT_H

#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#if !defined(CONFIG_X86_64)
#error "argtrace: this version knows the calling convention of x86-64 only"
#endif
#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#error "argtrace needs a kernel with CONFIG_DYNAMIC_FTRACE_WITH_ARGS: without it ftrace does not hand over the argument registers"
#endif

/*
 * How far behind its symbol ftrace may say a function begins: ENDBR64 has 4 bytes
 * (arch/x86/include/asm/ibt.h). Some functions of an IBT kernel have it, some not.
 */
#define ARGTRACE_FENTRY_SKEW	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4UL : 0UL)

/*
 * Whether that is at the symbol: ftrace's CALL, or the 5-byte NOP in its place (arch/x86/include/asm/nops.h), and no
 * ENDBR64 or what the kernel may have written over one. Not to be relied upon: ftrace may just be changing it.
 */
static inline bool argtrace_calls_at_symbol(unsigned long symbol)
{
	u32 code;

	/* Nobody has checked it yet. Nothing but code is to be read: elsewhere may be a device's registers. */
	if (symbol < __START_KERNEL_map || symbol >= MODULES_END || get_kernel_nofault(code, (u32 *)symbol))
		return false;
	return (code & 0xff) == 0xe8 || (code & 0xffffff) == 0x441f0f;
}

/* Linux 6.2 made the accessors; before, x86 kept plain pt_regs inside, whose argument registers are always filled. */
#ifndef ftrace_regs_get_argument
#define ftrace_regs_get_argument(fregs, n) regs_get_kernel_argument(&(fregs)->regs, n)
#endif

#ifndef ftrace_regs_get_stack_pointer
#define ftrace_regs_get_stack_pointer(fregs) kernel_stack_pointer(&(fregs)->regs)
#endif

/* The count with what else x86 keeps in it: whether to reschedule. Linux 7.3 made it 64 bits wide. */
#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
#define argtrace_preempt_count_is(count) (raw_cpu_read_8(__preempt_count) == (count))
#else
#define argtrace_preempt_count_is(count) should_resched(count)
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

/*
 * Waits until every callback that is running has ended. They run with preemption
 * off, which is enough for RCU where it is watching; the rude flavour also waits for
 * the idle and entry code of kernels before 6.3, which can be traced while RCU is not
 * watching.
 */
static inline void argtrace_synchronize(void)
{
	synchronize_rcu();
	synchronize_rcu_tasks_rude();
}

/* What the kernel's own clock counts, read now. Linux 7 names the clock. */
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
