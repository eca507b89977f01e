/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stacks of calls on a CPU, each stored once (include/uapi/argtrace_stack.h), those of the
 * kernel and those of programs in tables of their own. The number of a
 * stack is the hash of its addresses, and determines its home, where the search for it begins.
 *
 * Only its CPU writes to a table, in any context up to NMI, and user space reads meanwhile:
 *
 *   A  compare and exchange control->words: room for the addresses, which are written there
 *   B  compare and exchange the id of a free entry
 *   C  write `where`, a release; pairs with the acquire of StackReader::find()
 *      (user/session/stack_reader.cpp)
 *
 * An interrupt completes before the writer that it has interrupted continues. Between A and B, it
 * may take the entry: for the same stack, whose addresses are then stored twice, or for another,
 * and the search continues. Between B and C, it finds the id, and names a stack that will be
 * complete soon.
 *
 * An alias that is pending is made final, where it is in the table of the same CPU, by
 *
 *   D  write its word, the number of another stack, and then `where` without PENDING, a release
 *
 * Its task alone does so, with interrupts off, and no NMI has such a number.
 */
#ifndef ARGTRACE_STACK_TABLE_H
#define ARGTRACE_STACK_TABLE_H

#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/walk.h"
#include "base/percpu.h"

struct argtrace_atlas_owner;
struct argtrace_late;
struct argtrace_late_stack;
struct argtrace_session;

/* How many entries a search examines. */
#define ARGTRACE_STACK_STEPS	16

/* The table of one CPU. */
struct argtrace_stack_table {
	struct argtrace_stack_entry *entries;	/* NULL: this CPU has none */
	struct argtrace_stacks_control *control;
	u64 *words;
	u32 nr_words;
	u32 mask;				/* entries - 1 */
	/* the upper bits of a stack's number are the number of its home */
	u8 shift;
	u8 depth;
	u32 nr_late;				/* stacks that have got a number for later */
};

struct argtrace_atlas;

struct argtrace_stack_set {
	struct argtrace_stack_table __percpu *tables;
	u32 entries;				/* of each CPU */
	u32 words;
	u32 depth;
	struct argtrace_atlas *atlas;	/* of user stacks; NULL: these are of kernel stacks */
	struct argtrace_late *late;	/* of user stacks that are to be completed, or NULL */

	struct argtrace_percpu percpu;
};

/* Those of a session, each NULL if it has none. */
struct argtrace_stack_sets {
	struct argtrace_stack_set *kernel, *user;
};

/*
 * Makes the table of each present CPU in the memory of its node, and later those of CPUs that come.
 * With ARGTRACE_STACKS_USER, they are of user stacks, and mappings are followed from now on for
 * `owner`. ERR_PTR: -EINVAL, -ENOMEM, -ENOSPC, -EOPNOTSUPP, -EBUSY.
 */
struct argtrace_stack_set *argtrace_stacks_create(const struct argtrace_stacks *description,
						  const struct argtrace_atlas_owner *owner);
/* To be called when no callback uses it any more. Accepts NULL. */
void argtrace_stacks_free(struct argtrace_stack_set *set);
void argtrace_stacks_describe(const struct argtrace_stack_set *set,
			      struct argtrace_stacks *description);

/*
 * The memory that user space maps, or NULL if this CPU has no table. It may get one at any time,
 * and never loses it.
 */
void *argtrace_stacks_memory(const struct argtrace_stack_set *set, int cpu);

/*
 * The number of the stack of a call whose return address is at *sp, or 0 if there is none, which
 * has been counted. Preemption is off; within argtrace_scratch_enter().
 */
u64 argtrace_stack_id(const struct argtrace_stack_set *set, const u64 *sp, u64 bp);

/* The same for interrupted kernel code. */
u64 argtrace_stack_id_interrupted(const struct argtrace_stack_set *set,
				  const struct argtrace_regs *regs);

/* The number of the current task's user stack, in tables of user stacks. */
u64 argtrace_stack_id_of_user(const struct argtrace_stack_set *set);

/*
 * stack/late.c: walks the stack of the current task again, and publishes what there is of it,
 * unless memory is absent and it is not the last attempt: then returns the address. Otherwise the
 * slot is free, and 0 is returned.
 */
u64 argtrace_stack_complete(const struct argtrace_stack_set *set, struct argtrace_late_stack *late,
			    bool is_last);
/* It remains what it is, and its slot is free. */
void argtrace_stack_give_up(const struct argtrace_stack_set *set, struct argtrace_late_stack *late);

#endif
