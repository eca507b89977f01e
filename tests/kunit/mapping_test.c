// SPDX-License-Identifier: GPL-2.0-only
/* What a process has mapped, against a model with an entry for each page. */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>

#include "atlas_fixtures.h"
#include "base/memory.h"
#include "mapping/atlas.h"

enum { PAGES = 48, OBJECTS = 3, BASE = 0x400000 };

static struct mm_struct *const first_mm = (void *)0x1000, *const second_mm = (void *)0x2000;

static u64 word_of(u32 object, u64 offset)
{
	return ARGTRACE_FRAME_USER | (u64)(ARGTRACE_OBJECT_FIRST + object) << ARGTRACE_FRAME_OBJECT_SHIFT | offset;
}

static u64 addr_of(u32 page)
{
	return BASE + (u64)page * PAGE_SIZE;
}

/* Compares each page of the model with what is found at its first and its last byte. */
static void expect_pages(struct kunit *test, struct argtrace_atlas *atlas, const struct mm_struct *mm, const u64 *model)
{
	const struct argtrace_mappings *mappings = rcu_dereference_raw(argtrace_atlas_space(atlas, mm)->mappings);
	const struct argtrace_mapping *found;
	u32 page;
	u64 addr;

	for (page = 0; page < PAGES; page++) {
		for (addr = addr_of(page); addr < addr_of(page + 1); addr += PAGE_SIZE - 1) {
			found = mappings ? argtrace_mappings_find(mappings, addr) : NULL;
			if ((found ? found->word + (addr - found->begin) : 0) !=
			    (model[page] ? model[page] + (addr - addr_of(page)) : 0))
				KUNIT_FAIL(test, "page %u", page);
		}
	}
	for (page = 1; mappings && page < mappings->count; page++)
		KUNIT_EXPECT_GE(test, mappings->at[page].begin, mappings->at[page - 1].end);
}

static u32 entries_of(const struct argtrace_space *space, u32 object)
{
	const struct argtrace_mappings *mappings = rcu_dereference_raw(space->mappings);
	u32 i, count = 0;

	for (i = 0; mappings && i < mappings->count; i++)
		count += mappings->at[i].object->number == ARGTRACE_OBJECT_FIRST + object;
	return count;
}

static void change(struct kunit *test, struct argtrace_atlas *atlas, struct argtrace_space *space, u64 *model, u32 begin, u32 end,
		   s32 object)
{
	struct argtrace_mapping added;
	u32 page;

	if (object >= 0)
		added = (struct argtrace_mapping){ addr_of(begin), addr_of(end), word_of(object, begin * 16 * PAGE_SIZE),
						   atlas->objects[ARGTRACE_OBJECT_FIRST + object] };
	KUNIT_EXPECT_TRUE(test, argtrace_spaces_change(atlas, space, addr_of(begin), addr_of(end), object >= 0 ? &added : NULL));
	for (page = begin; page < end; page++)
		model[page] = object >= 0 ? added.word + (page - begin) * PAGE_SIZE : 0;
}

