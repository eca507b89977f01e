/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * struct argtrace_regs is what ftrace hands over (struct __arch_ftrace_regs, since Linux 6.2). It
 * begins as struct pt_regs does: the argument registers are at the same places in both. What is
 * not, is read by functions of which each is for one of them. Arguments are where AAPCS64, 6.8.2,
 * has them.
 */
#ifndef ARGTRACE_ARCH_ARM64_REGS_H
#define ARGTRACE_ARCH_ARM64_REGS_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#define ARGTRACE_REG_COUNT	8
/* x8 */
#define ARGTRACE_RESULT_HAS_REGISTER true
#define ARGTRACE_USER_REG_COUNT	(ARGTRACE_ARM64_PC + 1)
#define ARGTRACE_USER_STACK_REG	ARGTRACE_ARM64_SP

/* x30 has the return address: arguments begin where the stack pointer is. */
#define ARGTRACE_FIRST_STACK_WORD	0

typedef struct pt_regs argtrace_full_regs;

struct argtrace_regs {
	unsigned long x[9];
	unsigned long direct_caller;
	unsigned long fp, lr, sp, pc;
};

static_assert(offsetof(struct pt_regs, regs) == offsetof(struct argtrace_regs, x));

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_ARGS
#define ARGTRACE_AS_FTRACE_HAS(member, ftrace_member) \
	static_assert(offsetof(struct argtrace_regs, member) == \
		      offsetof(struct __arch_ftrace_regs, ftrace_member))
ARGTRACE_AS_FTRACE_HAS(x, regs);
ARGTRACE_AS_FTRACE_HAS(direct_caller, direct_tramp);
ARGTRACE_AS_FTRACE_HAS(fp, fp);
ARGTRACE_AS_FTRACE_HAS(lr, lr);
ARGTRACE_AS_FTRACE_HAS(sp, sp);
ARGTRACE_AS_FTRACE_HAS(pc, pc);

static __always_inline struct argtrace_regs *argtrace_regs_of_ftrace(struct ftrace_regs *fregs)
{
	return (struct argtrace_regs *)fregs;
}

static __always_inline void argtrace_regs_go_on_at(struct argtrace_regs *regs, unsigned long pc)
{
	regs->pc = pc;
}
#else
/*
 * Linux 6.1 hands over struct pt_regs. Where struct argtrace_regs has the rest it has x10 to x13,
 * which ftrace leaves as they are unless an ops wants all registers. Functions may change them, and
 * ftrace and its callbacks do.
 */
static_assert(offsetof(struct ftrace_regs, regs) == 0);
static_assert(offsetof(struct argtrace_regs, fp) >= offsetof(struct pt_regs, regs[10]));
static_assert(sizeof(struct argtrace_regs) <= offsetof(struct pt_regs, regs[16]));

static __always_inline struct argtrace_regs *argtrace_regs_of_ftrace(struct ftrace_regs *fregs)
{
	struct argtrace_regs *regs = (struct argtrace_regs *)fregs;

	regs->fp = fregs->regs.regs[29];
	regs->lr = fregs->regs.regs[30];
	regs->sp = fregs->regs.sp;
	regs->pc = fregs->regs.pc;
	return regs;
}

static __always_inline void argtrace_regs_go_on_at(struct argtrace_regs *regs, unsigned long pc)
{
	regs->pc = pc;
	((struct pt_regs *)regs)->pc = pc;
}
#endif

/* For argtrace_regs_argument(), _arguments(), _ip() and _are_of_user() alone. */
static __always_inline const struct argtrace_regs *
argtrace_regs_of_full(const argtrace_full_regs *regs)
{
	return (const struct argtrace_regs *)regs;
}

static __always_inline const argtrace_full_regs *
argtrace_full_regs_of(const struct argtrace_regs *regs)
{
	return (const argtrace_full_regs *)regs;
}

/* User code's are in struct pt_regs, where the stack pointer and the pc follow x30. */
static_assert(offsetof(struct pt_regs, sp) ==
	      offsetof(struct pt_regs, regs) + ARGTRACE_ARM64_SP * sizeof(unsigned long));
static_assert(offsetof(struct pt_regs, pc) ==
	      offsetof(struct pt_regs, regs) + ARGTRACE_ARM64_PC * sizeof(unsigned long));

static __always_inline u16 argtrace_reg_place(unsigned int index)
{
	return index * sizeof(unsigned long);
}

/* The compiler does that by itself. */
#define argtrace_keep_in_place(parent_ip, ops, fregs) \
	((void)(parent_ip), (void)(ops), (void)(fregs))

/* What a followed call knows at its return, in arch/arm64/followed.h. */
static inline u8 argtrace_return_place(unsigned int index)
{
	return index ? offsetof(struct argtrace_regs, direct_caller) :
		       offsetof(struct argtrace_regs, x[8]);
}

#define ARGTRACE_DURATION_AT	120

static inline u8 argtrace_duration_place(void)
{
	return ARGTRACE_DURATION_AT;
}

/*
 * Go's ABIInternal: cmd/compile/abi-internal.md. R0 to R15, and R28 has the goroutine. The last
 * result is the stack pointer, above which lies what has no room in the others.
 */
#define ARGTRACE_GO_REGS	16
#define ARGTRACE_GOROUTINE	28
#define ARGTRACE_RESULTS	(ARGTRACE_GO_REGS + 1)
#define ARGTRACE_RESULT_SP	ARGTRACE_GO_REGS

