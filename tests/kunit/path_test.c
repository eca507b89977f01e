// SPDX-License-Identifier: GPL-2.0-only
/* Paths: as d_path() says them, while files are renamed, and from pointers that lead anywhere. */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kernfs.h>
#include <linux/kthread.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/prandom.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
/* Private to the kernel: what user space finds in BTF. */
#include <../fs/mount.h>

#include "fetch/path.h"
#include "fetch/scratch.h"
#include "fixtures.h"
#include "ring_read.h"
#include "targets.h"

static const struct argtrace_mount_layout layout = {
	.mnt = offsetof(struct mount, mnt),
	.mnt_parent = offsetof(struct mount, mnt_parent),
	.mnt_mountpoint = offsetof(struct mount, mnt_mountpoint),
	.mnt_ns = offsetof(struct mount, mnt_ns),
	.ns_root = offsetof(struct mnt_namespace, root),
};

/* What has been read: its flags, and the names turned round, each after a '/'. */
struct read_path {
	int length;			/* or -EFAULT */
	u16 flags;
	struct argtrace_pseudo pseudo;
	u32 names;			/* how many */
	char text[ARGTRACE_PATH_MAX + 1];
	u8 data[ARGTRACE_PATH_ROOM + 64];
};

#define BEYOND	0xa5

static struct read_path *make_read_path(struct kunit *test)
{
	struct read_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, path);
	return path;
}

/* Fills in what the data says; nothing has been written that the reader may not write. */
static void parse(struct kunit *test, struct read_path *path)
{
	const char *names = (const char *)path->data + sizeof(u16), *end = (const char *)path->data + path->length, *begin;
	char *to = path->text;

	KUNIT_ASSERT_NULL(test, memchr_inv(path->data + ARGTRACE_PATH_ROOM, BEYOND, 64));
	if (path->length < 0) {
		KUNIT_ASSERT_EQ(test, path->length, -EFAULT);
		return;
	}
	KUNIT_ASSERT_GE(test, path->length, (int)sizeof(u16));
	KUNIT_ASSERT_LE(test, path->length, ARGTRACE_PATH_MAX);
	memcpy(&path->flags, path->data, sizeof(u16));
	if (path->flags & ARGTRACE_PATH_PSEUDO) {
		memcpy(&path->pseudo, names, sizeof(path->pseudo));
		names += sizeof(path->pseudo);
	}
	KUNIT_ASSERT_LE(test, (u64)names, (u64)end);
	path->names = 0;
	while (end > names) {
		KUNIT_ASSERT_EQ(test, *--end, '/');
		for (begin = end; begin > names && begin[-1] != '/'; begin--)
			;
		*to++ = '/';
		memcpy(to, begin, end - begin);
		to += end - begin;
		end = begin;
		path->names++;
	}
	if (to == path->text)
		*to++ = '/';
	*to = 0;
}

static void read_at(struct kunit *test, struct read_path *path, u64 from, const struct argtrace_mount_layout *mounts)
{
	bool entered;

	memset(path->data, BEYOND, sizeof(path->data));
	preempt_disable();
	entered = argtrace_scratch_enter();
	if (entered) {
		path->length = argtrace_read_path(path->data, from, mounts);
		argtrace_scratch_leave();
	}
	preempt_enable();
	KUNIT_ASSERT_TRUE(test, entered);
	parse(test, path);
}

static void read_one(struct kunit *test, struct read_path *path, const struct path *of)
{
	read_at(test, path, (u64)of, &layout);
	KUNIT_ASSERT_GT(test, path->length, 0);
}