static void changes_are_as_in_a_model(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct argtrace_space *space;
	u64 model[PAGES] = { };
	struct rnd_state random;
	u32 round, begin, object;

	space = argtrace_spaces_add(atlas, first_mm, true);
	KUNIT_ASSERT_NOT_NULL(test, space);
	prandom_seed_state(&random, 4711);
	for (round = 0; round < 3000; round++) {
		const u32 number = prandom_u32_state(&random);

		begin = number % PAGES;
		change(test, atlas, space, model, begin, begin + 1 + (number >> 8) % min(PAGES - begin, 9u),
		       (s32)((number >> 16) % (OBJECTS + 2)) - 2);
		expect_pages(test, atlas, first_mm, model);
	}
	for (object = 0; object < OBJECTS; object++)
		KUNIT_EXPECT_EQ(test, atlas->objects[ARGTRACE_OBJECT_FIRST + object]->mapped, entries_of(space, object));
	drop_atlas(atlas);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void copies_share_until_they_change(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct argtrace_space *parent = argtrace_spaces_add(atlas, first_mm, true);
	struct argtrace_space *child = argtrace_spaces_add(atlas, second_mm, false);
	u64 parents[PAGES] = { }, childs[PAGES];

	KUNIT_ASSERT_NOT_NULL(test, parent);
	KUNIT_ASSERT_NOT_NULL(test, child);
	change(test, atlas, parent, parents, 3, 9, 0);
	change(test, atlas, parent, parents, 20, 22, 1);
	argtrace_spaces_share(atlas, child, parent);
	KUNIT_EXPECT_TRUE(test, child->whole);
	KUNIT_EXPECT_PTR_EQ(test, rcu_dereference_raw(child->mappings), rcu_dereference_raw(parent->mappings));
	memcpy(childs, parents, sizeof(childs));
	change(test, atlas, child, childs, 5, 6, -1);
	expect_pages(test, atlas, first_mm, parents);
	expect_pages(test, atlas, second_mm, childs);
	argtrace_spaces_remove(atlas, parent);
	KUNIT_EXPECT_NULL(test, argtrace_atlas_space(atlas, first_mm));
	expect_pages(test, atlas, second_mm, childs);
	KUNIT_EXPECT_EQ(test, atlas->objects[ARGTRACE_OBJECT_FIRST]->mapped, 2);
	KUNIT_EXPECT_EQ(test, atlas->objects[ARGTRACE_OBJECT_FIRST + 1]->mapped, 1);
	drop_atlas(atlas);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void without_memory_nothing_is_claimed(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct argtrace_space *space = argtrace_spaces_add(atlas, first_mm, true);
	const u64 used = argtrace_memory_used();
	struct argtrace_mapping added = { addr_of(30), addr_of(31), word_of(0, 0), atlas->objects[ARGTRACE_OBJECT_FIRST] };
	u64 model[PAGES] = { };

	KUNIT_ASSERT_NOT_NULL(test, space);
	change(test, atlas, space, model, 3, 9, 0);
	argtrace_memory_charge_anyway(argtrace_memory_limit());
	KUNIT_EXPECT_FALSE(test, argtrace_spaces_change(atlas, space, added.begin, added.end, &added));
	KUNIT_EXPECT_NULL(test, argtrace_spaces_begin(1));
	KUNIT_EXPECT_NULL(test, argtrace_spaces_add(atlas, second_mm, true));
	argtrace_memory_uncharge(argtrace_memory_limit());
	KUNIT_EXPECT_NULL(test, rcu_dereference_raw(space->mappings));
	KUNIT_EXPECT_FALSE(test, space->whole);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), used);
	KUNIT_EXPECT_EQ(test, atlas->objects[ARGTRACE_OBJECT_FIRST]->mapped, 0);
	drop_atlas(atlas);
}

/* Whoever is not mapped and not opened waits, and only so many do. */
static void files_are_held_for_those_who_open(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, ARGTRACE_OBJECTS_HELD + 2);
	u32 i;
	s64 modified;
	u64 bytes;

	for (i = 0; i < ARGTRACE_OBJECTS_HELD + 2; i++) {
		struct argtrace_atlas_object *object = atlas->objects[ARGTRACE_OBJECT_FIRST + i];

		object->opened = false;
		argtrace_objects_map(atlas, object);
		argtrace_objects_unmap(atlas, object);
	}
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, ARGTRACE_OBJECTS_HELD);
	KUNIT_EXPECT_TRUE(test, list_empty(&atlas->objects[ARGTRACE_OBJECT_FIRST + 1]->waiting));
	KUNIT_EXPECT_FALSE(test, list_empty(&atlas->objects[ARGTRACE_OBJECT_FIRST + 2]->waiting));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_atlas_file(atlas, ARGTRACE_OBJECT_FIRST, &modified, &bytes)), -ESTALE);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_atlas_file(atlas, ARGTRACE_OBJECT_VDSO, &modified, &bytes)), -ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_atlas_file(atlas, ARGTRACE_OBJECTS_MAX, &modified, &bytes)), -ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_atlas_file(atlas, U32_MAX, &modified, &bytes)), -ENOENT);
	argtrace_objects_map(atlas, atlas->objects[ARGTRACE_OBJECT_FIRST + 2]);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, ARGTRACE_OBJECTS_HELD - 1);
	argtrace_atlas_opened(atlas, ARGTRACE_OBJECT_FIRST + 3);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, ARGTRACE_OBJECTS_HELD - 2);
	drop_atlas(atlas);
}

