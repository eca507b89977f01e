/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a call whose return is followed, on the stack of the traced task, as the trampolines (return_trampoline.S) lay it out
 * and the functions that they call see it.
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
 * What is below rbp is a part of a struct pt_regs, from r9 to sp. The argument registers are where struct pt_regs has them, so that
 * whatever reads the arguments of a call from a struct ftrace_regs reads them from a frame: argtrace_frame_regs().
 */
#ifndef ARGTRACE_RETURN_FRAME_H
#define ARGTRACE_RETURN_FRAME_H

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

struct argtrace_return;

struct argtrace_frame {
	unsigned long r9, r8;
	unsigned long value;		/* rax, when the function has returned */
	unsigned long cx, dx, si, di;
	unsigned long high;		/* rdx then; before, the first argument that the body is given */
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

/* Above the context: how much of argtrace_return_depth the call takes, and how many bytes it keeps below the frame. */
#define ARGTRACE_FRAME_DEPTH_SHIFT	32
#define ARGTRACE_FRAME_DEPTH_MASK	0xffu
#define ARGTRACE_FRAME_KEPT_SHIFT	40

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

#define ARGTRACE_FROM_RBP(member, offset) \
	static_assert((int)offsetof(struct argtrace_frame, member) - ARGTRACE_FRAME_BELOW == (offset))
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
 * The arguments of the call, as they were at entry: no other member may be read. The stack pointer only where
 * argtrace_frame_set_stack() has been called.
 */
static __always_inline const struct ftrace_regs *argtrace_frame_regs(const struct argtrace_frame *frame)
{
	return (const struct ftrace_regs *)((const u8 *)frame - offsetof(struct pt_regs, r9));
}

static __always_inline void argtrace_frame_set_stack(struct argtrace_frame *frame)
{
	frame->sp = (unsigned long)&frame->caller;
}

/* The text of the trampolines: whoever has an address in it on the stack is in a call that is followed. */
extern const char argtrace_return_text[], argtrace_return_text_end[];

static inline bool argtrace_in_trampoline(unsigned long addr)
{
	return addr >= (unsigned long)argtrace_return_text && addr < (unsigned long)argtrace_return_text_end;
}

/*
 * The trampolines. The first three are entered instead of the body, with the struct argtrace_return in rax. The others are called by
 * the function instead of ftrace, as a direct caller is, also with it in rax. The last one has another direct caller in r10, and
 * calls that instead of the body.
 */
void argtrace_return_quick(void);
void argtrace_return_keeping(void);
void argtrace_return_slow(void);
void argtrace_return_direct(void);
void argtrace_return_chain(void);

/*
 * What they call: all but quick before the body (0: the call is let pass), all after it. If argtrace_return_enter() has
 * values to be kept, it returns how many bytes they take, and argtrace_return_keep() must be called, with preemption still
 * off, when there is room for them below the frame. There is already when argtrace_return_gather() is called.
 */
unsigned long argtrace_return_gather(struct argtrace_frame *frame);
unsigned long argtrace_return_enter(struct argtrace_frame *frame);
void argtrace_return_keep(struct argtrace_frame *frame, unsigned long bytes);
void argtrace_return_leave(struct argtrace_frame *frame);

#endif
#endif
