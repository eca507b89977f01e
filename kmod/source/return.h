/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls whose return is followed: one record has the arguments, the value that is returned and how long it took.
 *
 * ftrace's callback (return_callback.c) has the call go on in a trampoline (return_trampoline.S) instead of the function's body. The
 * trampoline keeps a frame on the task's stack, calls the body, and hands over the frame before that (return_enter.c) and when the
 * body has returned (return_leave.c). There is nothing to be kept for each task, so no return is missed, however deep calls are nested
 * and however long they sleep.
 *
 * In return a frame can be there long after its probe, its session and its file are gone (return_life.c).
 */
#ifndef ARGTRACE_RETURN_H
#define ARGTRACE_RETURN_H

#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "probe/counters.h"
#include "source/return_frame.h"

struct argtrace_fallback;
struct argtrace_lane;
struct argtrace_plan;
struct argtrace_ring;
struct argtrace_session;

enum argtrace_return_life {
	ARGTRACE_RETURN_IDLE,		/* has no calls in flight, and gets none */
	ARGTRACE_RETURN_LIVE,
	ARGTRACE_RETURN_STOPPED,	/* records nothing, but its lane may still call it */
	ARGTRACE_RETURN_LEAVING,	/* its lane does not call it; calls may be in flight */
};

/* What a plan whose calls are followed has beside the others; as long as it is not idle it is not freed. */
struct argtrace_return {
	/* What the trampolines read: see return_frame.h. */
	unsigned long body;		/* behind ftrace's call; 0 before the first call */
	unsigned long words;		/* of 8 bytes, that arguments take on the stack */

	/* What a call needs. */
	unsigned long quick_body;	/* the same, where a call that goes there takes no more than the callback does itself */
	unsigned long care;		/* ARGTRACE_CARE_* */
	unsigned long above;		/* bytes of the stack above the frame that are read */
	struct argtrace_plan *plan;
	struct argtrace_ring __percpu *rings;	/* not to be touched once STOPPED */
	struct argtrace_counters *following;	/* struct argtrace_return_counters */

	/* Programs: bytes saved at entry, 0 if not known beforehand. */
	unsigned long kept;
	unsigned long accepted_body;	/* quick_body, for a call that the program has accepted */
	u16 duration_at;		/* in the record */
	u16 value_at;			/* 0: nothing is returned */
	u16 value_size;
	bool value_has_length;		/* ARGTRACE_TYPE_BYTES */
	u32 clock;			/* the session's */

	/* The rest is under the lock of return_life.c. */
	struct list_head link;		/* LEAVING */
	enum argtrace_return_life life;
	bool seen;			/* leaving since before the last argtrace_synchronize() */
	bool told;			/* the log has been told of its calls that are in flight */
	bool orphan;			/* the plan is to be freed when it is idle */
	unsigned long stopped_at;	/* jiffies: LEAVING */

	struct argtrace_counters_block *following_block;
	struct argtrace_return_counters before;	/* of earlier lives: counts no more */

	/* Under session->lock. */
	struct argtrace_fallback *fallback;	/* set if fprobe or kretprobe follows the calls; life stays IDLE */
	u64 missed_before;			/* of earlier lives */
};
static_assert(offsetof(struct argtrace_return, body) == ARGTRACE_RETURN_BODY);
static_assert(offsetof(struct argtrace_return, words) == ARGTRACE_RETURN_WORDS);
static_assert(offsetof(struct argtrace_return, kept) == ARGTRACE_RETURN_KEPT);

#define ARGTRACE_CARE_RECORD	(1ul << 0) /* the record needs the slow path */
#define ARGTRACE_CARE_STOPPED	(1ul << 1) /* nothing is recorded any more */
#define ARGTRACE_CARE_OUTPUTS	(1ul << 2) /* the record takes no more beside that than quick outputs */
#define ARGTRACE_CARE_WORDS	(1ul << 3) /* nothing is recorded, and a map gets no more than words that are there when the call returns */
#define ARGTRACE_CARE_FILTER	(1ul << 4) /* whether there is a record depends on words that are there when the call returns */

/* In place of the one of a call that has been given up, in its frame. */
extern struct argtrace_return argtrace_return_given_up;

/* Calls that are followed on this CPU in interrupts. */
DECLARE_PER_CPU(u8, argtrace_return_depth);

/* Settles what follows from the plan's schema and layout, where the value goes in the record, and returns the end of it. */
u32 argtrace_return_prepare(struct argtrace_plan *plan, u32 at);

/* How many bytes of values are kept of each call; 0: none, or it takes more than quick operations to compute them. */
unsigned long argtrace_return_quickly_kept(const struct argtrace_plan *plan);

/* ARGTRACE_CARE_* of a plan whose calls are to be recorded in the session. */
unsigned long argtrace_return_care(const struct argtrace_plan *plan, const struct argtrace_session *session);

/* What ftrace is to call for every call of a function of the lane. */
ftrace_func_t argtrace_return_callback(const struct argtrace_lane *lane);

/* Why the return of this function cannot be followed, whatever its prototype; NULL: it can. */
const char *argtrace_return_refusal(unsigned long addr);
const char *argtrace_return_refusal_of(const char *name);

/*
 * To be called before calls are followed for the first time, and paired with put(). 0, or -EOPNOTSUPP: this kernel does
 * not let us.
 */
int argtrace_returns_get(void);
void argtrace_returns_put(void);

/* The plan's calls are followed from now on, and recorded in the session's rings. Between get() and put(). */
void argtrace_return_start(struct argtrace_plan *plan, struct argtrace_session *session);
/* No call that ends from argtrace_synchronize() on is recorded. The plan is not idle before argtrace_return_detached(). */
void argtrace_return_stop(struct argtrace_plan *plan);
/*
 * The lane of a stopped plan does not call it any more: ftrace's filter or the lane's table is without it. Callbacks that
 * have found it there may still be running.
 */
void argtrace_return_detached(struct argtrace_plan *plan);
/* Whether a plan that has been stopped may still be called, or have calls in flight. */
bool argtrace_return_is_leaving(struct argtrace_plan *plan);
/* The plan is to be freed, and its lane does not call it. False: that happens when its calls have left. */
bool argtrace_return_release(struct argtrace_plan *plan);

/*
 * For calls that the kernel follows, which have a frame made of what it hands over (fallback_call.c): whether the program lets one go on,
 * else it has been counted; the time, false where the clock cannot be read; one that is lost; what is to be kept of it, within
 * argtrace_scratch_enter(), of which the number of bytes is returned.
 */
bool argtrace_return_accepts(struct argtrace_plan *plan, const struct ftrace_regs *fregs);
bool argtrace_return_read_clock(u32 clock, u64 *now);
void argtrace_return_lose(struct argtrace_return *returns, enum argtrace_lost cause);
unsigned long argtrace_return_gather_to(struct argtrace_frame *frame, u8 *scratch);

/*
 * Lets go of what has left, and does not wait if nothing can have. Not to be called with a lock that callers of argtrace_plan_free()
 * hold.
 */
void argtrace_returns_flush(void);

/* How many calls are in flight whose plans have been stopped. */
u64 argtrace_returns_in_flight(void);

/* At module unload; nobody uses any of this any more. */
void argtrace_returns_exit(void);

/* Whether a function of ours is followed: return_trial.c. */
unsigned long argtrace_return_trial(void);

#endif
