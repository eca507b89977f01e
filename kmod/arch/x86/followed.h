/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a call whose return is followed, on the stack of the traced task, as the trampolines
 * (trampoline.S) lay it out and the functions that they call see it.
 *
 *   caller's stack arguments
 *   caller          where the function returns to: stays where the caller has pushed it
 *   body            where the function goes on, behind ftrace's call
 *   rbp             the caller's; our rbp points here
 *   sp ... r9       ARGTRACE_FRAME_BELOW bytes
 *   values of the probe's program that are kept from the entry on, where it has any
 *   copies of the stack arguments, where the function has any
 *   the function's own frame
 *
 * What is below rbp is a part of a struct pt_regs, from r9 to sp. The argument registers are where
 * struct pt_regs has them, so that whatever reads the arguments of a call from a struct ftrace_regs
 * reads them from a frame: argtrace_frame_regs().
 */
#ifndef ARGTRACE_ARCH_X86_FOLLOWED_H
#define ARGTRACE_ARCH_X86_FOLLOWED_H

/* From rbp. */
#define ARGTRACE_FRAME_BELOW	96
#define ARGTRACE_FRAME_R9	(-96)
#define ARGTRACE_FRAME_R8	(-88)
#define ARGTRACE_FRAME_VALUE	(-80)
#define ARGTRACE_FRAME_CX	(-72)
#define ARGTRACE_FRAME_DX	(-64)
#define ARGTRACE_FRAME_SI	(-56)
#define ARGTRACE_FRAME_DI	(-48)
#define ARGTRACE_FRAME_HIGH	(-40)
#define ARGTRACE_FRAME_RETURNS	(-32)
#define ARGTRACE_FRAME_CLOCK	(-24)
#define ARGTRACE_FRAME_STATE	(-16)
#define ARGTRACE_FRAME_SP	(-8)
#define ARGTRACE_FRAME_BODY	8
#define ARGTRACE_FRAME_STACK	24

/* What argtrace_return_enter() returns where the call is followed, and nothing is to be kept. */
#define ARGTRACE_ENTER_FOLLOW	1

/* In struct argtrace_return. */
#define ARGTRACE_RETURN_BODY	0
#define ARGTRACE_RETURN_WORDS	8
#define ARGTRACE_RETURN_KEPT	64

#ifndef __ASSEMBLER__
#include <linux/build_bug.h>
#include <linux/ftrace.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#include "arch/regs.h"

struct argtrace_return;
struct task_struct;

struct argtrace_frame {
	unsigned long r9, r8;
	unsigned long value;		/* rax, when the function has returned */
	unsigned long cx, dx, si, di;
	/* rdx then; before, the first argument that the body is given */
	unsigned long high;
	struct argtrace_return *returns;
	u64 clock;			/* at entry */
	union {
		u64 state;		/* see below; the lower half is the context at entry */
		u64 duration;		/* at return, for programs: in nanoseconds */
	};
	unsigned long sp;		/* set by argtrace_frame_set_stack(): &caller */
	unsigned long bp;
	unsigned long body, caller;
};

#define ARGTRACE_IN_FRAME(member, regs_member) \
	static_assert(offsetof(struct argtrace_frame, member) == \
		      offsetof(struct pt_regs, regs_member) - offsetof(struct pt_regs, r9))
ARGTRACE_IN_FRAME(r8, r8);
ARGTRACE_IN_FRAME(value, ax);
ARGTRACE_IN_FRAME(high, orig_ax);
ARGTRACE_IN_FRAME(duration, flags);
ARGTRACE_IN_FRAME(cx, cx);
ARGTRACE_IN_FRAME(dx, dx);
ARGTRACE_IN_FRAME(si, si);
ARGTRACE_IN_FRAME(di, di);
ARGTRACE_IN_FRAME(sp, sp);
ARGTRACE_IN_FRAME(bp, ss);

#define ARGTRACE_FROM_RBP(member, offset)                                                    \
	static_assert((int)offsetof(struct argtrace_frame, member) - ARGTRACE_FRAME_BELOW == \
		      (offset))
ARGTRACE_FROM_RBP(r9, ARGTRACE_FRAME_R9);
ARGTRACE_FROM_RBP(r8, ARGTRACE_FRAME_R8);
ARGTRACE_FROM_RBP(value, ARGTRACE_FRAME_VALUE);
ARGTRACE_FROM_RBP(cx, ARGTRACE_FRAME_CX);
ARGTRACE_FROM_RBP(dx, ARGTRACE_FRAME_DX);
ARGTRACE_FROM_RBP(si, ARGTRACE_FRAME_SI);
ARGTRACE_FROM_RBP(di, ARGTRACE_FRAME_DI);
ARGTRACE_FROM_RBP(high, ARGTRACE_FRAME_HIGH);
ARGTRACE_FROM_RBP(returns, ARGTRACE_FRAME_RETURNS);
ARGTRACE_FROM_RBP(clock, ARGTRACE_FRAME_CLOCK);
ARGTRACE_FROM_RBP(state, ARGTRACE_FRAME_STATE);
ARGTRACE_FROM_RBP(sp, ARGTRACE_FRAME_SP);
ARGTRACE_FROM_RBP(bp, 0);
ARGTRACE_FROM_RBP(body, ARGTRACE_FRAME_BODY);
static_assert(sizeof(struct argtrace_frame) - ARGTRACE_FRAME_BELOW == ARGTRACE_FRAME_STACK);