/* Compares with what d_path() says, as far as it says the same. */
static void expect_d_path(struct kunit *test, const struct path *of, u16 flags)
{
	char *buffer = kunit_kmalloc(test, PATH_MAX, GFP_KERNEL), *expected;
	struct read_path *path = make_read_path(test);

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	expected = d_path(of, buffer, PATH_MAX);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, expected);
	read_one(test, path, of);
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
		read_one(test, path, &of);
		KUNIT_EXPECT_STREQ(test, path->text, names[i]);
		KUNIT_EXPECT_EQ_MSG(test, path->flags, 0, "%s", names[i]);
		expect_d_path(test, &of, 0);
		/* From the root of the file system. */
		read_at(test, path, (u64)of.dentry, NULL);
		KUNIT_EXPECT_STREQ(test, path->text, dentry_path_raw(of.dentry, buffer, PATH_MAX));
		KUNIT_EXPECT_EQ(test, path->flags, 0);
		path_put(&of);
	}
}

/* A file system of the test's own, which is in no mount namespace. */
static struct vfsmount *make_tmpfs(struct kunit *test)
{
	struct file_system_type *type = get_fs_type("tmpfs");
	struct vfsmount *mnt;

	KUNIT_ASSERT_NOT_NULL(test, type);
	mnt = kern_mount(type);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	return mnt;
}

/* Tmpfs keeps its dentries: no reference to them is held. */
static struct dentry *make_dir(struct kunit *test, struct dentry *parent, const char *name)
{
	struct inode *dir = d_inode(parent);
	struct dentry *dentry;
	int ret;

	inode_lock(dir);
	dentry = lookup_one_len(name, parent, strlen(name));
	ret = IS_ERR(dentry) ? PTR_ERR(dentry) : vfs_mkdir(&nop_mnt_idmap, dir, dentry, 0700);
	inode_unlock(dir);
	KUNIT_ASSERT_EQ(test, ret, 0);
	dput(dentry);
	return dentry;
}

