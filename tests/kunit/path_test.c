// SPDX-License-Identifier: GPL-2.0-only
/* Paths: as d_path() says them. */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/shmem_fs.h>

#include "path_fixtures.h"
#include "ring_read.h"

/* Compares with what d_path() says, as far as it says the same. */
static void expect_d_path(struct kunit *test, const struct path *of, u16 flags)
{
	char *buffer = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL), *expected;
	struct read_path *path = make_read_path(test);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	expected = d_path(of, buffer, PATH_MAX);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, expected);
	read_path(test, path, of);
	KUNIT_EXPECT_EQ_MSG(test, path->flags, flags, "%s", expected);
	if (flags & ARGTRACE_PATH_DELETED)
		strcat(path->text, " (deleted)");
	KUNIT_EXPECT_STREQ(test, path->text, expected);
	kunit_kfree(test, path);
	kunit_kfree(test, buffer);
}

static void as_d_path_says(struct kunit *test)
{
	static const char *const names[] = { "/", "/dev", "/dev/null", "/proc", "/proc/version", "/proc/sys/kernel/ostype",
					     "/sys/kernel/debug", "/sys/kernel/debug/kunit", "/dev/shm" };
	char *buffer = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL);
	struct read_path *path = make_read_path(test);
	struct path of;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		KUNIT_ASSERT_EQ_MSG(test, kern_path(names[i], 0, &of), 0, "%s", names[i]);
		read_path(test, path, &of);
		KUNIT_EXPECT_STREQ(test, path->text, names[i]);
		KUNIT_EXPECT_EQ_MSG(test, path->flags, 0, "%s", names[i]);
		expect_d_path(test, &of, 0);
		/* From the root of the file system. */
		read_path_at(test, path, (u64)of.dentry, NULL);
		KUNIT_EXPECT_STREQ(test, path->text, dentry_path_raw(of.dentry, buffer, PATH_MAX));
		KUNIT_EXPECT_EQ(test, path->flags, 0);
		path_put(&of);
	}
}

/* Short ones, which are in the dentry, and long ones; each is followed by one that would show what is too much. */
static void names_of_every_length(struct kunit *test)
{
	char *name = kunit_kmalloc(test, NAME_MAX + 1, GFP_KERNEL);
	struct vfsmount *mnt = make_tmpfs(test);
	struct path of = { .mnt = mnt };
	u32 length;

	KUNIT_ASSERT_NOT_NULL(test, name);
	for (length = 1; length <= NAME_MAX; length++) {
		of.dentry = make_dir(test, mnt->mnt_root, name_of_length(name, length));
		expect_d_path(test, &of, ARGTRACE_PATH_DETACHED);
		of.dentry = make_dir(test, of.dentry, name_of_length(name, 256 - length));
		expect_d_path(test, &of, ARGTRACE_PATH_DETACHED);
	}
	kern_unmount(mnt);
}

static void as_deep_as_it_may_be(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct vfsmount *mnt = make_tmpfs(test);
	struct path of = { .mnt = mnt, .dentry = mnt->mnt_root };
	u32 depth;

	for (depth = 1; depth <= ARGTRACE_PATH_DEPTH + 5; depth++) {
		of.dentry = make_dir(test, of.dentry, depth % 3 ? "d" : "folder");
		read_path(test, path, &of);
		KUNIT_EXPECT_EQ(test, path->names, min(depth, ARGTRACE_PATH_DEPTH));
		KUNIT_EXPECT_EQ(test, path->flags, depth <= ARGTRACE_PATH_DEPTH ? ARGTRACE_PATH_DETACHED : ARGTRACE_PATH_CUT);
	}
	kern_unmount(mnt);
}

/* Names are whole: the one that does not fit is left out, and so are those above it. */
static void as_long_as_it_may_be(struct kunit *test)
{
	const u32 room = ARGTRACE_PATH_MAX - sizeof(u16);
	char *name = kunit_kmalloc(test, NAME_MAX + 1, GFP_KERNEL);
	struct read_path *path = make_read_path(test);
	struct vfsmount *mnt = make_tmpfs(test);
	struct path of = { .mnt = mnt };
	u32 length, i;

	KUNIT_ASSERT_NOT_NULL(test, name);
	for (length = 250; length <= NAME_MAX; length++) {
		of.dentry = make_dir(test, mnt->mnt_root, name_of_length(name, length));
		for (i = 1; i < 4; i++)
			of.dentry = make_dir(test, of.dentry, name_of_length(name, 254));
		read_path(test, path, &of);
		if (3 * 255 + length + 1 <= room) {
			KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
			KUNIT_EXPECT_EQ(test, path->names, 4);
		} else {
			KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT);
			KUNIT_EXPECT_EQ(test, path->names, 3);
		}
	}
	kern_unmount(mnt);
}

static void deleted(struct kunit *test)
{
	struct vfsmount *mnt = make_tmpfs(test);
	struct path of = { .mnt = mnt }, parent = { .mnt = mnt };
	int ret;

	parent.dentry = make_dir(test, mnt->mnt_root, "parent");
	of.dentry = make_dir(test, parent.dentry, "child");
	/* As if two had it open, so that it does not become a name of nothing. */
	dget(of.dentry);
	dget(of.dentry);
	expect_d_path(test, &of, ARGTRACE_PATH_DETACHED);
	inode_lock_nested(d_inode(parent.dentry), I_MUTEX_PARENT);
	ret = vfs_rmdir(&nop_mnt_idmap, d_inode(parent.dentry), of.dentry);
	inode_unlock(d_inode(parent.dentry));
	KUNIT_ASSERT_EQ(test, ret, 0);
	expect_d_path(test, &of, ARGTRACE_PATH_DETACHED | ARGTRACE_PATH_DELETED);
	expect_d_path(test, &parent, ARGTRACE_PATH_DETACHED);
	dput(of.dentry);
	dput(of.dentry);
	kern_unmount(mnt);
}

