/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels and architectures; no other file has conditionals for them.
 * Where possible, features are detected (by a macro that is defined or not) instead of derived from the
 * version, since Debian's stable kernels carry newer interfaces under older version numbers.
 */
#ifndef ARGTRACE_COMPAT_H
#define ARGTRACE_COMPAT_H

#include <linux/cgroup.h>
#include <linux/fprobe.h>
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/ktime.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/unwind.h>

#if !defined(CONFIG_X86_64)
#error "argtrace: this version knows the calling convention of x86-64 only"
#endif
#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#error "argtrace needs a kernel with CONFIG_DYNAMIC_FTRACE_WITH_ARGS: without it ftrace does not hand over the argument registers"
#endif

/*
 * How far after its symbol ftrace may find the entry of a function: ENDBR64 has 4 bytes
 * (arch/x86/include/asm/ibt.h). Some functions of an IBT kernel begin with it, some do not.
 */
#define ARGTRACE_FENTRY_SKEW	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4UL : 0UL)

/*
 * Whether ftrace's CALL, or the 5-byte NOP in its place (arch/x86/include/asm/nops.h), is right at
 * the symbol, without an ENDBR64 or what the kernel may have written over one. The answer is a
 * hint: ftrace may be patching the instruction at this moment.
 */
static inline bool argtrace_calls_at_symbol(unsigned long symbol)
{
	u32 code;

	/* The address has not been validated. Read only code: other addresses may be device registers. */
	if (symbol < __START_KERNEL_map || symbol >= MODULES_END || get_kernel_nofault(code, (u32 *)symbol))
		return false;
	return (code & 0xff) == 0xe8 || (code & 0xffffff) == 0x441f0f;
}

/* Offset of an argument register in struct ftrace_regs, which begins with a struct pt_regs that all kernels fill that far. */
static __always_inline u8 argtrace_reg_place(unsigned int index)
{
	static const u8 places[] = {
		offsetof(struct pt_regs, di), offsetof(struct pt_regs, si), offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx), offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
	};

	return places[index];
}

/* All registers: struct ftrace_regs begins with a struct pt_regs, whose cs is 0 unless all of them are filled in. */
static __always_inline struct pt_regs *argtrace_regs(struct ftrace_regs *fregs)
{
	return (struct pt_regs *)fregs;
}

/* The reverse, for a complete struct pt_regs, such as that of an interrupt. */
static __always_inline const struct ftrace_regs *argtrace_regs_of(const struct pt_regs *regs)
{
	return (const struct ftrace_regs *)regs;
}

/*
 * Moves the arguments of a system call from the registers of its ABI (arch/x86/entry/entry_64.S, entry_64_compat.S)
 * to those in which the psABI passes a function's arguments. x32 uses the registers of x86-64.
 */
static __always_inline void argtrace_copy_syscall_arguments(struct pt_regs *to, const struct pt_regs *from)
{
	if (unlikely(in_ia32_syscall())) {
		to->di = (u32)from->bx;
		to->si = (u32)from->cx;
		to->dx = (u32)from->dx;
		to->cx = (u32)from->si;
		to->r8 = (u32)from->di;
		to->r9 = (u32)from->bp;
		return;
	}
	to->di = from->di;
	to->si = from->si;
	to->dx = from->dx;
	to->cx = from->r10;
	to->r8 = from->r8;
	to->r9 = from->r9;
}

/* Offset of what a followed call knows at its return: see source/returns/frame.h. */
static inline u8 argtrace_return_place(unsigned int index)
{
	return index ? offsetof(struct pt_regs, orig_ax) : offsetof(struct pt_regs, ax);
}

static inline u8 argtrace_duration_place(void)
{
	return offsetof(struct pt_regs, flags);
}

/*
 * The id of the current task's cgroup in the unified hierarchy. Preemption is off, so the cgroup stays. Accessors with lockdep checks
 * are avoided, as they call functions that can be traced.
 */
