/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct ftrace_regs begins with a struct pt_regs on all kernels, in which ftrace always fills in
 * the argument registers, rbp and rsp; cs is 0 unless it has filled in all
 * (arch/x86/kernel/ftrace_64.S). Arguments are where the System V x86-64 psABI, 3.2.3, has them.
 */
#ifndef ARGTRACE_ARCH_X86_REGS_H
#define ARGTRACE_ARCH_X86_REGS_H

#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#define ARGTRACE_REG_COUNT	6
#define ARGTRACE_RESULT_HAS_REGISTER false
#define ARGTRACE_USER_REG_COUNT	(ARGTRACE_X86_64_RIP + 1)
#define ARGTRACE_USER_STACK_REG	ARGTRACE_X86_64_RSP

/* Behind the return address. */
#define ARGTRACE_FIRST_STACK_WORD	8

typedef struct pt_regs argtrace_full_regs;

struct argtrace_regs {
	struct pt_regs regs;
};

static __always_inline struct argtrace_regs *argtrace_regs_of_ftrace(struct ftrace_regs *fregs)
{
	return (struct argtrace_regs *)fregs;
}

static __always_inline const struct argtrace_regs *
argtrace_regs_of_full(const argtrace_full_regs *regs)
{
	return (const struct argtrace_regs *)regs;
}

static __always_inline const argtrace_full_regs *
argtrace_full_regs_of(const struct argtrace_regs *regs)
{
	return &regs->regs;
}

static __always_inline u16 argtrace_reg_place(unsigned int index)
{
	static const u8 places[] = {
		offsetof(struct pt_regs, di), offsetof(struct pt_regs, si),
		offsetof(struct pt_regs, dx), offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9),
		/* User code has these as well: */
		[ARGTRACE_X86_64_RAX] = offsetof(struct pt_regs, ax),
		[ARGTRACE_X86_64_RBX] = offsetof(struct pt_regs, bx),
		[ARGTRACE_X86_64_RBP] = offsetof(struct pt_regs, bp),
		[ARGTRACE_X86_64_RSP] = offsetof(struct pt_regs, sp),
		[ARGTRACE_X86_64_R10] = offsetof(struct pt_regs, r10),
		[ARGTRACE_X86_64_R11] = offsetof(struct pt_regs, r11),
		[ARGTRACE_X86_64_R12] = offsetof(struct pt_regs, r12),
		[ARGTRACE_X86_64_R13] = offsetof(struct pt_regs, r13),
		[ARGTRACE_X86_64_R14] = offsetof(struct pt_regs, r14),
		[ARGTRACE_X86_64_R15] = offsetof(struct pt_regs, r15),
		[ARGTRACE_X86_64_RIP] = offsetof(struct pt_regs, ip),
	};

	static_assert(ARRAY_SIZE(places) == ARGTRACE_USER_REG_COUNT);
	return places[index];
}

/*
 * For a callback of ftrace's: makes the compiler keep the parameters of its tail calls in the
 * argument registers, which it would otherwise use for something else.
 */
#define argtrace_keep_in_place(parent_ip, ops, fregs) \
	asm("" : "+S"(parent_ip), "+d"(ops), "+c"(fregs))

/*
 * What a followed call knows at its return, in arch/x86/followed.h: both halves of the value, and
 * the duration.
 */
static inline u8 argtrace_return_place(unsigned int index)
{
	return index ? offsetof(struct pt_regs, orig_ax) : offsetof(struct pt_regs, ax);
}

/*
 * Go's ABIInternal: cmd/compile/abi-internal.md. The last one is the stack pointer, above which
 * lies what has no room in the others.
 */
#define ARGTRACE_RESULTS	10
#define ARGTRACE_RESULT_SP	9

static inline unsigned int argtrace_result_number(unsigned int index)
{
	static const u8 numbers[ARGTRACE_USER_REG_COUNT] = {
		0, 1, ARGTRACE_RESULTS, 2, 3, 4,
		[ARGTRACE_X86_64_RAX] = 5,
		[ARGTRACE_X86_64_RBX] = 6,
		[ARGTRACE_X86_64_RBP] = ARGTRACE_RESULTS,
		[ARGTRACE_X86_64_RSP] = ARGTRACE_RESULT_SP,
		[ARGTRACE_X86_64_R10] = 7,
		[ARGTRACE_X86_64_R11] = 8,
		[ARGTRACE_X86_64_R12] = ARGTRACE_RESULTS,
		[ARGTRACE_X86_64_R13] = ARGTRACE_RESULTS,
		[ARGTRACE_X86_64_R14] = ARGTRACE_RESULTS,
		[ARGTRACE_X86_64_R15] = ARGTRACE_RESULTS,
		[ARGTRACE_X86_64_RIP] = ARGTRACE_RESULTS,
	};

	return index < ARGTRACE_USER_REG_COUNT ? numbers[index] : ARGTRACE_RESULTS;
}

/* Behind what struct argtrace_regs has: struct argtrace_user_frame in arch/x86/followed.h. */
#define ARGTRACE_RESULTS_AT	184
#define ARGTRACE_RESULT_SP_AT	168