static const char *name_of_length(char *name, u32 length)
{
	memset(name, 'a' + length % 26, length);
	name[length] = 0;
	return name;
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
		read_one(test, path, &of);
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
		read_one(test, path, &of);
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

		read_one(test, path, &files[i].file->f_path);
		KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_PSEUDO);
		KUNIT_EXPECT_EQ(test, path->pseudo.magic, files[i].magic);
		KUNIT_EXPECT_EQ(test, path->pseudo.reserved, 0);
		KUNIT_EXPECT_EQ(test, path->pseudo.inode, file_inode(files[i].file)->i_ino);
		KUNIT_EXPECT_STREQ(test, path->text, files[i].text);
		read_at(test, path, dentry, NULL);
		KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_PSEUDO);
		KUNIT_EXPECT_STREQ(test, path->text, files[i].text);
	}
	fput(memory);
	fput(anonymous);
}

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
	read_one(test, path, &file);
	KUNIT_EXPECT_STREQ(test, path->text, "/kernel/ostype");
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	path_put(&file);

	KUNIT_ASSERT_EQ(test, kern_path("/proc/version", 0, &version), 0);
	file = (struct path){ .mnt = mnt, .dentry = version.dentry };
	read_one(test, path, &file);
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
	read_one(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b/d/b");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	of.dentry = a;
	read_one(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b/d");
	/* Where a mount covers another one, its mountpoint is that one's root. */
	low->mnt_mountpoint = c;
	read_one(test, path, &of);
	KUNIT_EXPECT_STREQ(test, path->text, "/a/b");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	/* What is_mounted() calls not mounted. */
	top->mnt_ns = NULL;
	read_one(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	top->mnt_ns = MNT_NS_INTERNAL;
	read_one(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
	/* Between two places, as while it is moved. */
	top->mnt_ns = namespace;
	namespace->root = low;
	read_one(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CHANGING);
	/* It cannot be, so that something was moved, and ends. */
	middle->mnt_parent = low;
	middle->mnt_mountpoint = a;
	read_one(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CUT | ARGTRACE_PATH_CHANGING);
	KUNIT_EXPECT_EQ(test, path->names, 0);
	/* A mount that leads nowhere. */
	middle->mnt_parent = (void *)0xffff000000000000;
	read_at(test, path, (u64)&of, &layout);
	KUNIT_EXPECT_EQ(test, path->length, -EFAULT);
	kern_unmount(one);
	kern_unmount(two);
}

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
		read_at(test, path, (u64)dentry, NULL);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
		mount->mnt.mnt_root = (void *)parents[i];
		read_at(test, path, (u64)&of, &layout);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
		mount->mnt.mnt_root = NULL;
		read_at(test, path, (u64)&of, &layout);
		KUNIT_EXPECT_EQ_MSG(test, path->length, -EFAULT, "%llx", parents[i]);
	}
}

/* As when our CPU is renaming: nobody is waited for. */
static void within_a_rename(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct path of;

	KUNIT_ASSERT_EQ(test, kern_path("/proc/version", 0, &of), 0);
	write_seqlock(&rename_lock);
	read_at(test, path, (u64)&of, &layout);
	write_sequnlock(&rename_lock);
	KUNIT_EXPECT_STREQ(test, path->text, "/proc/version");
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CHANGING);
	read_one(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	path_put(&of);
}

#define LONG_NAME	"a name that is too long for the dentry that has it, so that it is elsewhere"

static struct {
	struct dentry *moved;
	struct dentry *to[2];
	u32 renames;
} race;

/* Renames what it is given between two folders, in one of which it has a long name. */
static int rename_all_the_time(void *unused)
{
	static const struct qstr names[] = { QSTR_INIT("short", 5), QSTR_INIT(LONG_NAME, sizeof(LONG_NAME) - 1) };
	struct dentry *target;
	u32 i = 0;

	while (!kthread_should_stop()) {
		i ^= 1;
		target = d_alloc(race.to[i], &names[i]);
		if (target) {
			d_move(race.moved, target);
			dput(target);
			race.renames++;
		}
		cond_resched();
	}
	return 0;
}

/* A path that is not marked is one that there was. */
static void while_it_is_renamed(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct vfsmount *mnt = make_tmpfs(test);
	u32 i, seen[2] = { }, marked = 0;
	struct task_struct *task;
	struct path of = { .mnt = mnt };

	race.to[0] = make_dir(test, mnt->mnt_root, "one");
	race.to[1] = make_dir(test, mnt->mnt_root, "two");
	race.moved = make_dir(test, race.to[0], "short");
	race.renames = 0;
	of.dentry = make_dir(test, race.moved, "file");
	task = kthread_create(rename_all_the_time, NULL, "argtrace_rename");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* This suite stays on one CPU. */
	kthread_bind(task, cpumask_next_wrap(raw_smp_processor_id(), cpu_online_mask, raw_smp_processor_id(), false));
	wake_up_process(task);
	for (i = 0; i < 200000; i++) {
		read_one(test, path, &of);
		if (path->flags & ARGTRACE_PATH_CHANGING) {
			marked++;
			continue;
		}
		KUNIT_ASSERT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
		if (!strcmp(path->text, "/one/short/file"))
			seen[0]++;
		else if (!strcmp(path->text, "/two/" LONG_NAME "/file"))
			seen[1]++;
		else
			KUNIT_FAIL_AND_ABORT(test, "%s", path->text);
		if (i % 1000 == 0)
			cond_resched();
	}
	kthread_stop(task);
	kunit_info(test, "%u renames; %u and %u read, %u marked\n", race.renames, seen[0], seen[1], marked);
	/* Enough of each for the test to say something. */
	KUNIT_EXPECT_GT(test, race.renames, 100);
	KUNIT_EXPECT_GT(test, seen[0], 100);
	KUNIT_EXPECT_GT(test, seen[1], 100);
	KUNIT_EXPECT_GT(test, marked, 0);
	kern_unmount(mnt);
}

static struct {
	struct mount *moved;
	struct {
		struct mount *mount;
		struct dentry *mountpoint;
	} to[2];
	u32 moves;
} mount_race;

/* Moves what it is given between two mounts, as unhash_mnt() and mnt_set_mountpoint() do. */
static int move_all_the_time(void *unused)
{
	struct mount *moved = mount_race.moved;
	u32 i = 0;

	while (!kthread_should_stop()) {
		i ^= 1;
		WRITE_ONCE(moved->mnt_parent, moved);
		WRITE_ONCE(moved->mnt_mountpoint, moved->mnt.mnt_root);
		/* The CPU may be interrupted here, or not be run. */
		if (i)
			udelay(10);
		WRITE_ONCE(moved->mnt_mountpoint, mount_race.to[i].mountpoint);
		WRITE_ONCE(moved->mnt_parent, mount_race.to[i].mount);
		mount_race.moves++;
		/* The kernel cannot move it again within what a reader takes to look at it twice. */
		udelay(10);
		cond_resched();
	}
	return 0;
}

/* The same of a mount: one is the root, two is mounted at its /place, and three is moved from /here to /place/there. */
static void while_it_is_moved(struct kunit *test)
{
	struct vfsmount *files[] = { make_tmpfs(test), make_tmpfs(test), make_tmpfs(test) };
	struct read_path *path = make_read_path(test);
	u32 i, seen[2] = { }, marked = 0;
	struct mnt_namespace *namespace;
	struct mount *one, *two, *three;
	struct task_struct *task;
	unsigned long end;
	struct path of;

	one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	two = kunit_kzalloc(test, sizeof(*two), GFP_KERNEL);
	three = kunit_kzalloc(test, sizeof(*three), GFP_KERNEL);
	namespace = kunit_kzalloc(test, sizeof(*namespace), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, one && two && three && namespace);
	namespace->root = one;
	one->mnt_ns = two->mnt_ns = three->mnt_ns = namespace;
	one->mnt.mnt_root = files[0]->mnt_root;
	two->mnt.mnt_root = files[1]->mnt_root;
	three->mnt.mnt_root = files[2]->mnt_root;
	one->mnt_parent = one;
	two->mnt_parent = one;
	one->mnt_mountpoint = one->mnt.mnt_root;
	two->mnt_mountpoint = make_dir(test, one->mnt.mnt_root, "place");
	mount_race.to[0].mount = one;
	mount_race.to[0].mountpoint = make_dir(test, one->mnt.mnt_root, "here");
	mount_race.to[1].mount = two;
	mount_race.to[1].mountpoint = make_dir(test, two->mnt.mnt_root, "there");
	mount_race.moved = three;
	mount_race.moves = 0;
	three->mnt_parent = one;
	three->mnt_mountpoint = mount_race.to[0].mountpoint;
	of = (struct path){ .mnt = &three->mnt, .dentry = make_dir(test, three->mnt.mnt_root, "file") };
	task = kthread_create(move_all_the_time, NULL, "argtrace_move");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, cpumask_next_wrap(raw_smp_processor_id(), cpu_online_mask, raw_smp_processor_id(), false));
	wake_up_process(task);
	/* Until there was enough of each for the test to say something. */
	end = jiffies + 60 * HZ;
	for (i = 0; (mount_race.moves < 200 || seen[0] < 200 || seen[1] < 200 || !marked) && time_before(jiffies, end); i++) {
		if (i % 1000 == 0)
			cond_resched();
		read_one(test, path, &of);
		if (path->flags & ARGTRACE_PATH_CHANGING)
			marked++;
		else if (!path->flags && !strcmp(path->text, "/here/file"))
			seen[0]++;
		else if (!path->flags && !strcmp(path->text, "/place/there/file"))
			seen[1]++;
		else
			KUNIT_FAIL_AND_ABORT(test, "%s, %x", path->text, path->flags);
	}
	kthread_stop(task);
	kunit_info(test, "%u moves; %u and %u read, %u marked\n", mount_race.moves, seen[0], seen[1], marked);
	KUNIT_EXPECT_GE(test, mount_race.moves, 200);
	KUNIT_EXPECT_GE(test, seen[0], 200);
	KUNIT_EXPECT_GE(test, seen[1], 200);
	KUNIT_EXPECT_GT(test, marked, 0);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		kern_unmount(files[i]);
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

			read_at(test, path, random_pointer(&random, (u8 *)pages, &real), in_mounts ? &layout : NULL);
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
	parse(test, path); \
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
	nodes[1].parent = (void *)0xffff000000000000;
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

/* A program with two paths, one of them through mounts, around a number. */
static struct made_probe *probe_with_paths(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 0, .mask = ~0ull, .offset = { offsetof(struct file, f_path) },
		  .action = ARGTRACE_DO_PATH, .base = 8 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ~0ull, .action = ARGTRACE_DO_OUT, .arg = 1 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 0, .loads = 1, .width = 8, .mask = ~0ull,
		  .offset = { offsetof(struct file, f_path.dentry) }, .action = ARGTRACE_DO_PATH, .arg = 1 },
	};
	static const struct { u8 type; u16 size; } outputs[] = {
		{ ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX }, { ARGTRACE_TYPE_U8, 1 }, { ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_program *head = (void *)probe->program;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(outputs); i++)
		probe->args[probe->head.nr_args++] = (struct argtrace_arg){
			.loc = ARGTRACE_LOC_PROGRAM, .type = outputs[i].type, .size = outputs[i].size,
			.name = made_probe_string(probe, "out"), .type_name = made_probe_string(probe, "?"),
		};
	*head = (struct argtrace_program){ .nr_insns = ARRAY_SIZE(insns), .data = 8 + sizeof(layout) };
	memcpy(head + 1, insns, sizeof(insns));
	memcpy((u8 *)(head + 1) + sizeof(insns) + 8, &layout, sizeof(layout));
	probe->head.program = sizeof(*head) + sizeof(insns) + head->data;
	made_probe_seal(probe);
	return probe;
}

