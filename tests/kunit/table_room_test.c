// SPDX-License-Identifier: GPL-2.0-only
/* Tables of unwinding that make room for others or are refused, and files that are not what they were. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "atlas_fixtures.h"
#include "base/memory.h"
#include "mapping/atlas.h"

enum { OBJECTS = 4, FIRST = ARGTRACE_OBJECT_FIRST, BYTES = 1024 };

/* Which nobody walks by. */
static struct argtrace_unwind_table *make_table(struct kunit *test, u64 bytes)
{
	struct argtrace_unwind_table *table = kzalloc(sizeof(*table), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, table);
	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(bytes), 0);
	table->charged = bytes;
	return table;
}

static void give_tables(struct kunit *test, struct argtrace_atlas *atlas)
{
	u32 i;

	for (i = 0; i < OBJECTS; i++)
		KUNIT_ASSERT_EQ(test, argtrace_atlas_set_table(atlas, FIRST + i, make_table(test, BYTES)), 0);
}

static u32 flags_of(struct argtrace_atlas *atlas, u32 number)
{
	struct argtrace_object object;
	u32 next = number;

	argtrace_atlas_describe(atlas, &object, 1, &next);
	return object.flags;
}

static bool has_table(struct argtrace_atlas *atlas, u32 i)
{
	return flags_of(atlas, FIRST + i) & ARGTRACE_OBJECT_HAS_TABLE;
}

static bool is_wanted(struct argtrace_atlas *atlas, u32 i)
{
	return flags_of(atlas, FIRST + i) & ARGTRACE_OBJECT_WANTED;
}

static void use(struct argtrace_atlas *atlas, u32 i)
{
	argtrace_objects_map(atlas, atlas->objects[FIRST + i]);
	argtrace_objects_unmap(atlas, atlas->objects[FIRST + i]);
}

static void those_unmapped_for_longest_make_room(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	const u64 used = argtrace_memory_used();

	give_tables(test, atlas);
	use(atlas, 0);
	argtrace_objects_map(atlas, atlas->objects[FIRST + 1]);
	/* In this order: 2 and 3 have not been mapped at all. */
	KUNIT_EXPECT_TRUE(test, argtrace_atlas_make_room(atlas, 1));
	KUNIT_EXPECT_FALSE(test, has_table(atlas, 2));
	KUNIT_EXPECT_TRUE(test, has_table(atlas, 3));
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), used + (OBJECTS - 1) * BYTES);
	/* Two of them, and no third one. */
	KUNIT_EXPECT_TRUE(test, argtrace_atlas_make_room(atlas, 3 * BYTES));
	KUNIT_EXPECT_FALSE(test, has_table(atlas, 3));
	KUNIT_EXPECT_FALSE(test, has_table(atlas, 0));
	KUNIT_EXPECT_TRUE(test, has_table(atlas, 1));
	KUNIT_EXPECT_FALSE(test, argtrace_atlas_make_room(atlas, 1));
	argtrace_objects_unmap(atlas, atlas->objects[FIRST + 1]);
	KUNIT_EXPECT_TRUE(test, argtrace_atlas_make_room(atlas, 1));
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), used);
	drop_atlas(atlas);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void what_is_mapped_again_wants_its_table(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct argtrace_unwind_table *empty = make_table(test, 0);

	/* New ones are listed as such. */
	argtrace_objects_map(atlas, atlas->objects[FIRST]);
	KUNIT_EXPECT_FALSE(test, is_wanted(atlas, 0));
	argtrace_objects_unmap(atlas, atlas->objects[FIRST]);
	argtrace_objects_map(atlas, atlas->objects[FIRST]);
	KUNIT_EXPECT_TRUE(test, is_wanted(atlas, 0));
	KUNIT_EXPECT_EQ(test, atlas->nr_wanted, 1);
	give_tables(test, atlas);
	KUNIT_EXPECT_FALSE(test, is_wanted(atlas, 0));
	KUNIT_EXPECT_EQ(test, atlas->nr_wanted, 0);
	argtrace_objects_unmap(atlas, atlas->objects[FIRST]);
	use(atlas, 0);
	KUNIT_EXPECT_EQ(test, atlas->nr_wanted, 0);
	argtrace_atlas_make_room(atlas, OBJECTS * BYTES);
	KUNIT_EXPECT_EQ(test, atlas->nr_wanted, 0);
	use(atlas, 0);
	use(atlas, 0);
	KUNIT_EXPECT_TRUE(test, is_wanted(atlas, 0));
	KUNIT_EXPECT_EQ(test, atlas->nr_wanted, 1);
	/* The news that there is none is not taken back. */
	KUNIT_EXPECT_EQ(test, argtrace_atlas_set_table(atlas, FIRST, empty), 0);
	use(atlas, 0);
	KUNIT_EXPECT_FALSE(test, argtrace_atlas_make_room(atlas, 1));
	KUNIT_EXPECT_TRUE(test, has_table(atlas, 0));
	drop_atlas(atlas);
}

