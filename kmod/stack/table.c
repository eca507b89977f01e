// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <asm/local.h>

#include "base/compat.h"
#include "read/scratch.h"
#include "base/hook.h"
#include "base/memory.h"
#include "base/percpu.h"
#include "base/region.h"
#include "mapping/atlas.h"
#include "stack/table.h"
#include "stack/user.h"

#define DEFAULT_ENTRIES		4096
#define DEFAULT_WORDS_PER_ENTRY	16

static_assert(sizeof(struct argtrace_stack_room) <= ARGTRACE_SCRATCH_STACK);
static_assert(sizeof(struct argtrace_user_room) <= ARGTRACE_SCRATCH_STACK);
static_assert(ARGTRACE_END_COUNT <= ARGTRACE_END_MAX);
static_assert(sizeof(struct argtrace_stacks_control) <= PAGE_SIZE);
static_assert(ARGTRACE_STACK_DEPTH_MAX <= ARGTRACE_STACK_COUNT_MASK);

static u64 entries_bytes(const struct argtrace_stack_set *set)
{
	return PAGE_ALIGN(set->entries * sizeof(struct argtrace_stack_entry));
}

static unsigned int pages_of(const struct argtrace_stack_set *set)
{
	return 1 + ((entries_bytes(set) + PAGE_ALIGN(set->words * sizeof(u64))) >> PAGE_SHIFT);
}

static struct argtrace_stack_set *stacks_of(const struct argtrace_percpu *percpu)
{
	return container_of(percpu, struct argtrace_stack_set, percpu);
}

static u64 table_charge(const struct argtrace_percpu *percpu)
{
	return argtrace_region_charge(pages_of(stacks_of(percpu)));
}

static bool table_exists(const struct argtrace_percpu *percpu, unsigned int cpu)
{
	return argtrace_stacks_memory(stacks_of(percpu), cpu);
}

static int table_create(struct argtrace_percpu *percpu, unsigned int cpu)
{
	const struct argtrace_stack_set *set = stacks_of(percpu);
	struct argtrace_stack_table *table = per_cpu_ptr(set->tables, cpu);
	u8 *region = argtrace_region_alloc(pages_of(set), cpu_to_node(cpu));

	if (!region)
		return -ENOMEM;
	table->control = (void *)region;
	table->words = (void *)(region + PAGE_SIZE + entries_bytes(set));
	table->nr_words = set->words;
	table->mask = set->entries - 1;
	table->shift = 64 - ilog2(set->entries);
	table->depth = set->depth;
	/* Pairs with argtrace_stacks_memory(). The CPU itself runs no call before it is online. */
	smp_store_release(&table->entries, (void *)(region + PAGE_SIZE));
	return 0;
}

static const struct argtrace_percpu_kind tables_kind = {
	.charge = table_charge,
	.exists = table_exists,
	.create = table_create,
};

/* What walks take beside the tables. */
static int get_walks(const struct argtrace_stacks *wanted, const struct argtrace_atlas_owner *owner,
		     struct argtrace_atlas **atlas)
{
	*atlas = NULL;
	if (!(wanted->flags & ARGTRACE_STACKS_USER))
		return argtrace_frames_get();
	*atlas = argtrace_atlas_create(owner);
	return PTR_ERR_OR_ZERO(*atlas);
}

static void put_walks(struct argtrace_atlas *atlas)
{
	if (atlas)
		argtrace_atlas_free(atlas);
	else
		argtrace_frames_put();
}

static void free_stacks(struct argtrace_stack_set *set)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(per_cpu_ptr(set->tables, cpu)->control);
	free_percpu(set->tables);
	argtrace_memory_uncharge(set->percpu.charged);
	put_walks(set->atlas);
	kfree(set);
}

static bool stacks_are_valid(const struct argtrace_stacks *wanted)
{
	return (!wanted->entries ||
		(is_power_of_2(wanted->entries) && wanted->entries >= ARGTRACE_STACK_ENTRIES_MIN &&
		 wanted->entries <= ARGTRACE_STACK_ENTRIES_MAX)) &&
	       wanted->words <= ARGTRACE_STACK_WORDS_MAX &&
	       wanted->depth <= ARGTRACE_STACK_DEPTH_MAX;
}

