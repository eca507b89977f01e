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
#include "arch/user.h"
#include "mapping/atlas.h"
#include "stack/late.h"
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

	/* It walks and writes to the tables. */
	argtrace_late_free(set->late);

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
	/* Without it, stacks that end where memory is absent remain incomplete. */
	if (atlas)
		set->late = argtrace_late_create(set);
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
	if (set->late)
		description->flags |= ARGTRACE_STACKS_LATE;
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

static u64 where_of(u64 at, u32 count, u64 flags)
{
	return at | (u64)count << ARGTRACE_STACK_COUNT_SHIFT | flags;
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

/*
 * Finds a stack that is not at its home, or adds it, with ARGTRACE_STACK_* flags. 0 if there is no
 * room.
 */
static u64 find_or_place(const struct argtrace_stack_table *table, u64 id, const u64 *frames,
			 u32 count, u64 flags)
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
						  where_of(at, count, flags));
				return id;
			}
		}
		if (found == id)
			return id;
	}
	/* No entry names them. */
	if (has_words)
		memset(table->words + at, 0, count * sizeof(*frames));
	return 0;
}

/* The same for a call, which has no stack if there is no room. */
static noinline u64 find_or_add(const struct argtrace_stack_table *table, u64 id, const u64 *frames,
				u32 count, bool cut)
{
	const u64 flags = cut ? ARGTRACE_STACK_CUT : 0;
	const u64 found = find_or_place(table, id, frames, count, flags);

	if (!found)
		count_lost(table, ARGTRACE_STACK_LOST_FULL);
	return found;
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

static struct argtrace_stack_entry *find_entry(const struct argtrace_stack_table *table, u64 id)
{
	struct argtrace_stack_entry *entry;
	u32 step;

	for (step = 0; step < ARGTRACE_STACK_STEPS; step++) {
		entry = &table->entries[((id >> table->shift) + step) & table->mask];
		if (READ_ONCE(entry->id) == id)
			return entry;
	}
	return NULL;
}

/* From here on, and in this table, the number stands for a stack that has another. */
static bool set_alias(const struct argtrace_stack_table *table, u64 id, u64 target)
{
	struct argtrace_stack_entry *entry = find_entry(table, id);
	u64 where;

	if (!entry)
		return find_or_place(table, id, &target, 1, ARGTRACE_STACK_ALIAS);
	where = READ_ONCE(entry->where);
	WRITE_ONCE(table->words[(u32)where], target);
	/* Pairs with the acquire of StackTable::find(). */
	smp_store_release(&entry->where, where & ~ARGTRACE_STACK_PENDING);		/* D */
	return true;
}

/*
 * The number of a stack that may be completed, of which `plain` is the number so far. Such stacks
 * may take a quarter of the entries, with an alias each, and their complete stacks another one.
 */
static u64 id_for_later(const struct argtrace_stack_set *set,
			const struct argtrace_stack_table *table, const argtrace_full_regs *regs,
			u64 plain, u32 count)
{
	static atomic64_t sequence;
	struct argtrace_late_stack *late;
	u64 id;

	if (table->nr_late >= set->entries / 4)
		return plain;
	late = argtrace_late_claim(set->late, regs);
	if (!late)
		return plain;
	id = late->id;
	if (!id) {
		/* No other way through the kernel has it. */
		id = argtrace_stack_hash(plain, atomic64_inc_return(&sequence)) ?: 1;
		if (!find_or_place(table, id, &plain, 1,
				   ARGTRACE_STACK_ALIAS | ARGTRACE_STACK_PENDING)) {
			argtrace_late_end(late);
			return plain;
		}
		this_cpu_inc(set->tables->nr_late);
		late->plain = plain;
		late->count = count;
		late->id = id;
		argtrace_late_wait(late);
	}
	atomic_inc(&late->walks);
	return id;
}

static noinline u64 id_of_incomplete(const struct argtrace_stack_set *set,
				     const struct argtrace_stack_table *table,
				     const argtrace_full_regs *regs,
				     const struct argtrace_user_room *room,
				     const struct argtrace_user_walked *walked)
{
	const u64 plain = id_at_home(table, walked->hash, room->frames, walked->count);

	local_inc((local_t *)&table->control->incomplete[walked->end]);
	if (!walked->missing || !set->late || !plain)
		return plain;
	return id_for_later(set, table, regs, plain, walked->count);
}

u64 argtrace_stack_id_of_user(const struct argtrace_stack_set *set)
{
	const struct argtrace_stack_table *table = this_cpu_ptr(set->tables);
	struct argtrace_user_room *room = (void *)argtrace_scratch_stack();
	const argtrace_full_regs *regs;
	struct argtrace_user_walked walked;

	if (unlikely(!table->entries) || unlikely(!room))
		return no_room(table);
	if (!ARGTRACE_CAN_WALK_USER || unlikely(!argtrace_is_user_task()))
		return ARGTRACE_STACK_ID_NO_USER;
	regs = argtrace_user_entry();
	argtrace_user_stack_walk(set->atlas, current->mm, regs, room, table->depth, &walked);
	/* It is executing a program that has not begun. */
	if (unlikely(!walked.count))
		return ARGTRACE_STACK_ID_NO_USER;
	if (unlikely(walked.end >= 0))
		return id_of_incomplete(set, table, regs, room, &walked);
	if (likely(!walked.cut))
		return id_at_home(table, walked.hash, room->frames, walked.count);
	/* As for a kernel stack. */
	return find_or_add(table, argtrace_stack_hash(walked.hash, 1) ?: 1, room->frames,
			   walked.count, true);
}

static u64 id_of_second_walk(const struct argtrace_stack_table *table,
			     const struct argtrace_user_room *room,
			     const struct argtrace_user_walked *walked)
{
	const u64 hash = walked->cut ? argtrace_stack_hash(walked->hash, 1) : walked->hash;

	return find_or_place(table, hash ?: 1, room->frames, walked->count,
			     walked->cut ? ARGTRACE_STACK_CUT : 0);
}

/* What the second walk has found is what the calls have that the first one was for. */
static void publish_late(const struct argtrace_stack_table *table,
			 struct argtrace_late_stack *late, const struct argtrace_user_room *room,
			 const struct argtrace_user_walked *walked)
{
	const bool is_better = walked->count && (walked->end < 0 || walked->count >= late->count);
	const u64 id = is_better ? id_of_second_walk(table, room, walked) : 0;
	const int walks = atomic_read(&late->walks);

	/* If there is no room for it, it remains what it is. */
	if (!set_alias(table, late->id, id ?: late->plain) || !id)
		return;
	if (walked->end >= 0)
		local_add(walks, (local_t *)&table->control->incomplete[walked->end]);
	/* StackReader::user_lost() reads it first. */
	smp_wmb();
	local_add(walks, (local_t *)&table->control->completed);
}

u64 argtrace_stack_complete(const struct argtrace_stack_set *set, struct argtrace_late_stack *late,
			    bool is_last)
{
	const struct argtrace_stack_table *table;
	struct argtrace_user_walked walked = { };
	struct argtrace_user_room *room = NULL;
	unsigned long flags;
	bool has_scratch;

	preempt_disable();
	table = this_cpu_ptr(set->tables);
	has_scratch = argtrace_scratch_enter();
	if (has_scratch)
		room = (void *)argtrace_scratch_stack();
	if (ARGTRACE_CAN_WALK_USER && room && table->entries)
		argtrace_user_stack_walk(set->atlas, current->mm, &late->regs, room, table->depth,
					 &walked);
	if (!walked.missing || is_last) {
		/* No interrupt counts one more call meanwhile. */
		local_irq_save(flags);
		if (table->entries)
			publish_late(table, late, room, &walked);
		argtrace_late_end(late);
		local_irq_restore(flags);
		walked.missing = 0;
	}
	if (has_scratch)
		argtrace_scratch_leave();
	preempt_enable();
	return walked.missing;
}

void argtrace_stack_give_up(const struct argtrace_stack_set *set, struct argtrace_late_stack *late)
{
	const struct argtrace_stack_table *table;
	unsigned long flags;

	local_irq_save(flags);
	table = this_cpu_ptr(set->tables);
	if (table->entries)
		set_alias(table, late->id, late->plain);
	argtrace_late_end(late);
	local_irq_restore(flags);
}