static __always_inline u64 argtrace_current_cgroup(void)
{
#ifdef CONFIG_CGROUPS
	return cgroup_id(rcu_dereference_raw(current->cgroups)->dfl_cgrp);
#else
	return 0;
#endif
}

/* The same for rbp at the call; the frame of a followed call has it elsewhere. */
static inline u8 argtrace_bp_place(bool followed)
{
	return followed ? offsetof(struct pt_regs, ss) : offsetof(struct pt_regs, bp);
}

/*
 * How many levels of disabled preemption the tracepoint and our probe add to those of the code that passes the tracepoint.
 * Tracepoints that may fault do not disable preemption, and since Linux 7 none does. Kernels that do not count levels have none.
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

/* Kernels that check the types of indirect calls would not accept one function of ours for every tracepoint. */
#define ARGTRACE_TRACEPOINTS_CALL_ANYTHING	(!IS_ENABLED(CONFIG_CFI_CLANG) && !IS_ENABLED(CONFIG_CFI))

/*
 * What the tracepoint sched_process_exit passes to its probes, which must have exactly these parameters where the kernel checks the
 * types of indirect calls.
 */
#ifdef ARGTRACE_PROCESS_EXIT_HAS_GROUP_DEAD
#define ARGTRACE_PROCESS_EXIT_ARGUMENTS	struct task_struct *task, bool group_dead
#else
#define ARGTRACE_PROCESS_EXIT_ARGUMENTS	struct task_struct *task
#endif

/* Linux 6.2 made the accessor; before, x86 kept plain pt_regs inside. */
#ifndef ftrace_regs_get_stack_pointer
#define ftrace_regs_get_stack_pointer(fregs) kernel_stack_pointer(&(fregs)->regs)
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
 * The preemption count, including the need-resched bit that x86 keeps in the same word (arch/x86/include/asm/preempt.h).
 * Linux 7.3 made it 64 bits wide.
 */
#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
typedef u64 argtrace_preempt_word;
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_8(__preempt_count))
#else
typedef u32 argtrace_preempt_word;
#ifdef ARGTRACE_PREEMPT_COUNT_IS_HOT
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_4(pcpu_hot.preempt_count))
#else
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_4(__preempt_count))
#endif
#endif

/* Increments a signed per-CPU byte, and returns whether it is negative afterwards, in two instructions. */
#ifndef __my_cpu_var
#define __my_cpu_var(var) (var)
#endif
#define argtrace_this_cpu_inc_is_negative(byte)							\
({												\
	bool negative;										\
												\
	asm volatile("incb " __percpu_arg([var])						\
		     : [var] "+m" (__my_cpu_var(byte)), "=@ccs" (negative) : : "memory");	\
	negative;										\
})

/* Keeps CONFIG_INIT_STACK_ALL_ZERO from clearing a variable of which nothing is read before it is written. */
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

/* Whether a CPU runs the task. Pairs with the kernel's finish_task(). */
static inline bool argtrace_is_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* What the kernel's unwinder finds out about one frame. */
struct argtrace_unwound {
	unsigned long ip, sp, bp;
	struct pt_regs *regs;
	bool full_regs;			/* all of them are there */
	bool interrupted;		/* ip has been interrupted there, not called from there */
	bool is_last;			/* nothing is above it: the others mean nothing */
};

/*
 * Frames are found by the ORC unwinder of stock kernels, which knows rbp at each frame.
 *
 * argtrace_unwind_fake() asks it about a frame on a fake stack: *unwound describes that frame on entry, and the frame above it on
 * return. False if the unwinder does not know.
 *
 * argtrace_unwind_begin() and argtrace_unwind_stack() start at a word of a stack as if a call to address 0 had just pushed it, for
 * which the unwinder has a special entry (null_orc_entry). The latter reports on which stack the word is; false if on none.
 */
#ifdef CONFIG_UNWINDER_ORC
#define ARGTRACE_CAN_UNWIND	true
#define argtrace_unwind_bp(state) ((state)->bp)