static inline unsigned int argtrace_result_number(unsigned int index)
{
	if (index < ARGTRACE_GO_REGS)
		return index;
	return index == ARGTRACE_ARM64_SP ? ARGTRACE_RESULT_SP : ARGTRACE_RESULTS;
}

/* Behind struct argtrace_frame: struct argtrace_user_frame in arch/arm64/followed.h. */
#define ARGTRACE_KEPT_AT	160
#define ARGTRACE_KEPT		(ARGTRACE_GO_REGS - ARGTRACE_REG_COUNT + 1)
#define ARGTRACE_RESULTS_AT	(ARGTRACE_KEPT_AT + ARGTRACE_KEPT * 8)
#define ARGTRACE_RESULT_SP_AT	128

static inline u16 argtrace_result_place(unsigned int number)
{
	static_assert(ARGTRACE_RESULTS_AT / sizeof(u64) + ARGTRACE_GO_REGS <= U8_MAX);
	return number == ARGTRACE_RESULT_SP ? ARGTRACE_RESULT_SP_AT :
					      ARGTRACE_RESULTS_AT + number * sizeof(u64);
}

static inline bool argtrace_frame_has_register(unsigned int index)
{
	return index < ARGTRACE_GO_REGS || index == ARGTRACE_GOROUTINE;
}

static inline u8 argtrace_kept_place(unsigned int index)
{
	if (index < ARGTRACE_REG_COUNT)
		return argtrace_reg_place(index);
	if (index >= ARGTRACE_GO_REGS)
		index = ARGTRACE_GO_REGS;
	return ARGTRACE_KEPT_AT + (index - ARGTRACE_REG_COUNT) * sizeof(u64);
}

/* Where the walk of the call's stack goes on behind the caller. */
static inline u8 argtrace_bp_place(bool followed)
{
	return offsetof(struct argtrace_regs, fp);
}

static __always_inline unsigned long argtrace_regs_argument(const struct argtrace_regs *regs,
							    unsigned int index)
{
	return *(const unsigned long *)((const u8 *)regs + argtrace_reg_place(index));
}

static __always_inline void argtrace_regs_arguments(const struct argtrace_regs *regs,
						    unsigned long args[ARGTRACE_REG_COUNT])
{
	memcpy(args, regs->x, ARGTRACE_REG_COUNT * sizeof(args[0]));
}

static __always_inline unsigned long argtrace_regs_stack(const struct argtrace_regs *regs)
{
	return regs->sp;
}

static __always_inline const u64 *argtrace_regs_return_slot(const struct argtrace_regs *regs)
{
	return (const u64 *)&regs->lr;
}

static __always_inline unsigned long argtrace_full_stack(const argtrace_full_regs *regs)
{
	return regs->sp;
}

static __always_inline unsigned long argtrace_full_caller(const argtrace_full_regs *regs)
{
	return regs->regs[30];
}

/* It was a breakpoint, whose handler is called with interrupts off. */
static __always_inline bool argtrace_full_irqs_are_off(const argtrace_full_regs *regs)
{
	return !interrupts_enabled(regs);
}

static __always_inline unsigned long argtrace_regs_ip(const struct argtrace_regs *regs)
{
	return argtrace_full_regs_of(regs)->pc;
}

static __always_inline bool argtrace_regs_are_of_user(const struct argtrace_regs *regs)
{
	return user_mode(argtrace_full_regs_of(regs));
}

static __always_inline unsigned long
argtrace_full_result_address(const argtrace_full_regs *regs)
{
	return regs->regs[8];
}

static __always_inline unsigned long argtrace_regs_value(const argtrace_full_regs *regs)
{
	return regs->regs[0];
}

static __always_inline unsigned long argtrace_regs_high_value(const argtrace_full_regs *regs)
{
	return regs->regs[1];
}

/* What a tracepoint passes behind the data of its probe, in registers. */
#define ARGTRACE_PASSED_PARAMETERS \
	u64 second, u64 third, u64 fourth, u64 fifth, u64 sixth, u64 seventh, u64 eighth

static __always_inline void argtrace_regs_store_few(struct argtrace_regs *regs, u64 second,
						    u64 third, u64 fourth)
{
	regs->x[1] = second;
	regs->x[2] = third;
	regs->x[3] = fourth;
	asm volatile("" : "+m"(*regs));
}

/*
 * The function's frame record, {fp, lr}, may lie below its variables: the compiler alone knows
 * where the stack pointer was. The return address may have been signed.
 */
#define argtrace_regs_store_passed(regs) do {							\
	(regs)->x[0] = 0;									\
	(regs)->x[4] = fifth;									\
	(regs)->x[5] = sixth;									\
	(regs)->x[6] = seventh;									\
	(regs)->x[7] = eighth;									\
	(regs)->sp = (unsigned long)__builtin_dwarf_cfa();					\
	argtrace_regs_store_few(regs, second, third, fourth);					\
} while (0)

#define argtrace_regs_store_caller(regs) do {							\
	(regs)->fp = *(const unsigned long *)__builtin_frame_address(0);			\
	(regs)->lr = argtrace_called_from();							\
} while (0)

/* The address of kernel code in a return address, which may be signed. Linux 6.4 has the macro. */
#ifdef ptrauth_strip_kernel_insn_pac
#define argtrace_strip_signature(address) ptrauth_strip_kernel_insn_pac(address)
#else
#define argtrace_strip_signature(address) ptrauth_strip_insn_pac(address)
#endif

#define argtrace_called_from() \
	argtrace_strip_signature((unsigned long)__builtin_return_address(0))

#endif