static struct argtrace_stack_set *alloc_set(const struct argtrace_stacks *wanted)
{
	const u64 charge = argtrace_percpu_size(sizeof(struct argtrace_stack_table));
	struct argtrace_stack_set *set = kzalloc(sizeof(*set), ARGTRACE_GFP);
	int ret;

	if (!set)
		return ERR_PTR(-ENOMEM);
	set->entries = wanted->entries ?: DEFAULT_ENTRIES;
	set->words = wanted->words ?: set->entries * DEFAULT_WORDS_PER_ENTRY;
	set->depth = wanted->depth ?: ARGTRACE_STACK_DEPTH_MAX;
	ret = argtrace_memory_charge(charge);
	if (!ret) {
		set->percpu.charged = charge;
		set->tables = alloc_percpu_gfp(struct argtrace_stack_table, ARGTRACE_GFP);
		if (set->tables)
			return set;
		argtrace_memory_uncharge(charge);
		ret = -ENOMEM;
	}
	kfree(set);
	return ERR_PTR(ret);
}

struct argtrace_stack_set *argtrace_stacks_create(const struct argtrace_stacks *wanted,
						  const struct argtrace_atlas_owner *owner)
{
	struct argtrace_stack_set *set;
	struct argtrace_atlas *atlas;
	int ret;

	if (!stacks_are_valid(wanted))
		return ERR_PTR(-EINVAL);
	ret = get_walks(wanted, owner, &atlas);
	if (ret)
		return ERR_PTR(ret);
	set = alloc_set(wanted);
	if (IS_ERR(set)) {
		put_walks(atlas);
		return set;
	}
	set->atlas = atlas;
	ret = argtrace_percpu_provide(&set->percpu, &tables_kind);
	if (ret) {
		free_stacks(set);
		return ERR_PTR(ret);
	}
	return set;
}

void argtrace_stacks_free(struct argtrace_stack_set *set)
{
	if (!set)
		return;
	argtrace_percpu_stop(&set->percpu);
	free_stacks(set);
}

void argtrace_stacks_describe(const struct argtrace_stack_set *set,
			      struct argtrace_stacks *description)
{
	description->entries = set->entries;
	description->words = set->words;
	description->depth = set->depth;
}

void *argtrace_stacks_memory(const struct argtrace_stack_set *set, int cpu)
{
	const struct argtrace_stack_table *table = per_cpu_ptr(set->tables, cpu);

	/* Pairs with the release of table_create(). */
	return smp_load_acquire(&table->entries) ? table->control : NULL;
}

static void count_lost(const struct argtrace_stack_table *table, enum argtrace_stack_lost reason)
{
	local_inc((local_t *)&table->control->lost[reason]);
}

static u64 where_of(u64 at, u32 count, bool cut)
{
	return at | (u64)count << ARGTRACE_STACK_COUNT_SHIFT | (cut ? ARGTRACE_STACK_CUT : 0);
}

/* Reserves room for so many addresses; false if there is none. */
static bool reserve_words(const struct argtrace_stack_table *table, u32 count, u64 *at)
{
	do {
		*at = READ_ONCE(table->control->words);
		if (count > table->nr_words || *at > table->nr_words - count)
			return false;
	} while (cmpxchg_local(&table->control->words, *at, *at + count) != *at);	/* A */
	return true;
}

/* Finds a stack that is not at its home, or adds it. */
static noinline u64 find_or_add(const struct argtrace_stack_table *table, u64 id, const u64 *frames,
				u32 count, bool cut)
{
	struct argtrace_stack_entry *entry;
	bool has_words = false;
	u32 step;
	u64 at, found;

	for (step = 0; step < ARGTRACE_STACK_STEPS; step++) {
		entry = &table->entries[((id >> table->shift) + step) & table->mask];
		found = READ_ONCE(entry->id);
		if (!found) {
			if (!has_words && !reserve_words(table, count, &at))
				break;
			if (!has_words)
				memcpy(table->words + at, frames, count * sizeof(*frames));
			has_words = true;
			ARGTRACE_HOOK(STACK_AB);
			found = cmpxchg_local(&entry->id, 0, id);			/* B */
			if (!found) {
				ARGTRACE_HOOK(STACK_BC);
				smp_store_release(&entry->where,			/* C */
						  where_of(at, count, cut));
				return id;
			}
		}
		if (found == id)
			return id;
	}
	/* No entry names them. */
	if (has_words)
		memset(table->words + at, 0, count * sizeof(*frames));
	count_lost(table, ARGTRACE_STACK_LOST_FULL);
	return 0;
}