static inline bool argtrace_unwind_fake(struct argtrace_unwound *unwound, struct task_struct *task, void *begin, void *end)
{
	struct unwind_state state = {
		.stack_info = { .type = STACK_TYPE_TASK, .begin = begin, .end = end },
		.task = task,
		.signal = unwound->interrupted,
		.ip = unwound->ip,
		.sp = unwound->sp,
		.bp = unwound->bp,
	};

	unwound->is_last = !unwind_next_frame(&state);
	if (unwound->is_last || state.error)
		return !state.error;
	unwound->ip = state.ip;
	unwound->sp = state.sp;
	unwound->bp = state.bp;
	unwound->regs = state.regs;
	unwound->full_regs = state.full_regs;
	unwound->interrupted = state.signal;
	return true;
}

static inline void argtrace_unwind_begin(struct unwind_state *state, unsigned long sp, unsigned long bp)
{
	struct pt_regs regs = { .sp = sp, .bp = bp, .cs = __KERNEL_CS };

	__unwind_start(state, current, &regs, NULL);
}

static inline bool argtrace_unwind_stack(unsigned long addr, u64 *begin, u64 *end)
{
	struct unwind_state state;

	argtrace_unwind_begin(&state, addr, 0);
	if (unwind_done(&state) || unwind_error(&state))
		return false;
	*begin = (unsigned long)state.stack_info.begin;
	*end = (unsigned long)state.stack_info.end;
	return addr - *begin < *end - *begin;
}
#else
#define ARGTRACE_CAN_UNWIND	false
#define argtrace_unwind_bp(state) 0ul

static inline bool argtrace_unwind_fake(struct argtrace_unwound *unwound, struct task_struct *task, void *begin, void *end)
{
	return false;
}

static inline void argtrace_unwind_begin(struct unwind_state *state, unsigned long sp, unsigned long bp)
{
	unwind_start(state, current, NULL, (unsigned long *)sp);
}

static inline bool argtrace_unwind_stack(unsigned long addr, u64 *begin, u64 *end)
{
	return false;
}
#endif

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

/*
 * Since Linux 6.6, fprobes pass the caller's address. Since 6.14 all of them are one user of the function graph tracer (fgraph.c), which
 * takes one of 16 indices whenever the first of them is registered. At the return of a call, the kernel also calls the user of index 0
 * where another user, or an earlier one, follows the call (function_graph_enter() sets that bit always), and fprobe_return() warns that
 * it does not know the call: when function_graph is started, and when a call sleeps while others of our probes come and go. Where that
 * is so we have no fprobes. Seen with fprobe events and function_graph alone on 7.2 and 7.3.
 */
#if defined(CONFIG_FPROBE) && defined(ARGTRACE_FPROBE_HAS_CALLER) && !defined(ARGTRACE_FPROBES_ARE_ON_FGRAPH)
#define ARGTRACE_HAS_FPROBE	true

/* What the kernel takes for a call beside our data, for as many calls as it can follow at once. */
#define ARGTRACE_FPROBE_INSTANCE	(sizeof(struct rethook_node) + 2 * sizeof(long))

static inline void argtrace_fprobe_init(struct fprobe *fprobe, fprobe_entry_cb entered, fprobe_exit_cb returned, size_t size,
					u32 at_once)
{
	*fprobe = (struct fprobe){
		.entry_handler = entered,
		.exit_handler = returned,
		.entry_data_size = size,
		.nr_maxactive = at_once,
	};
}
#else
#define ARGTRACE_HAS_FPROBE	false
#define ARGTRACE_FPROBE_INSTANCE	0
#define argtrace_fprobe_init(fprobe, entered, returned, size, at_once) ((void)(fprobe), (void)(entered), (void)(returned))
#endif

/* The address of ftrace's call in the traceable function whose symbol is at `addr`. It may be a breakpoint while ftrace patches it. */
static inline unsigned long argtrace_fentry_of(unsigned long addr)
{
	u8 first;

	return get_kernel_nofault(first, (u8 *)addr) || first == 0xcc || argtrace_calls_at_symbol(addr) ? addr : addr + ARGTRACE_FENTRY_SKEW;
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
