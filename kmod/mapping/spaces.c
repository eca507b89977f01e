// SPDX-License-Identifier: GPL-2.0-only
/* What each process has mapped. */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "mapping/atlas.h"

static size_t mappings_size(u32 count)
{
	return sizeof(struct argtrace_mappings) + count * sizeof(struct argtrace_mapping);
}

static u64 space_charge(void)
{
	return argtrace_kvmalloc_size(sizeof(struct argtrace_space));
}

static struct argtrace_mappings *mappings_of(const struct argtrace_space *space)
{
	/* Changed under atlas->lock, which is held. */
	return rcu_dereference_raw(space->mappings);
}

struct argtrace_mappings *argtrace_spaces_begin(u32 count)
{
	struct argtrace_mappings *mappings;

	if (argtrace_memory_charge(argtrace_kvmalloc_size(mappings_size(count))))
		return NULL;
	mappings = kmalloc(mappings_size(count), ARGTRACE_GFP_HOOK);
	if (!mappings) {
		argtrace_memory_uncharge(argtrace_kvmalloc_size(mappings_size(count)));
		return NULL;
	}
	refcount_set(&mappings->spaces, 1);
	mappings->count = 0;
	mappings->room = count;
	return mappings;
}

void argtrace_spaces_drop(struct argtrace_atlas *atlas, struct argtrace_mappings *mappings)
{
	u32 i;

	if (!mappings || !refcount_dec_and_test(&mappings->spaces))
		return;
	for (i = 0; i < mappings->count; i++)
		argtrace_objects_unmap(atlas, mappings->at[i].object);
	argtrace_memory_uncharge(argtrace_kvmalloc_size(mappings_size(mappings->room)));
	/* A walk may be reading it. */
	kfree_rcu(mappings, rcu);
}

static void replace_mappings(struct argtrace_atlas *atlas, struct argtrace_space *space,
			     struct argtrace_mappings *mappings)
{
	struct argtrace_mappings *old = mappings_of(space);

	rcu_assign_pointer(space->mappings, mappings);
	argtrace_spaces_drop(atlas, old);
}

struct argtrace_space *argtrace_spaces_add(struct argtrace_atlas *atlas, struct mm_struct *mm,
					   bool whole)
{
	struct argtrace_space *space;

	if (argtrace_memory_charge(space_charge()))
		return NULL;
	space = kzalloc(sizeof(*space), ARGTRACE_GFP_HOOK);
	if (!space) {
		argtrace_memory_uncharge(space_charge());
		return NULL;
	}
	space->mm = mm;
	space->whole = whole;
	hlist_add_head_rcu(&space->link, &atlas->spaces[hash_ptr(mm, ARGTRACE_ATLAS_SHIFT)]);
	return space;
}

void argtrace_spaces_remove(struct argtrace_atlas *atlas, struct argtrace_space *space)
{
	hlist_del_rcu(&space->link);
	argtrace_spaces_drop(atlas, mappings_of(space));
	argtrace_memory_uncharge(space_charge());
	/* A walk of another mm may be passing it. */
	kfree_rcu(space, rcu);
}

static void append(struct argtrace_atlas *atlas, struct argtrace_mappings *to,
		   const struct argtrace_mapping *mapping, u64 begin, u64 end)
{
	struct argtrace_mapping *added = &to->at[to->count];

	if (WARN_ON_ONCE(to->count == to->room))
		return;
	to->count++;
	*added = *mapping;
	added->word += begin - mapping->begin;
	added->begin = begin;
	added->end = end;
	argtrace_objects_map(atlas, mapping->object);
}

/* How many entries there are when nothing is left between `begin` and `end`. */
static u32 count_without(const struct argtrace_mappings *from, u64 begin, u64 end, bool *changes)
{
	u32 i, count = 0;

	*changes = false;
	for (i = 0; i < from->count; i++) {
		const struct argtrace_mapping *mapping = &from->at[i];

		*changes |= mapping->end > begin && mapping->begin < end;
		count += mapping->begin < min(begin, mapping->end);
		count += mapping->end > max(end, mapping->begin);
		/* One that is outside as a whole was counted by one of these alone. */
	}
	return count;
}

static void copy_without(struct argtrace_atlas *atlas, struct argtrace_mappings *to,
			 const struct argtrace_mappings *from, u64 begin, u64 end,
			 const struct argtrace_mapping *added)
{
	u32 i = 0;

	for (; i < from->count && from->at[i].begin < begin; i++)
		append(atlas, to, &from->at[i], from->at[i].begin, min(begin, from->at[i].end));
	if (added)
		append(atlas, to, added, added->begin, added->end);
	/* The one that contains both ends is on either side. */
	if (i && from->at[i - 1].end > end)
		append(atlas, to, &from->at[i - 1], end, from->at[i - 1].end);
	for (; i < from->count; i++) {
		if (from->at[i].end > end)
			append(atlas, to, &from->at[i], max(end, from->at[i].begin),
			       from->at[i].end);
	}
}

static bool has_already(const struct argtrace_mappings *mappings,
			const struct argtrace_mapping *added)
{
	const struct argtrace_mapping *there = argtrace_mappings_find(mappings, added->begin);

	return there && there->begin == added->begin && there->end == added->end &&
	       there->word == added->word;
}

bool argtrace_spaces_change(struct argtrace_atlas *atlas, struct argtrace_space *space, u64 begin,
			    u64 end, const struct argtrace_mapping *added)
{
	static const struct argtrace_mappings none;
	const struct argtrace_mappings *old = mappings_of(space) ?: &none;
	struct argtrace_mappings *mappings;
	bool changes;
	u32 count;

	if (added && has_already(old, added))
		return true;
	count = count_without(old, begin, end, &changes);
	if (!changes && !added)
		return true;
	mappings = argtrace_spaces_begin(count + !!added);
	if (!mappings) {
		/* Better nothing than what is wrong. */
		WRITE_ONCE(space->whole, false);
		replace_mappings(atlas, space, NULL);
		return false;
	}
	copy_without(atlas, mappings, old, begin, end, added);
	replace_mappings(atlas, space, mappings);
	return true;
}

void argtrace_spaces_append(struct argtrace_atlas *atlas, struct argtrace_mappings *to,
			    const struct argtrace_mapping *mapping)
{
	append(atlas, to, mapping, mapping->begin, mapping->end);
}

void argtrace_spaces_end(struct argtrace_atlas *atlas, struct argtrace_space *space,
			 struct argtrace_mappings *mappings)
{
	replace_mappings(atlas, space, mappings);
	WRITE_ONCE(space->whole, true);
}

void argtrace_spaces_share(struct argtrace_atlas *atlas, struct argtrace_space *to,
			   const struct argtrace_space *from)
{
	struct argtrace_mappings *mappings = mappings_of(from);

	if (mappings)
		refcount_inc(&mappings->spaces);
	replace_mappings(atlas, to, mappings);
	WRITE_ONCE(to->whole, from->whole);
}

void argtrace_spaces_free(struct argtrace_atlas *atlas)
{
	struct argtrace_space *space;
	struct hlist_node *next;
	u32 i;

	spin_lock(&atlas->lock);
	for (i = 0; i < ARRAY_SIZE(atlas->spaces); i++) {
		hlist_for_each_entry_safe(space, next, &atlas->spaces[i], link)
			argtrace_spaces_remove(atlas, space);
	}
	spin_unlock(&atlas->lock);
}