static struct argtrace_insn *insns_of(struct made_probe *probe)
{
	return (void *)((struct argtrace_program *)probe->program + 1);
}

static struct argtrace_mount_layout *layout_of(struct made_probe *probe)
{
	return (void *)&insns_of(probe)[3] + 8;
}

static void in_a_record(struct kunit *test)
{
	static const u8 expected[] = "\x0e\0" "\0\0" "version/proc/" "!" "\x0a\0" "\0\0" "version/";
	struct argtrace_session *session = make_session(test, "", 0);
	struct file *file = filp_open("/proc/version", O_RDONLY, 0);
	struct seen seen;
	u32 length;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe_with_paths(test)), 0);
	target_three((u64)file, '!', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	/* Behind the caller's address and the word that says what could not be read. */
	length = 2 + 2 + 13 + 1 + 2 + 2 + 8;
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + length, 8));
	KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), 0);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16), 2 + 13);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 18, expected + 2, 2 + 13 + 1);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16 + 18), 2 + 8);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16 + 20, expected + 20, 2 + 8);
	/* A pointer to nowhere, in the quick way and in the other. */
	target_three(0x40, '?', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.data[8], 5);
	KUNIT_EXPECT_EQ(test, seen.data[18], '?');
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + 2 + 1 + 2, 8));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	fput(file);
}

