// SPDX-License-Identifier: GPL-2.0-only
/* Paths from pointers that lead anywhere. */
#include <kunit/test.h>
#include <linux/dcache.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>
/* Private to the kernel: what user space finds in BTF. */
#include <../fs/mount.h>

#include "path_fixtures.h"
#include "ring_read.h"

/* A dentry that has no parent, or something else that is none: nothing is taken for where the walk ends. */
static void without_a_parent(struct kunit *test)
{
	static const u64 parents[] = { 0, 1, 8, PAGE_SIZE, 0x7ffffffff000, (u64)-EFAULT, (u64)-1, 1ull << 63 };
	struct dentry *dentry = kunit_kzalloc(test, sizeof(*dentry), GFP_KERNEL);
	struct mount *mount = kunit_kzalloc(test, sizeof(*mount), GFP_KERNEL);
	struct read_path *path = make_read_path(test);
	struct path of = { .mnt = &mount->mnt, .dentry = dentry };
	u32 i;

	KUNIT_ASSERT_TRUE(test, dentry && mount);
	*(struct qstr *)&dentry->d_name = (struct qstr)QSTR_INIT("orphan", 6);
	for (i = 0; i < ARRAY_SIZE(parents); i++) {
		dentry->d_parent = (void *)parents[i];
		read_path_at(test, path, (u64)dentry, NULL);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
		mount->mnt.mnt_root = (void *)parents[i];
		read_path_at(test, path, (u64)&of, &mount_layout);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
		mount->mnt.mnt_root = NULL;
		read_path_at(test, path, (u64)&of, &mount_layout);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
	}
}

/* The struct path of a file that is being opened is empty, which is no fault. Half of one is. */
static void without_a_dentry(struct kunit *test)
{
	struct mount *mount = kunit_kzalloc(test, sizeof(*mount), GFP_KERNEL);
	struct read_path *path = make_read_path(test);
	struct path of = {};

	KUNIT_ASSERT_TRUE(test, mount);
	read_path_at(test, path, (u64)&of, &mount_layout);
	KUNIT_EXPECT_EQ(test, path->length, sizeof(u16));
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_NONE);
	of.mnt = &mount->mnt;
	read_path_at(test, path, (u64)&of, &mount_layout);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_NONE);
	of.dentry = (void *)8;
	read_path_at(test, path, (u64)&of, &mount_layout);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	/* Where there is no struct path, there is nothing that could be empty. */
	read_path_at(test, path, 0, &mount_layout);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	read_path_at(test, path, 0, NULL);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
}

/* A pointer to something that is or is not what it should be, or to nothing. */
static u64 random_pointer(struct rnd_state *random, const u8 *pages, const struct path *real)
{
	const u32 bits = prandom_u32_state(random);

	switch (bits & 63) {
	case 0:
		return (u64)prandom_u32_state(random) << 32 | prandom_u32_state(random);
	case 1:
		return bits >> 6;
	case 2:
		return -(u64)(bits >> 6 & 0xfff);
	case 3:
		return (u64)pages + 2 * PAGE_SIZE - (bits >> 6 & 31);
	case 4:
		return (u64)real->dentry;
	case 5:
		return (u64)real->mnt;
	case 6:
		return (u64)pages + (bits >> 6 & (2 * PAGE_SIZE - 1) & ~7);
	default:
		/* As far apart as what random_word() takes for dentries. */
		return (u64)pages + (bits >> 6 & (2 * PAGE_SIZE - 1) & ~63);
	}
}

/* Pointers, and where the length of a name is in every 64 bytes something that is one. */
static u64 random_word(struct rnd_state *random, const u8 *pages, const struct path *real, u32 at)
{
	const u32 bits = prandom_u32_state(random);

	if (at % 64 != offsetof(struct dentry, d_name.hash_len) % 64 || !(bits & 15))
		return random_pointer(random, pages, real);
	return (u64)(bits >> 4 & (bits & 16 ? 0xff : 0x1ff)) << 32;
}

/* The kernel reports what goes wrong. */
static void pointers_to_anywhere(struct kunit *test)
{
	u32 round, i, failed = 0, cut = 0, read = 0, names = 0;
	struct read_path *path = make_read_path(test);
	u64 *pages = vmalloc(2 * PAGE_SIZE);
	struct rnd_state random;
	struct path real;

	KUNIT_ASSERT_NOT_NULL(test, pages);
	KUNIT_ASSERT_EQ(test, kern_path("/proc/sys/kernel/ostype", 0, &real), 0);
	prandom_seed_state(&random, 20261123);
	for (round = 0; round < 300; round++) {
		for (i = 0; i < 2 * PAGE_SIZE / sizeof(u64); i++)
			pages[i] = random_word(&random, (u8 *)pages, &real, i * sizeof(u64));
		for (i = 0; i < 200; i++) {
			const bool in_mounts = prandom_u32_state(&random) & 1;

			read_path_at(test, path, random_pointer(&random, (u8 *)pages, &real), in_mounts ? &mount_layout : NULL);
			failed += path->length < 0;
			if (path->length < 0)
				continue;
			read++;
			cut += !!(path->flags & ARGTRACE_PATH_CUT);
			names += path->names;
		}
	}
	kunit_info(test, "%u failed, %u read, %u of them cut, %u names\n", failed, read, cut, names);
	/* Enough of each for the test to say something. */
	KUNIT_EXPECT_GT(test, failed, 1000);
	KUNIT_EXPECT_GT(test, read, 1000);
	KUNIT_EXPECT_GT(test, cut, 10);
	KUNIT_EXPECT_GT(test, names, 1000);
	path_put(&real);
	vfree(pages);
}

static struct kunit_case path_pointer_cases[] = {
	KUNIT_CASE(without_a_parent),
	KUNIT_CASE(without_a_dentry),
	KUNIT_CASE_SLOW(pointers_to_anywhere),
	{ }
};

static struct kunit_suite path_pointer_suite = {
	.name = "argtrace_path_pointer",
	.init = stay_on_this_cpu,
	.test_cases = path_pointer_cases,
};
kunit_test_suite(path_pointer_suite);
