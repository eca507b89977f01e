/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frame of a call whose return is followed, on the stack of the traced task, as the trampolines
 * (trampoline.S) lay it out and the functions that they call see it.
 *
 *   caller's stack arguments; the caller's stack pointer is here
 *   x29, x30        a frame record, its address signed; our x29 points here
 *   x0 ... body     the rest of struct argtrace_frame
 *   values of the probe's program that are kept from the entry on, where it has any
 *   copies of the stack arguments, where the function has any
 *   the function's own frame
 *
 * It begins as struct argtrace_regs does, so that whatever reads the arguments of a call from
 * there reads them from a frame: argtrace_frame_regs().
 */
#ifndef ARGTRACE_ARCH_ARM64_FOLLOWED_H
#define ARGTRACE_ARCH_ARM64_FOLLOWED_H

#define ARGTRACE_FRAME_SIZE	160
#define ARGTRACE_FRAME_VALUE	64
#define ARGTRACE_FRAME_HIGH	72
#define ARGTRACE_FRAME_FP	80
#define ARGTRACE_FRAME_CALLER	88
#define ARGTRACE_FRAME_RETURNS	104
#define ARGTRACE_FRAME_CLOCK	112
#define ARGTRACE_FRAME_STATE	120
#define ARGTRACE_FRAME_BODY	128
#define ARGTRACE_FRAME_RESULT	136
#define ARGTRACE_FRAME_RECORD	144

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
#include <linux/string.h>
#include <linux/types.h>

#include "arch/regs.h"

struct argtrace_return;

struct argtrace_frame {
	unsigned long x[ARGTRACE_REG_COUNT];
	unsigned long value;		/* x0, when the function has returned */
	/* x1 then; before, the first argument that the body is given */
	unsigned long high;
	unsigned long bp;		/* the caller's x29 */
	unsigned long caller;		/* where the function returns to */
	unsigned long sp;		/* set by argtrace_frame_set_stack() */
	struct argtrace_return *returns;
	u64 clock;			/* at entry */
	union {
		u64 state;		/* the lower half is the context at entry */
		u64 duration;		/* at return, for programs: in nanoseconds */
	};
	unsigned long body;
	/* the x8 that the body is given, if that is the address of its result; then its x0 */
	unsigned long result;
	unsigned long record[2];
};

#define ARGTRACE_AS_REGS_HAVE(member, regs_member) \
	static_assert(offsetof(struct argtrace_frame, member) == \
		      offsetof(struct argtrace_regs, regs_member))
ARGTRACE_AS_REGS_HAVE(x, x);
ARGTRACE_AS_REGS_HAVE(value, x[8]);
ARGTRACE_AS_REGS_HAVE(high, direct_caller);
ARGTRACE_AS_REGS_HAVE(bp, fp);
ARGTRACE_AS_REGS_HAVE(caller, lr);
ARGTRACE_AS_REGS_HAVE(sp, sp);

#define ARGTRACE_IN_FRAME(member, offset) \
	static_assert(offsetof(struct argtrace_frame, member) == (offset))
ARGTRACE_IN_FRAME(value, ARGTRACE_FRAME_VALUE);
ARGTRACE_IN_FRAME(high, ARGTRACE_FRAME_HIGH);
ARGTRACE_IN_FRAME(bp, ARGTRACE_FRAME_FP);
ARGTRACE_IN_FRAME(caller, ARGTRACE_FRAME_CALLER);
ARGTRACE_IN_FRAME(returns, ARGTRACE_FRAME_RETURNS);
ARGTRACE_IN_FRAME(clock, ARGTRACE_FRAME_CLOCK);
ARGTRACE_IN_FRAME(state, ARGTRACE_FRAME_STATE);
ARGTRACE_IN_FRAME(duration, ARGTRACE_DURATION_AT);
ARGTRACE_IN_FRAME(body, ARGTRACE_FRAME_BODY);
ARGTRACE_IN_FRAME(result, ARGTRACE_FRAME_RESULT);
ARGTRACE_IN_FRAME(record, ARGTRACE_FRAME_RECORD);
static_assert(sizeof(struct argtrace_frame) == ARGTRACE_FRAME_SIZE);

