/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: kernel stacks. The stack of a call is the addresses that it and its callers return to, innermost first, as reported by
 * the kernel's stack_trace_save() from the caller of the traced function on. A program gets its number by
 * ARGTRACE_SOURCE_STACK_ID, as an output of a record or in the key of a map; the addresses are written once on each CPU, to a table
 * that user space maps read-only. Equal stacks have equal numbers, on all CPUs and in all sessions.
 *
 * A table is a struct argtrace_stacks_control in the first page, then `entries` structs argtrace_stack_entry, then from the next
 * multiple of 4096 on `words` __u64, which are the addresses of all stacks, one after the other.
 *
 * A stack is written before the record or slot that names it is complete, except that an interrupt may name one that the call
 * which it has interrupted is about to write: until then, `where` is 0.
 *
 * The stack of a user that ends where memory is absent has a number of its own, for this one way through the kernel, whose entry is an
 * alias (ARGTRACE_STACK_ALIAS): its only word is the number under which the stack is known that it stands for. That is the incomplete
 * one at first, as long as ARGTRACE_STACK_PENDING is set; on its way back to user mode the task brings in the memory, if that may be
 * waited for, and its stack is walked again. The table of the CPU on which it does so then has an alias without PENDING, which takes
 * precedence over those with it, in any table.
 */
#ifndef _UAPI_ARGTRACE_STACK_H
#define _UAPI_ARGTRACE_STACK_H

#include <linux/types.h>

#define ARGTRACE_STACK_DEPTH_MAX	127

#define ARGTRACE_STACK_ENTRIES_MIN	64
#define ARGTRACE_STACK_ENTRIES_MAX	(1u << 20)
#define ARGTRACE_STACK_WORDS_MAX	(1u << 24)

/*
 * ARGTRACE_IOC_STACKS: makes the session's tables, for the CPUs that have rings and those that get one later. Existing tables
 * stay as they are. On return, the struct describes them. Without tables, a program with ARGTRACE_SOURCE_STACK_ID is refused
 * (-EINVAL). They are freed with the session.
 *
 * -ENOENT there are none (with EXISTING), or the session has been removed; -ENOSPC the memory limit, -ENOMEM no memory,
 * -EOPNOTSUPP this kernel's unwinder is not ORC.
 */
struct argtrace_stacks {
	__u32	size;
	__u32	flags;			/* ARGTRACE_STACKS_* */
	__u32	entries;		/* for each CPU: a power of two; 0 is 4096 */
	__u32	words;			/* for each CPU: addresses of all stacks; 0 is 16 per entry */
	__u32	depth;			/* the most addresses of a stack; 0 is ARGTRACE_STACK_DEPTH_MAX */
	__u32	reserved;		/* 0 */
};

#define ARGTRACE_STACKS_EXISTING	(1u << 0) /* make none; the other fields are 0 */
#define ARGTRACE_STACKS_USER	(1u << 1) /* the tables of user stacks (argtrace_user.h): mmap calls them USER_STACKS, and to make them takes
					   * the authority to read memory */
#define ARGTRACE_STACKS_LATE	(1u << 2) /* out: stacks that end where memory is absent are completed. Not so where ftrace cannot tell us
					   * of the function that the kernel calls on the way back to user mode. */

/*
 * Why a call has no stack: its output is unreadable (see argtrace_program.h), and it is counted in faults as well, with the
 * CPU's.
 */
enum argtrace_stack_lost {
	ARGTRACE_STACK_LOST_FULL	= 0,	/* the table had no room for another stack */
	ARGTRACE_STACK_LOST_RECURSION	= 1,	/* it took the kernel's unwinder, which was already running */
	ARGTRACE_STACK_LOST_UNKNOWN	= 2,	/* the unwinder does not know this stack either */
};

#define ARGTRACE_STACK_LOST_COUNT	3	/* reasons known to this version */
#define ARGTRACE_STACK_LOST_MAX		6	/* room for them */
#define ARGTRACE_END_MAX		16	/* and for the reasons of enum argtrace_end */

struct argtrace_stacks_control {
	__u64	words;			/* in use */
	__u64	lost[ARGTRACE_STACK_LOST_MAX];
	__u64	incomplete[ARGTRACE_END_MAX]; /* stacks that end before their time, by enum argtrace_end (argtrace_user.h); not kernel
					       * stacks */
	__u64	completed;		/* of those with ARGTRACE_END_UNREADABLE, the ones that were walked again; those that ended before
					 * their time once more are counted as incomplete once more */
};

struct argtrace_stack_entry {
	__u64	id;			/* 0: the entry is free */
	__u64	where;			/* ARGTRACE_STACK_*; 0: not written yet. Read it with acquire. */
};

/* `where`: the number of its first address in the lower 32 bits, then how many there are, then flags. */
#define ARGTRACE_STACK_COUNT_SHIFT	32
#define ARGTRACE_STACK_COUNT_MASK	0xffu
#define ARGTRACE_STACK_CUT		(1ull << 40)	/* there were more */
#define ARGTRACE_STACK_ALIAS		(1ull << 41)	/* the only word is the number of another stack, which is no alias */
#define ARGTRACE_STACK_PENDING		(1ull << 42)	/* the alias may yet be replaced, here or in the table of another CPU */

#ifdef __cplusplus
static_assert(sizeof(struct argtrace_stacks) == 24, "struct argtrace_stacks");
static_assert(sizeof(struct argtrace_stacks_control) == 192, "struct argtrace_stacks_control");
static_assert(sizeof(struct argtrace_stack_entry) == 16, "struct argtrace_stack_entry");
#else
_Static_assert(sizeof(struct argtrace_stacks) == 24, "struct argtrace_stacks");
_Static_assert(sizeof(struct argtrace_stacks_control) == 192, "struct argtrace_stacks_control");
_Static_assert(sizeof(struct argtrace_stack_entry) == 16, "struct argtrace_stack_entry");
#endif

#endif
