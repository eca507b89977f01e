// SPDX-License-Identifier: GPL-2.0-only
/* Paths through mounts. */
#include <kunit/test.h>
#include <linux/dcache.h>
#include <linux/mount.h>
#include <linux/namei.h>
/* Private to the kernel: what user space finds in BTF. */
#include <../fs/mount.h>

#include "path_fixtures.h"
#include "ring_read.h"

/* A part of a file system, mounted: a path ends where it begins, and what is above is none. */
static void part_of_a_file_system(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct path sys, file, version;
	struct vfsmount *mnt;

	KUNIT_ASSERT_EQ(test, kern_path("/proc/sys", 0, &sys), 0);
	mnt = clone_private_mount(&sys);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	KUNIT_ASSERT_EQ(test, vfs_path_lookup(mnt->mnt_root, mnt, "kernel/ostype", 0, &file), 0);
	read_path(test, path, &file);
	KUNIT_EXPECT_STREQ(test, path->text, "/kernel/ostype");
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	path_put(&file);

	KUNIT_ASSERT_EQ(test, kern_path("/proc/version", 0, &version), 0);
	file = (struct path){ .mnt = mnt, .dentry = version.dentry };
	read_path(test, path, &file);
	KUNIT_EXPECT_STREQ(test, path->text, "/version");
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	path_put(&version);
	path_put(&sys);
	kern_unmount(mnt);
}

/* Mounts of a folder in other ones, on top of each other, and in a circle: made up, as a path only reads them. */
static void through_mounts(struct kunit *test)
{
	struct mount *top = kunit_kzalloc(test, sizeof(*top), GFP_KERNEL), *middle, *low;
	struct read_path *path = make_read_path(test);
	struct vfsmount *one = make_tmpfs(test), *two = make_tmpfs(test);
	struct mnt_namespace *namespace;
	struct dentry *a, *b, *c, *d;
	struct path of;

	middle = kunit_kzalloc(test, sizeof(*middle), GFP_KERNEL);
	low = kunit_kzalloc(test, sizeof(*low), GFP_KERNEL);
	namespace = kunit_kzalloc(test, sizeof(*namespace), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, top && middle && low && namespace);
	namespace->root = top;
	a = make_dir(test, one->mnt_root, "a");
	b = make_dir(test, a, "b");
	c = make_dir(test, two->mnt_root, "c");
	d = make_dir(test, c, "d");
	/* one is mounted at the root; two's c is mounted at /a/b; one's a is mounted at /a/b/d, as d of c. */
	top->mnt.mnt_root = one->mnt_root;
	top->mnt_parent = top;
	top->mnt_mountpoint = one->mnt_root;
	top->mnt_ns = namespace;
	middle->mnt.mnt_root = c;
	middle->mnt_parent = top;
	middle->mnt_mountpoint = b;
	low->mnt.mnt_root = a;
	low->mnt_parent = middle;
	low->mnt_mountpoint = d;
	of = (struct path){ .mnt = &low->mnt, .dentry = b };
	read_path(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b/d/b");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	of.dentry = a;
	read_path(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b/d");
	/* Where a mount covers another one, its mountpoint is that one's root. */
	low->mnt_mountpoint = c;
	read_path(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	/* What is_mounted() calls not mounted. */
	top->mnt_ns = NULL;
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	top->mnt_ns = MNT_NS_INTERNAL;
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	/* Between two places, as while it is moved. */
	top->mnt_ns = namespace;
	namespace->root = low;
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CHANGING);
	/* It cannot be, so that something was moved, and ends. */
	middle->mnt_parent = low;
	middle->mnt_mountpoint = a;
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT | ARGTRACE_PATH_CHANGING);
	KUNIT_EXPECT_EQ(test, path->names, 0);
	/* A mount that leads nowhere. */
	middle->mnt_parent = (void *)0xf000000000000000;
	read_path_at(test, path, (u64)&of, &mount_layout);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	kern_unmount(one);
	kern_unmount(two);
}

static struct kunit_case path_mount_cases[] = {
	KUNIT_CASE(part_of_a_file_system),
	KUNIT_CASE(through_mounts),
	{ }
};

static struct kunit_suite path_mount_suite = {
	.name = "argtrace_path_mount",
	.init = stay_on_this_cpu,
	.test_cases = path_mount_cases,
};
kunit_test_suite(path_mount_suite);