static void files_in_no_folder(struct kunit *test)
{
	static const struct file_operations operations = { .owner = THIS_MODULE };
	struct file *memory = shmem_file_setup("some memory", PAGE_SIZE, 0);
	struct file *anonymous = anon_inode_getfile("[kunit]", &operations, NULL, O_RDONLY);
	struct read_path *path = make_read_path(test);
	const struct {
		struct file *file;
		u32 magic;
		const char *text;
	} files[] = {
		{ memory, TMPFS_MAGIC, "/some memory" },
		{ anonymous, ANON_INODE_FS_MAGIC, "/[kunit]" },
	};
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, memory);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, anonymous);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		const u64 dentry = (u64)files[i].file->f_path.dentry;

		read_path(test, path, &files[i].file->f_path);
		KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_PSEUDO);
		KUNIT_EXPECT_EQ(test, path->pseudo.magic, files[i].magic);
		KUNIT_EXPECT_EQ(test, path->pseudo.reserved, 0);
		KUNIT_EXPECT_EQ(test, path->pseudo.inode, file_inode(files[i].file)->i_ino);
		KUNIT_EXPECT_STREQ(test, path->text, files[i].text);
		read_path_at(test, path, dentry, NULL);
		KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_PSEUDO);
		KUNIT_EXPECT_STREQ(test, path->text, files[i].text);
	}
	fput(memory);
	fput(anonymous);
}

/* Nodes as of cgroups, of which the root has no name that counts. */
static void of_nodes(struct kunit *test)
{
	const struct argtrace_node_layout node_layout = {
		.name = offsetof(struct kernfs_node, name),
		.parent = offsetof(struct kernfs_node, parent),
	};
	struct kernfs_node *nodes = kunit_kcalloc(test, ARGTRACE_PATH_DEPTH + 2, sizeof(*nodes), GFP_KERNEL);
	char *name = kunit_kmalloc(test, NAME_MAX + 2, GFP_KERNEL);
	struct read_path *path = make_read_path(test);
	u32 i;

#define READ_NODE(node) ({ \
	memset(path->data, BEYOND, sizeof(path->data)); \
	preempt_disable(); \
	path->length = argtrace_read_node_path(path->data, (u64)(node), &node_layout); \
	preempt_enable(); \
	parse_path(test, path); \
})
	KUNIT_ASSERT_TRUE(test, nodes && name);
	nodes[0].name = "";
	for (i = 1; i < ARGTRACE_PATH_DEPTH + 2; i++) {
		nodes[i].name = i % 2 ? "user.slice" : "1";
		nodes[i].parent = &nodes[i - 1];
	}
	READ_NODE(&nodes[0]);
	KUNIT_EXPECT_STREQ(test, path->text, "/");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	READ_NODE(&nodes[3]);
	KUNIT_EXPECT_STREQ(test, path->text, "/user.slice/1/user.slice");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	READ_NODE(&nodes[ARGTRACE_PATH_DEPTH]);
	KUNIT_EXPECT_EQ(test, path->names, ARGTRACE_PATH_DEPTH);
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	READ_NODE(&nodes[ARGTRACE_PATH_DEPTH + 1]);
	KUNIT_EXPECT_EQ(test, path->names, ARGTRACE_PATH_DEPTH);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT);
	/* Whole names, as many as there is room for. */
	nodes[1].name = nodes[2].name = nodes[3].name = nodes[4].name = nodes[5].name = name_of_length(name, NAME_MAX);
	READ_NODE(&nodes[3]);
	KUNIT_EXPECT_EQ(test, path->names, 3);
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	READ_NODE(&nodes[5]);
	KUNIT_EXPECT_EQ(test, path->names, 3);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT);
	/* None is longer. */
	nodes[1].name = name_of_length(name, NAME_MAX + 1);
	READ_NODE(&nodes[1]);
	KUNIT_EXPECT_EQ(test, path->names, 0);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT);
	/* In a circle, and to nowhere. */
	nodes[1].name = "round";
	nodes[1].parent = &nodes[1];
	READ_NODE(&nodes[1]);
	KUNIT_EXPECT_EQ(test, path->names, ARGTRACE_PATH_DEPTH);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT);
	nodes[1].parent = (void *)0xf000000000000000;
	READ_NODE(&nodes[1]);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	nodes[1].parent = &nodes[0];
	nodes[1].name = NULL;
	READ_NODE(&nodes[1]);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	READ_NODE(NULL);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
#undef READ_NODE
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(as_d_path_says),
	KUNIT_CASE(names_of_every_length),
	KUNIT_CASE(as_deep_as_it_may_be),
	KUNIT_CASE(as_long_as_it_may_be),
	KUNIT_CASE(deleted),
	KUNIT_CASE(files_in_no_folder),
	KUNIT_CASE(of_nodes),
	{ }
};

static struct kunit_suite path_suite = {
	.name = "argtrace_path",
	.init = stay_on_this_cpu,
	.test_cases = path_cases,
};
kunit_test_suite(path_suite);