/*
 * The arguments of the call, as they were at entry: no other member may be read. The stack pointer
 * only where argtrace_frame_set_stack() has been called.
 */
static __always_inline struct argtrace_regs *argtrace_frame_regs(const struct argtrace_frame *frame)
{
	return (struct argtrace_regs *)((u8 *)frame - offsetof(struct pt_regs, r9));
}

static __always_inline void argtrace_frame_set_stack(struct argtrace_frame *frame)
{
	frame->sp = (unsigned long)&frame->caller;
}

/* Fills in what ftrace hands over beside the arguments. */
static inline void argtrace_frame_to_regs(struct argtrace_regs *to,
					  const struct argtrace_frame *frame)
{
	to->regs.bp = frame->bp;
	to->regs.sp = (unsigned long)&frame->caller;
	to->regs.cs = 0;
}

static inline void argtrace_frame_arguments(const struct argtrace_frame *frame, unsigned long *args)
{
	args[0] = frame->di;
	args[1] = frame->si;
	args[2] = frame->dx;
	args[3] = frame->cx;
	args[4] = frame->r8;
	args[5] = frame->r9;
}

/* For a frame that no trampoline has made, which has nothing to go back to. */
static inline void argtrace_frame_make(struct argtrace_frame *frame, const unsigned long *args,
				       unsigned long caller)
{
	frame->di = args[0];
	frame->si = args[1];
	frame->dx = args[2];
	frame->cx = args[3];
	frame->r8 = args[4];
	frame->r9 = args[5];
	frame->bp = 0;
	frame->body = 0;
	frame->caller = caller;
	argtrace_frame_set_stack(frame);
}

/*
 * The frame of a call of user code, which is on no stack. Where it is one of a function of Go, the
 * rest of struct argtrace_regs lies below it, up to ARGTRACE_FRAME_LOWER bytes: all registers but
 * the stack pointer and the instruction's address are as they were at entry, and so is `value`.
 */
struct argtrace_user_frame {
	struct argtrace_frame frame;	/* `body` is the stack pointer when it has returned */
	unsigned long results[ARGTRACE_RESULT_SP];
};

#define ARGTRACE_FRAME_LOWER	offsetof(struct pt_regs, r9)

static_assert(ARGTRACE_FRAME_LOWER + offsetof(struct argtrace_user_frame, results) ==
	      ARGTRACE_RESULTS_AT);
static_assert(ARGTRACE_FRAME_LOWER + offsetof(struct argtrace_user_frame, frame.body) ==
	      ARGTRACE_RESULT_SP_AT);

static inline void argtrace_user_frame_keep(struct argtrace_user_frame *frame,
					    const struct pt_regs *regs)
{
	__builtin_memcpy((u8 *)frame - ARGTRACE_FRAME_LOWER, regs, ARGTRACE_FRAME_LOWER);
	frame->frame.value = regs->ax;
}

/* What a call of user code that is followed is entered with is read from the full registers. */
struct argtrace_user_view {
};

static __always_inline const struct argtrace_regs *
argtrace_user_view(struct argtrace_user_view *view, const struct pt_regs *regs)
{
	return argtrace_regs_of_full(regs);
}

/* What a function of Go has returned. */
static inline void argtrace_user_frame_take_results(struct argtrace_user_frame *frame,
						    const struct pt_regs *regs)
{
	unsigned int index, number;

	for (index = 0; index < ARGTRACE_USER_REG_COUNT; index++) {
		number = argtrace_result_number(index);
		if (number < ARGTRACE_RESULT_SP)
			frame->results[number] =
				argtrace_regs_argument((const struct argtrace_regs *)regs, index);
	}
	frame->frame.body = regs->sp;
}

/*
 * The trampolines. The first five are entered instead of the body, with the struct argtrace_return
 * in rax. The others are called by the function instead of ftrace, as a direct caller is, also with
 * it in rax. The last one has another direct caller in r10, and calls that instead of the body.
 */
void argtrace_return_quick(void);
void argtrace_return_keeping(void);
void argtrace_return_slow(void);
void argtrace_return_undecided(void);
void argtrace_return_waiting(void);
void argtrace_return_direct(void);
void argtrace_return_chain(void);

#endif
#endif