/*
 * The arguments of the call, as they were at entry, its caller and the caller's x29: no other
 * member may be read. The stack pointer only where argtrace_frame_set_stack() has been called.
 */
static __always_inline struct argtrace_regs *argtrace_frame_regs(const struct argtrace_frame *frame)
{
	return (struct argtrace_regs *)frame;
}

static __always_inline void argtrace_frame_set_stack(struct argtrace_frame *frame)
{
	frame->sp = (unsigned long)(frame + 1);
}

/* Fills in what ftrace hands over beside the arguments. */
static inline void argtrace_frame_to_regs(struct argtrace_regs *to,
					  const struct argtrace_frame *frame)
{
	to->fp = frame->bp;
	to->lr = frame->caller;
	to->sp = (unsigned long)(frame + 1);
}

static inline void argtrace_frame_arguments(const struct argtrace_frame *frame, unsigned long *args)
{
	memcpy(args, frame->x, sizeof(frame->x));
}

/* For a frame that no trampoline has made, which has nothing to go back to. */
static inline void argtrace_frame_make(struct argtrace_frame *frame, const unsigned long *args,
				       unsigned long caller)
{
	memcpy(frame->x, args, sizeof(frame->x));
	frame->bp = 0;
	frame->body = 0;
	frame->caller = caller;
	argtrace_frame_set_stack(frame);
}

/*
 * The frame of a call of user code, which is on no stack. Where it is one of a function of Go, what
 * that is passed in registers beside frame.x lies behind it, and its goroutine's address, as they
 * were at entry.
 */
struct argtrace_user_frame {
	struct argtrace_frame frame;	/* `body` is the stack pointer when it has returned */
	unsigned long kept[ARGTRACE_KEPT];
	unsigned long results[ARGTRACE_RESULT_SP];
};

#define ARGTRACE_FRAME_LOWER	0

static_assert(offsetof(struct argtrace_user_frame, kept) == ARGTRACE_KEPT_AT);
static_assert(offsetof(struct argtrace_user_frame, results) == ARGTRACE_RESULTS_AT);
static_assert(offsetof(struct argtrace_user_frame, frame.body) == ARGTRACE_RESULT_SP_AT);

static inline void argtrace_keep_registers(unsigned long *kept, const struct pt_regs *regs)
{
	memcpy(kept, &regs->regs[ARGTRACE_REG_COUNT], (ARGTRACE_KEPT - 1) * sizeof(*kept));
	kept[ARGTRACE_KEPT - 1] = regs->regs[ARGTRACE_GOROUTINE];
}

static inline void argtrace_user_frame_keep(struct argtrace_user_frame *frame,
					    const struct pt_regs *regs)
{
	argtrace_keep_registers(frame->kept, regs);
}

/*
 * What a call of user code that is followed is entered with, where its frame will have it: in full
 * registers other than the first are elsewhere.
 */
struct argtrace_user_view {
	struct argtrace_frame frame;
	unsigned long kept[ARGTRACE_KEPT];
};

static_assert(offsetof(struct argtrace_user_view, kept) == ARGTRACE_KEPT_AT);

static inline const struct argtrace_regs *argtrace_user_view(struct argtrace_user_view *view,
							     const struct pt_regs *regs)
{
	argtrace_frame_make(&view->frame, (const unsigned long *)regs->regs, 0);
	view->frame.sp = regs->sp;
	argtrace_keep_registers(view->kept, regs);
	return argtrace_frame_regs(&view->frame);
}

/* What a function of Go has returned. */
static inline void argtrace_user_frame_take_results(struct argtrace_user_frame *frame,
						    const struct pt_regs *regs)
{
	memcpy(frame->results, regs->regs, sizeof(frame->results));
	frame->frame.body = regs->sp;
}

/*
 * The trampolines, entered instead of the body, with the struct argtrace_return in x8. The last one
 * is entered as a direct caller is, with the caller's address in x9 and the struct in x30.
 */
void argtrace_return_quick(void);
void argtrace_return_keeping(void);
void argtrace_return_slow(void);
void argtrace_return_undecided(void);
void argtrace_return_waiting(void);
void argtrace_return_in_memory(void);

#endif
#endif
