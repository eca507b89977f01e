/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of probes: each CPU has its own, so that counting takes no lock.
 *
 * alloc_percpu() would allocate them for every possible CPU, which may be many more than there are.
 * Instead, the counters of some dozens of probes form a block, with a page for each CPU at CPU
 * times PAGE_SIZE from the block's address. Only CPUs that have been online have pages of their
 * own; a CPU that comes online gets its pages before it runs.
 */
#ifndef ARGTRACE_COUNTERS_H
#define ARGTRACE_COUNTERS_H

#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

/*
 * The outcomes of one probe's calls: each call adds one to one of them, on its CPU. A cache line.
 */
struct argtrace_counters {
	unsigned long records;
	unsigned long filtered;
	unsigned long lost[ARGTRACE_LOST_COUNT];
	unsigned long sampled;
	unsigned long capped;
	unsigned long faults;		/* beside the outcome */
};

/*
 * Counts the calls of a probe whose returns are followed; its struct argtrace_counters then counts
 * only the outcomes of the calls that were entered. Both take the same space in a block.
 */
struct argtrace_return_counters {
	unsigned long entered;
	unsigned long filtered;
	unsigned long sampled;
	unsigned long faults;		/* beside the outcome */
	union {
		/* kernel functions */
		unsigned long low_stack;
		/* functions of Go: where their calls belong could not be read */
		unsigned long no_goroutine;
		/* by uretprobes: more calls within each other than these follow */
		unsigned long too_deep;
	};
	union {
		/* kernel functions: a call on its way into the trampoline counts here */
		unsigned long taken;
		/* user functions: entered, and known to have been left in another way */
		unsigned long left;
	};
	/* What became of calls that were entered: */
	unsigned long removed;
	unsigned long exited;
};

static_assert(sizeof(struct argtrace_return_counters) == sizeof(struct argtrace_counters));

#define ARGTRACE_COUNTERS_PER_BLOCK	(PAGE_SIZE / sizeof(struct argtrace_counters))

struct argtrace_counters_block {
	struct list_head link;		/* in the list of all blocks */
	void *base;			/* a page for each possible CPU, side by side */
	/* one for each possible CPU; absent_page is shared by all blocks */
	struct page **pages;
	u32 nr_joined;			/* counters handed out so far */
	u32 nr_users;			/* probes that still use theirs */
	u64 charged;
	/*
	 * Where each user keeps the address of its counters, which changes when a CPU gets its
	 * page. NULL if it has left.
	 */
	struct argtrace_counters **users[ARGTRACE_COUNTERS_PER_BLOCK];
};

/* Distance from CPU 0's counters to this CPU's: CPU times PAGE_SIZE. */
DECLARE_PER_CPU(unsigned long, argtrace_counters_offset);

/* This CPU's counters, for the address that a probe keeps. Preemption is off. */
#define argtrace_counters_here(counters)                            \
	((struct argtrace_counters *)((void *)READ_ONCE(counters) + \
				      this_cpu_read(argtrace_counters_offset)))

/* Increments a counter of this CPU. Safe against an interrupt that does the same. */
#define argtrace_count_here(counters, outcome) \
	local_inc((local_t *)&argtrace_counters_here(counters)->outcome)
static_assert(sizeof(local_t) == sizeof_field(struct argtrace_counters, records));

/* The same for struct argtrace_return_counters, and the reverse, on any CPU. */
#define argtrace_return_counter_here(counters, what) \
	((local_t *)&((struct argtrace_return_counters *)argtrace_counters_here(counters))->what)
#define argtrace_count_following(counters, what) \
	local_inc(argtrace_return_counter_here(counters, what))
#define argtrace_uncount_following(counters, what) \
	local_dec(argtrace_return_counter_here(counters, what))

static inline struct argtrace_counters *argtrace_counters_of(struct argtrace_counters *counters,
							     int cpu)
{
	return (void *)counters + cpu * PAGE_SIZE;
}

/*
 * Makes an empty block. ERR_PTR: -ENOSPC, -ENOMEM. Freed with its last user, or by
 * argtrace_counters_block_free().
 */
struct argtrace_counters_block *argtrace_counters_block_create(void);
void argtrace_counters_block_free(struct argtrace_counters_block *block);

/* Gives a user zeroed counters, and keeps *counters up to date. False if the block is full. */
bool argtrace_counters_block_join(struct argtrace_counters_block *block,
				  struct argtrace_counters **counters);

/*
 * Takes them away again; the last user frees the block. The caller serialises this for each block.
 */
void argtrace_counters_block_leave(struct argtrace_counters_block *block,
				   struct argtrace_counters **counters);

/* At module load and unload. */
int argtrace_counters_init(void);
void argtrace_counters_exit(void);

/* The sum over all CPUs. The counters stay where they are while they are summed. */
struct argtrace_counters argtrace_counters_sum(struct argtrace_counters *const *counters);
struct argtrace_return_counters
argtrace_return_counters_sum(struct argtrace_counters *const *counters);

#endif