/* The file system of a file that is held cannot be unmounted. */
static void files_are_held_for_a_time(struct kunit *test)
{
	const u64 long_ago = msecs_to_jiffies(ARGTRACE_OBJECT_HELD_MS);
	struct argtrace_atlas *atlas = make_atlas(test, 3);
	u32 i;

	for (i = 0; i < 3; i++) {
		struct argtrace_atlas_object *object = atlas->objects[ARGTRACE_OBJECT_FIRST + i];

		object->opened = false;
		argtrace_objects_map(atlas, object);
		argtrace_objects_unmap(atlas, object);
		if (i < 2)
			object->waits_since -= long_ago;
	}
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 1);
	KUNIT_EXPECT_FALSE(test, list_empty(&atlas->objects[ARGTRACE_OBJECT_FIRST + 2]->waiting));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&atlas->release));
	atlas->objects[ARGTRACE_OBJECT_FIRST + 2]->waits_since -= long_ago;
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 0);
	cancel_delayed_work_sync(&atlas->release);
	argtrace_objects_release_later(atlas);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&atlas->release));
	drop_atlas(atlas);
}

/* A reader may be slow, and is still there when it has been waited for in vain. */
static void files_are_held_for_who_reads(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, 1);
	struct argtrace_atlas_object *object = atlas->objects[ARGTRACE_OBJECT_FIRST];
	u8 reader, other;

	object->opened = false;
	argtrace_objects_map(atlas, object);
	argtrace_objects_unmap(atlas, object);
	object->waits_since -= msecs_to_jiffies(10 * ARGTRACE_OBJECT_HELD_MS);
	argtrace_atlas_provide(atlas, &reader);
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 1);
	argtrace_atlas_desert(atlas, &reader);
	argtrace_atlas_leave(atlas, &other);
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 1);
	argtrace_atlas_provide(atlas, &other);
	argtrace_atlas_leave(atlas, &reader);
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 1);
	argtrace_atlas_leave(atlas, &other);
	KUNIT_EXPECT_NULL(test, atlas->provider);
	argtrace_objects_release(&atlas->release.work);
	KUNIT_EXPECT_EQ(test, atlas->nr_waiting, 0);
	cancel_delayed_work_sync(&atlas->release);
	drop_atlas(atlas);
}

static void objects_are_described_in_parts(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, 5);
	struct argtrace_object two[2];
	u32 next = 1;

	KUNIT_EXPECT_EQ(test, argtrace_atlas_describe(atlas, two, 2, &next), 2);
	KUNIT_EXPECT_EQ(test, two[0].object, ARGTRACE_OBJECT_VDSO);
	KUNIT_EXPECT_EQ(test, two[1].object, ARGTRACE_OBJECT_FIRST);
	KUNIT_EXPECT_EQ(test, next, ARGTRACE_OBJECT_FIRST + 1);
	KUNIT_EXPECT_EQ(test, argtrace_atlas_describe(atlas, two, 2, &next), 2);
	KUNIT_EXPECT_EQ(test, argtrace_atlas_describe(atlas, two, 2, &next), 2);
	KUNIT_EXPECT_EQ(test, two[1].object, ARGTRACE_OBJECT_FIRST + 4);
	KUNIT_EXPECT_EQ(test, next, 0);
	drop_atlas(atlas);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(changes_are_as_in_a_model),
	KUNIT_CASE(copies_share_until_they_change),
	KUNIT_CASE(without_memory_nothing_is_claimed),
	KUNIT_CASE(files_are_held_for_those_who_open),
	KUNIT_CASE(files_are_held_for_a_time),
	KUNIT_CASE(files_are_held_for_who_reads),
	KUNIT_CASE(objects_are_described_in_parts),
	{ }
};

static struct kunit_suite suite = { .name = "argtrace_mapping", .test_cases = cases };

kunit_test_suite(suite);