/* The number of a stack that took more than the quick walk. */
static u64 id_of_walked(const struct argtrace_stack_table *table, struct argtrace_walked *walked,
			const u64 *frames)
{
	if (walked->end == ARGTRACE_WALK_RECURSION || walked->end == ARGTRACE_WALK_UNKNOWN) {
		count_lost(table, walked->end == ARGTRACE_WALK_RECURSION ?
					  ARGTRACE_STACK_LOST_RECURSION :
					  ARGTRACE_STACK_LOST_UNKNOWN);
		return 0;
	}
	/*
	 * Not an address, so that the hash differs from that of the same stack when it is complete.
	 */
	if (walked->end == ARGTRACE_WALK_CUT)
		walked->hash = argtrace_stack_hash(walked->hash, 1);
	return find_or_add(table, walked->hash ?: 1, frames, walked->count,
			   walked->end == ARGTRACE_WALK_CUT);
}

static noinline u64 id_slowly(const struct argtrace_stack_table *table, const u64 *sp, u64 bp,
			      const struct argtrace_regs *regs, struct argtrace_stack_room *room)
{
	const struct argtrace_stack_start start = { sp, bp, regs };
	struct argtrace_walked walked;

	argtrace_stack_walk_on(&start, room, table->depth, &walked);
	return id_of_walked(table, &walked, room->frames);
}

static noinline u64 no_room(const struct argtrace_stack_table *table)
{
	if (table->entries)
		count_lost(table, ARGTRACE_STACK_LOST_FULL);
	return 0;
}

/* The number of a complete stack, which is probably at its home. */
static __always_inline u64 id_at_home(const struct argtrace_stack_table *table, u64 id,
				      const u64 *frames, u32 count)
{
	if (unlikely(!id))
		id = 1;
	if (likely(READ_ONCE(table->entries[id >> table->shift].id) == id))
		return id;
	return find_or_add(table, id, frames, count, false);
}

u64 argtrace_stack_id(const struct argtrace_stack_set *set, const u64 *sp, u64 bp)
{
	const struct argtrace_stack_table *table = this_cpu_ptr(set->tables);
	struct argtrace_stack_room *room = (void *)argtrace_scratch_stack();
	u64 id;
	u32 count;

	if (unlikely(!table->entries) || unlikely(!room))
		return no_room(table);
	count = argtrace_stack_walk_quickly(sp, bp, room, table->depth, &id);
	if (unlikely(!count))
		return id_slowly(table, sp, bp, NULL, room);
	return id_at_home(table, id, room->frames, count);
}

u64 argtrace_stack_id_interrupted(const struct argtrace_stack_set *set,
				  const struct argtrace_regs *regs)
{
	const struct argtrace_stack_table *table = this_cpu_ptr(set->tables);
	struct argtrace_stack_room *room = (void *)argtrace_scratch_stack();
	u64 id;
	u32 count;

	if (unlikely(!table->entries) || unlikely(!room))
		return no_room(table);
	count = argtrace_stack_walk_interrupted_quickly(regs, room, table->depth, &id);
	if (unlikely(!count))
		return id_slowly(table, NULL, 0, regs, room);
	return id_at_home(table, id, room->frames, count);
}

u64 argtrace_stack_id_of_user(const struct argtrace_stack_set *set)
{
	const struct argtrace_stack_table *table = this_cpu_ptr(set->tables);
	struct argtrace_user_room *room = (void *)argtrace_scratch_stack();
	struct argtrace_user_walked walked;

	if (unlikely(!table->entries) || unlikely(!room))
		return no_room(table);
	if (unlikely(!argtrace_is_user_task()))
		return ARGTRACE_STACK_ID_NO_USER;
	argtrace_user_stack_walk(set->atlas, current->mm, argtrace_user_entry(), room,
				 table->depth, &walked);
	/* It is executing a program that has not begun. */
	if (unlikely(!walked.count))
		return ARGTRACE_STACK_ID_NO_USER;
	if (unlikely(walked.end >= 0))
		local_inc((local_t *)&table->control->incomplete[walked.end]);
	if (likely(!walked.cut))
		return id_at_home(table, walked.hash, room->frames, walked.count);
	/* As for a kernel stack. */
	return find_or_add(table, argtrace_stack_hash(walked.hash, 1) ?: 1, room->frames,
			   walked.count, true);
}
