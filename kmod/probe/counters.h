/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of probes: each CPU has its own, so that to count takes no lock.
 *
 * alloc_percpu() would allocate them for every possible CPU, and a machine may make provision for
 * many more than it has. So the counters of some hundred probes are a block: for each CPU a page, at
 * CPU times PAGE_SIZE from the block's address. Only CPUs that have been online have pages of their
 * own; one that comes online gets its pages before it runs.
 */
#ifndef ARGTRACE_COUNTERS_H
#define ARGTRACE_COUNTERS_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

/* The outcomes of one probe's calls: each call adds one to one of them, on its CPU. A cache line. */
struct argtrace_counters {
	unsigned long records;
	unsigned long filtered;
	unsigned long lost[ARGTRACE_LOST_COUNT];
	unsigned long sampled;
	unsigned long capped;
	unsigned long faults;		/* beside the outcome */
};

/*
 * Where the returns of a probe's calls are followed: these are its calls, of which the other counters count what has become of those
 * that were entered. They take the place of the others in a block.
 */
struct argtrace_return_counters {
	unsigned long entered;
	unsigned long filtered;
	unsigned long sampled;
	unsigned long faults;		/* beside the outcome */
	unsigned long low_stack;
	unsigned long taken;		/* a call on its way into the trampoline counts here */
	/* What became of calls that were entered: */
	unsigned long removed;
	unsigned long exited;
};
static_assert(sizeof(struct argtrace_return_counters) == sizeof(struct argtrace_counters));

#define ARGTRACE_COUNTERS_PER_BLOCK	(PAGE_SIZE / sizeof(struct argtrace_counters))

struct argtrace_counters_block {
	struct list_head link;		/* in the list of all blocks */
	void *base;			/* a page for each possible CPU, side by side */
	struct page **pages;		/* one for each possible CPU; absent_page: not the block's */
	u32 nr_joined;			/* counters that have been given away */
	u32 nr_users;			/* probes that still have them */
	u64 charged;
	/* Where the users keep the address of their counters, which changes when a CPU gets its page. NULL: gone. */
	struct argtrace_counters **users[ARGTRACE_COUNTERS_PER_BLOCK];
};

/* How far behind those of CPU 0 the counters of this CPU are: CPU times PAGE_SIZE. */
DECLARE_PER_CPU(unsigned long, argtrace_counters_offset);

/* The counters of this CPU, from the address that a probe keeps. Preemption is off. */
#define argtrace_counters_here(counters) \
	((struct argtrace_counters *)((void *)READ_ONCE(counters) + this_cpu_read(argtrace_counters_offset)))

/* Adds one to a counter of this CPU, in a way that an interrupt may do as well meanwhile. */
#define argtrace_count_here(counters, outcome) \
	local_inc((local_t *)&argtrace_counters_here(counters)->outcome)
static_assert(sizeof(local_t) == sizeof_field(struct argtrace_counters, records));

/* The same for struct argtrace_return_counters, and one that takes it back, on whatever CPU. */
#define argtrace_return_counter_here(counters, what) \
	((local_t *)&((struct argtrace_return_counters *)argtrace_counters_here(counters))->what)
#define argtrace_count_following(counters, what) local_inc(argtrace_return_counter_here(counters, what))
#define argtrace_uncount_following(counters, what) local_dec(argtrace_return_counter_here(counters, what))

static inline struct argtrace_counters *argtrace_counters_of(struct argtrace_counters *counters, int cpu)
{
	return (void *)counters + cpu * PAGE_SIZE;
}

/* An empty block. ERR_PTR: -ENOSPC, -ENOMEM. Freed with its last user, or by argtrace_counters_block_free(). */
struct argtrace_counters_block *argtrace_counters_block_create(void);
void argtrace_counters_block_free(struct argtrace_counters_block *block);

/* Gives a user counters, all zero, and keeps *counters at their address. False: the block is full. */
bool argtrace_counters_block_join(struct argtrace_counters_block *block,
				  struct argtrace_counters **counters);

/* Takes the counters away again. The last of a block's users frees it. Serialised by the caller for each block. */
void argtrace_counters_block_leave(struct argtrace_counters_block *block,
				   struct argtrace_counters **counters);

/* At module load and unload. */
int argtrace_counters_init(void);
void argtrace_counters_exit(void);

/* The sum over all CPUs. The counters stay where they are while they are summed. */
struct argtrace_counters argtrace_counters_sum(struct argtrace_counters *const *counters);
struct argtrace_return_counters argtrace_return_counters_sum(struct argtrace_counters *const *counters);

#endif
