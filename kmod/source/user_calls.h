/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of user functions that have been entered, and have not returned: of all sessions.
 *
 * The entry and the return of a call have the same process and the same stack pointer, and no two
 * calls that are there at once have both in common unless one of them has called the other by a
 * jump. Threads do not matter, as a coroutine may return in another thread than it was entered in;
 * a child of vfork(), which has its parent's memory, is a process of its own.
 *
 * A function of Go may return on another stack than it was entered on, to which its own has been
 * copied. There a goroutine takes the place of the process's stacks, of which it has one at any
 * time, and the distance from that one's end takes the place of the stack pointer. So whatever is
 * entered or returns at some distance proves that the goroutine's calls farther away have been
 * left: by a panic, or because the goroutine has ended, and its address is that of another one.
 *
 * Nobody tells that a call has been left by longjmp() or an exception. A new call with its stack
 * pointer proves it, and so do the end of its thread and of its program. Its stack does not:
 * coroutines have theirs side by side, and a signal's handler may have one inside a caller's frame.
 */
#ifndef ARGTRACE_USER_CALLS_H
#define ARGTRACE_USER_CALLS_H

#include <linux/list.h>
#include <linux/list_bl.h>
#include <linux/types.h>

#include "arch/followed.h"

struct argtrace_user_place;

/*
 * One of them. Behind it lie the values that are kept, and then its frame, as on the stack of a
 * kernel function that is followed. It belongs to who has taken it off the table.
 */
struct argtrace_user_call {
	union {
		struct hlist_bl_node link;	/* on the table */
		struct argtrace_user_call *next;	/* of those that have been taken off */
		struct list_head ended;			/* of these, as they are recorded */
		struct rcu_head rcu;	/* while it is freed */
	};
	struct argtrace_user_place *place;
	unsigned long goroutine;	/* its address; 0: the function is not one of Go */
	unsigned long sp;		/* with a goroutine, its distance from the stack's end */
	unsigned long result;		/* its address, where it is returned in memory */
	unsigned long returns_to;	/* 0: could not be read */
	pid_t tgid, tid;		/* of the task that has entered it */
	u32 size;			/* of its memory, as the place has it */
};

static inline struct argtrace_user_frame *argtrace_user_call_frame(struct argtrace_user_call *call)
{
	return (void *)call + call->size - sizeof(struct argtrace_user_frame);
}

/* For each place whose calls are followed. 0, -ENOMEM, -ENOSPC, -EOPNOTSUPP. */
int argtrace_user_calls_get(bool goroutines);
void argtrace_user_calls_put(void);

/*
 * Memory for a call of that place, which argtrace_user_call_free() frees. NULL: there is none. Not
 * to be called with preemption off.
 */
struct argtrace_user_call *argtrace_user_call_alloc(const struct argtrace_user_place *place);
void argtrace_user_call_free(struct argtrace_user_call *call);

/*
 * Puts a call of the current process on the table, and takes off those that it proves to have been
 * left. They are on the list, for argtrace_user_calls_end(). False: it is one that is on it
 * already, and has come to the function's first instruction again.
 */
bool argtrace_user_calls_enter(struct argtrace_user_call *call, struct argtrace_user_call **left);

/*
 * Takes the current process's call of that place, goroutine and stack pointer off. NULL: there is
 * none. It takes off those that the return proves to have been left as well, which are on the list
 * for argtrace_user_calls_end().
 */
struct argtrace_user_call *argtrace_user_calls_leave(const struct argtrace_user_place *place,
						     unsigned long goroutine, unsigned long sp,
						     struct argtrace_user_call **left);

/*
 * Frees the calls of all places that are about to be freed, and counts them as removed. It waits
 * for those who record calls that have ended.
 */
void argtrace_user_calls_forget(void);

enum argtrace_user_call_end {
	ARGTRACE_USER_CALL_LEFT,
	ARGTRACE_USER_CALL_EXITED,
	ARGTRACE_USER_CALL_REMOVED,
};

/*
 * Records or counts calls that have been taken off, and frees them. Their plans are still there in
 * a handler of uprobes, or with preemption off since before they were taken off.
 */
void argtrace_user_calls_end(struct argtrace_user_call *calls, enum argtrace_user_call_end end);

#endif