static void refused_tables_are_counted_once(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct argtrace_atlas_object *object = atlas->objects[FIRST];

	argtrace_objects_map(atlas, object);
	argtrace_atlas_refuse(atlas, FIRST);
	argtrace_atlas_refuse(atlas, FIRST);
	KUNIT_EXPECT_TRUE(test, object->refused);
	KUNIT_EXPECT_EQ(test, atlas->refused, 1);
	KUNIT_EXPECT_FALSE(test, is_wanted(atlas, 0));
	argtrace_objects_unmap(atlas, object);
	argtrace_objects_map(atlas, object);
	KUNIT_EXPECT_FALSE(test, object->refused);
	KUNIT_EXPECT_TRUE(test, is_wanted(atlas, 0));
	argtrace_atlas_refuse(atlas, FIRST);
	KUNIT_EXPECT_EQ(test, atlas->refused, 1);
	argtrace_atlas_refuse(atlas, FIRST + 1);
	KUNIT_EXPECT_EQ(test, atlas->refused, 2);
	/* One that has a table after all keeps it. */
	KUNIT_EXPECT_EQ(test, argtrace_atlas_set_table(atlas, FIRST + 2, make_table(test, BYTES)), 0);
	argtrace_atlas_refuse(atlas, FIRST + 2);
	KUNIT_EXPECT_EQ(test, atlas->refused, 2);
	drop_atlas(atlas);
}

/* What a walk does, at length. */
struct reading {
	struct argtrace_atlas_object *object;
	bool had_table, has_begun, has_ended;
};

static int read_table(void *data)
{
	struct reading *reading = data;

	preempt_disable();
	reading->had_table = smp_load_acquire(&reading->object->table);
	smp_store_release(&reading->has_begun, true);
	mdelay(50);
	smp_store_release(&reading->has_ended, true);
	preempt_enable();
	return 0;
}

static void tables_are_there_for_as_long_as_they_are_read(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, OBJECTS);
	struct reading reading = { .object = atlas->objects[FIRST] };
	struct task_struct *reader;

	if (num_online_cpus() < 2)
		kunit_skip(test, "it takes two CPUs");
	give_tables(test, atlas);
	reader = kthread_run(read_table, &reading, "argtrace_reader");
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	while (!smp_load_acquire(&reading.has_begun))
		cpu_relax();
	KUNIT_EXPECT_TRUE(test, argtrace_atlas_make_room(atlas, 1));
	KUNIT_EXPECT_TRUE(test, smp_load_acquire(&reading.has_ended));
	KUNIT_EXPECT_TRUE(test, reading.had_table);
	/* It has not slept since, and may still be in read_table(). */
	synchronize_rcu();
	msleep(20);
	drop_atlas(atlas);
}

static void files_that_are_written_to_are_others(struct kunit *test)
{
	struct argtrace_atlas *atlas = make_atlas(test, 0);
	struct file *file = shmem_file_setup("argtrace", PAGE_SIZE, 0);
	struct vm_area_struct vma = { .vm_file = file };
	struct argtrace_atlas_object *first, *second;
	struct inode *inode;
	s64 modified;
	u64 bytes;

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	inode = file_inode(file);
	first = argtrace_objects_get(atlas, &vma);
	KUNIT_ASSERT_NOT_NULL(test, first);
	inode_set_mtime(inode, 4711, 1);
	/* A file without a name, into which code is written while it is mapped. */
	KUNIT_EXPECT_PTR_EQ(test, argtrace_objects_get(atlas, &vma), first);
	set_nlink(inode, 1);
	second = argtrace_objects_get(atlas, &vma);
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_EXPECT_PTR_NE(test, second, first);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_objects_get(atlas, &vma), second);
	/* A reader who opens the first one would have what is in the file now. */
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_atlas_file(atlas, first->number, &modified, &bytes)), -ESTALE);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_atlas_file(atlas, second->number, &modified, &bytes), file);
	KUNIT_EXPECT_EQ(test, modified, 4711 * NSEC_PER_SEC + 1);
	KUNIT_EXPECT_EQ(test, bytes, i_size_read(inode));
	fput(file);
	inode_set_mtime(inode, 4711, 2);
	KUNIT_EXPECT_PTR_NE(test, argtrace_objects_get(atlas, &vma), second);
	i_size_write(inode, 2 * PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, argtrace_objects_get(atlas, &vma)->number, second->number + 2);
	clear_nlink(inode);
	drop_atlas(atlas);
	fput(file);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(those_unmapped_for_longest_make_room),
	KUNIT_CASE(what_is_mapped_again_wants_its_table),
	KUNIT_CASE(refused_tables_are_counted_once),
	KUNIT_CASE(tables_are_there_for_as_long_as_they_are_read),
	KUNIT_CASE(files_that_are_written_to_are_others),
	{ }
};

static struct kunit_suite suite = { .name = "argtrace_table_room", .test_cases = cases };

kunit_test_suite(suite);