/* A constant address: in a record it is no other than what the program says. */
static void of_an_address_that_is_written(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct file *file = filp_open("/proc/version", O_RDONLY, 0);
	struct made_probe *probe = probe_with_paths(test);
	struct seen seen;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	insns_of(probe)[0].source = ARGTRACE_SOURCE_CONST;
	insns_of(probe)[0].span = (u64)file;
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	target_three((u64)file, '!', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), 0);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16), 2 + 13);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 20, "version/proc/", 13);
	fput(file);
}

struct bad_path {
	const char *name;
	void (*spoil)(struct made_probe *probe, struct argtrace_insn *insns, struct argtrace_mount_layout *layout);
};

#define BAD(id, text, what) \
	static void bad_##id(struct made_probe *probe, struct argtrace_insn *insns, struct argtrace_mount_layout *layout) \
	{ what; }
#define BAD_PATHS(B) \
	B(odd, "a layout at no multiple of 8", insns[0].base = 4) \
	B(beyond, "a layout beyond the data", insns[0].base = 16) \
	B(far, "a layout far beyond the data", insns[0].base = 1ull << 32 | 8) \
	B(little, "data that is shorter than a layout", (((struct argtrace_program *)probe->program)->data = 8, \
							 probe->head.program -= sizeof(*layout), insns[0].base = 0, made_probe_seal(probe))) \
	B(mnt, "an offset of no pointer", layout->mnt = 33) \
	B(mnt_parent, "an offset of 4", layout->mnt_parent = 4) \
	B(mountpoint, "a large offset", layout->mnt_mountpoint = ARGTRACE_MOUNT_MAX) \
	B(mnt_ns, "a negative offset", layout->mnt_ns = (u32)-8) \
	B(ns_root, "an offset of 12", layout->ns_root = 12) \
	B(large_root, "a large offset in the namespace", layout->ns_root = ARGTRACE_MOUNT_MAX) \
	B(reserved, "something reserved", layout->reserved = 1) \
	B(kind, "of nothing that has a path", insns[0].arg = 3) \
	B(name, "a large offset in a node", (insns[0].arg = ARGTRACE_PATH_OF_NODE, layout->mnt = ARGTRACE_MOUNT_MAX)) \
	B(parent, "an odd offset in a node", (insns[0].arg = ARGTRACE_PATH_OF_NODE, layout->mnt_parent = 20)) \
	B(node, "a node's layout beyond the data", (insns[0].arg = ARGTRACE_PATH_OF_NODE, insns[0].base = 32)) \
	B(needless, "a layout for a dentry", insns[2].base = 8) \
	B(size, "an argument of another size", probe->args[0].size = 64) \
	B(type, "an argument that is text", probe->args[0].type = ARGTRACE_TYPE_STR) \
	B(output, "an output that is text", (insns[0].action = ARGTRACE_DO_STR, insns[0].arg = 64)) \
	B(then, "a jump", insns[0].then = 1)
