/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose return is followed: one record has the arguments, the value that is returned and how
 * long it took.
 *
 * ftrace's callback (callback.c) has the call go on in a trampoline (arch/followed.h) instead of
 * the function's body. The trampoline keeps a frame on the task's stack, calls the body, and hands
 * over the frame before that (enter.c) and when the body has returned (leave.c). There is nothing
 * to be kept for each task, so no return is missed, however deep calls are nested and however long
 * they sleep.
 *
 * In return a frame can be there long after its probe, its session and its file are gone (life.c).
 */
#ifndef ARGTRACE_RETURN_H
#define ARGTRACE_RETURN_H

#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/followed.h"
#include "probe/plan.h"

struct argtrace_lane;
struct argtrace_session;

static_assert(offsetof(struct argtrace_return, body) == ARGTRACE_RETURN_BODY);
static_assert(offsetof(struct argtrace_return, words) == ARGTRACE_RETURN_WORDS);
static_assert(offsetof(struct argtrace_return, kept) == ARGTRACE_RETURN_KEPT);

/*
 * Above the context: how much of argtrace_return_depth the call takes, and how many bytes it keeps
 * below the frame.
 */
#define ARGTRACE_FRAME_DEPTH_SHIFT	32
#define ARGTRACE_FRAME_DEPTH_MASK	0xffu
#define ARGTRACE_FRAME_KEPT_SHIFT	40

/*
 * What they call: all but quick before the body (0: the call is let pass), all after it, but
 * waiting, which calls argtrace_syscall_wait() and lets the call pass. If
 * argtrace_return_enter() has values to be kept, it returns how many bytes they take, and
 * argtrace_return_keep() must be called, with preemption still off, when there is room for them
 * below the frame. There is already when argtrace_return_gather() is called.
 */
unsigned long argtrace_return_gather(struct argtrace_frame *frame);
unsigned long argtrace_return_enter(struct argtrace_frame *frame);
void argtrace_return_keep(struct argtrace_frame *frame, unsigned long bytes);
void argtrace_return_leave(struct argtrace_frame *frame);
/* In place of argtrace_return_enter(): enter_waiting.c. */
unsigned long argtrace_return_enter_undecided(struct argtrace_frame *frame);
/* In source/syscall_wait.c. */
void argtrace_syscall_wait(struct argtrace_frame *frame);

/* In place of the one of a call that has been given up, in its frame. */
extern struct argtrace_return argtrace_return_given_up;

/* Calls that are followed on this CPU in interrupts. */
DECLARE_PER_CPU(u8, argtrace_return_depth);

/*
 * How many bytes of values are kept of each call; 0: none, or it takes more than quick operations
 * to compute them.
 */
unsigned long argtrace_return_quickly_kept(const struct argtrace_plan *plan);

/*
 * Whether the parts of a record that are not a program's are numbers, as arguments and a value are
 * at the end of one, where no store of 8 bytes has room: an int that is returned often is.
 */
bool argtrace_return_is_narrow(const struct argtrace_plan *plan,
			       const struct argtrace_session *session);

/* For a plan whose calls are to be recorded in the session, and whose is_narrow has been set. */
enum argtrace_leave_path argtrace_return_leave_path(const struct argtrace_plan *plan,
						    const struct argtrace_session *session);

/* What ftrace is to call for every call of a function of the lane. */
ftrace_func_t argtrace_return_callback(const struct argtrace_lane *lane);

/* Why the return of this function cannot be followed, whatever its prototype; NULL: it can. */
const char *argtrace_return_refusal(unsigned long addr);
const char *argtrace_return_refusal_of(const char *name);

/*
 * To be called before calls are followed for the first time, and paired with put(). 0, or
 * -EOPNOTSUPP: this kernel does not let us.
 */
int argtrace_returns_get(void);
void argtrace_returns_put(void);

/*
 * The rules of plans whose calls we follow. They start between get() and put(), and are not idle
 * before argtrace_return_detached().
 */
extern const struct argtrace_plan_rules argtrace_return_rules;
/* What all plans have in common whose calls are recorded when they return, whoever follows them. */
void argtrace_return_set_up(struct argtrace_plan *plan, const struct argtrace_session *session);
/*
 * The lane of a stopped plan does not call it any more: ftrace's filter or the lane's table is
 * without it. Callbacks that have found it there may still be running.
 */
void argtrace_return_detached(struct argtrace_plan *plan);
/* Whether a plan that has been stopped may still be called, or have calls in flight. */
bool argtrace_return_is_leaving(struct argtrace_plan *plan);
/*
 * For calls that the kernel follows, which have a frame made of what it hands over
 * (fallback_call.c): whether the program lets one go on, else it has been counted; the time, false
 * where the clock cannot be read; one that is lost; what is to be kept of it, within
 * argtrace_scratch_enter(), of which the number of bytes is returned.
 */
bool argtrace_return_accepts(struct argtrace_plan *plan, const struct argtrace_regs *fregs,
			     unsigned long caller);
bool argtrace_return_read_clock(u32 clock, u64 *now);
void argtrace_return_lose(struct argtrace_return *returns, enum argtrace_lost cause);
unsigned long argtrace_return_gather_to(struct argtrace_frame *frame, u8 *scratch);

/*
 * What is kept has whole words, which a record may have as they are: clears the rest of the last
 * one behind so many bytes at `to`. Returns the size of the words.
 */
static inline unsigned long argtrace_return_fill_words(u8 *to, unsigned long bytes)
{
	const unsigned long size = ALIGN(bytes, sizeof(u64));

	((u64 *)(to + size))[-1] &= ~0ULL >> (size - bytes) * BITS_PER_BYTE;
	return size;
}

/*
 * Lets go of what has left, and does not wait if nothing can have. Not to be called with a lock
 * that callers of argtrace_plan_free() hold.
 */
void argtrace_returns_flush(void);

/* How many calls are in flight whose plans have been stopped. */
u64 argtrace_returns_in_flight(void);

/* At module unload; nobody uses any of this any more. */
void argtrace_returns_exit(void);

/* Whether a function of ours is followed: trial.c. */
unsigned long argtrace_return_trial(void);

#endif