static inline u8 argtrace_result_place(unsigned int number)
{
	static_assert(ARGTRACE_RESULTS_AT + ARGTRACE_RESULT_SP * sizeof(u64) - 1 <= U8_MAX);
	return number == ARGTRACE_RESULT_SP ? ARGTRACE_RESULT_SP_AT :
					      ARGTRACE_RESULTS_AT + number * sizeof(u64);
}

static inline bool argtrace_frame_has_register(unsigned int index)
{
	return index < ARGTRACE_USER_REG_COUNT && index != ARGTRACE_X86_64_RSP &&
	       index != ARGTRACE_X86_64_RIP;
}

static inline u8 argtrace_kept_place(unsigned int index)
{
	return argtrace_reg_place(index);
}

static inline u8 argtrace_duration_place(void)
{
	return offsetof(struct pt_regs, flags);
}

/*
 * rbp at the call, from which its stack is walked; the frame of a followed call has it elsewhere.
 */
static inline u8 argtrace_bp_place(bool followed)
{
	return followed ? offsetof(struct pt_regs, ss) : offsetof(struct pt_regs, bp);
}

/* Not ftrace_regs_get_argument(), whose function gcc does not always inline. */
static __always_inline unsigned long argtrace_regs_argument(const struct argtrace_regs *regs,
							    unsigned int index)
{
	return *(const unsigned long *)((const u8 *)regs + argtrace_reg_place(index));
}

static __always_inline void argtrace_regs_arguments(const struct argtrace_regs *regs,
						    unsigned long args[ARGTRACE_REG_COUNT])
{
	args[0] = regs->regs.di;
	args[1] = regs->regs.si;
	args[2] = regs->regs.dx;
	args[3] = regs->regs.cx;
	args[4] = regs->regs.r8;
	args[5] = regs->regs.r9;
}

static __always_inline unsigned long argtrace_regs_stack(const struct argtrace_regs *regs)
{
	return regs->regs.sp;
}

static __always_inline const u64 *argtrace_regs_return_slot(const struct argtrace_regs *regs)
{
	return (const u64 *)argtrace_regs_stack(regs);
}

static __always_inline unsigned long argtrace_full_stack(const argtrace_full_regs *regs)
{
	return regs->sp;
}

static __always_inline unsigned long argtrace_full_caller(const argtrace_full_regs *regs)
{
	return READ_ONCE_NOCHECK(*(const unsigned long *)regs->sp);
}

/* The kernel's callback is ftrace's there, which leaves interrupts as they are. */
static __always_inline bool argtrace_full_irqs_are_off(const argtrace_full_regs *regs)
{
	return irqs_disabled();
}

static __always_inline unsigned long argtrace_regs_ip(const struct argtrace_regs *regs)
{
	return regs->regs.ip;
}

/* What has been interrupted, which alone has them all filled in, may be user code. */
static __always_inline bool argtrace_regs_are_of_user(const struct argtrace_regs *regs)
{
	return user_mode((struct pt_regs *)&regs->regs);
}

/* Such an address is an argument. */
static __always_inline unsigned long
argtrace_full_result_address(const argtrace_full_regs *regs)
{
	return 0;
}

/* What a function has returned, in full registers. */
static __always_inline unsigned long argtrace_regs_value(const argtrace_full_regs *regs)
{
	return regs->ax;
}

static __always_inline unsigned long argtrace_regs_high_value(const argtrace_full_regs *regs)
{
	return regs->dx;
}

/*
 * For a tracepoint, whose arguments leave their registers for these before anything else is done.
 * The first, in rdi, is the probe's data; the tracepoint's arguments follow.
 */
static __always_inline void argtrace_regs_store_few(struct argtrace_regs *regs, u64 second,
						    u64 third, u64 fourth)
{
	regs->regs.si = second;
	regs->regs.dx = third;
	regs->regs.cx = fourth;
	/* Not barrier_data(), which takes a register for the address. */
	asm volatile("" : "+m"(*regs));
}

#define ARGTRACE_PASSED_PARAMETERS	u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth

/* A frame consists of the saved frame pointer and the return address above it. */
#define argtrace_called_from()	(((const unsigned long *)__builtin_frame_address(0))[1])

/*
 * The same for all that there may be: as in any call, more of them may be on the stack, above the
 * return address.
 */
#define argtrace_regs_store_passed(passed)							\
	argtrace_regs_store_all(passed, second, third, fourth, fifth, sixth,			\
				__builtin_frame_address(0))

static __always_inline void argtrace_regs_store_all(struct argtrace_regs *regs, u64 second,
						    u64 third, u64 fourth, u64 fifth, u64 sixth,
						    const unsigned long *frame)
{
	regs->regs.di = 0;
	regs->regs.r8 = fifth;
	regs->regs.r9 = sixth;
	regs->regs.sp = (unsigned long)&frame[1];
	argtrace_regs_store_few(regs, second, third, fourth);
}

/* So that the stack can be walked from them, too: the caller's rbp. */
#define argtrace_regs_store_caller(passed) do {							\
	const unsigned long *frame_ = __builtin_frame_address(0);				\
												\
	(passed)->regs.bp = frame_[0];								\
	(passed)->regs.cs = 0;									\
} while (0)

#endif