BAD_PATHS(BAD)

#define BAD_ROW(id, text, what) { text, bad_##id },
static const struct bad_path bad_paths[] = { BAD_PATHS(BAD_ROW) };

static void describe_bad(const struct bad_path *bad, char *text)
{
	strscpy(text, bad->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(bad, bad_paths, describe_bad);

static void refused(struct kunit *test)
{
	const struct bad_path *bad = test->param_value;
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = probe_with_paths(test);
	struct argtrace_plan *plan = make_plan(test, probe);
	u64 length;

	argtrace_plan_free(plan);
	bad->spoil(probe, insns_of(probe), layout_of(probe));
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_PTR_EQ_MSG(test, plan, ERR_PTR(-EINVAL), "%s", bad->name);
	argtrace_plan_free(plan);
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(as_d_path_says),
	KUNIT_CASE(names_of_every_length),
	KUNIT_CASE(as_deep_as_it_may_be),
	KUNIT_CASE(as_long_as_it_may_be),
	KUNIT_CASE(deleted),
	KUNIT_CASE(files_in_no_folder),
	KUNIT_CASE(part_of_a_file_system),
	KUNIT_CASE(through_mounts),
	KUNIT_CASE(without_a_parent),
	KUNIT_CASE(within_a_rename),
	KUNIT_CASE_SLOW(while_it_is_renamed),
	KUNIT_CASE_SLOW(while_it_is_moved),
	KUNIT_CASE_SLOW(pointers_to_anywhere),
	KUNIT_CASE(of_nodes),
	KUNIT_CASE(in_a_record),
	KUNIT_CASE(of_an_address_that_is_written),
	KUNIT_CASE_PARAM(refused, bad_gen_params),
	{ }
};

static struct kunit_suite path_suite = {
	.name = "argtrace_path",
	.init = stay_on_this_cpu,
	.test_cases = path_cases,
};
kunit_test_suite(path_suite);
