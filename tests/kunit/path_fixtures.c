// SPDX-License-Identifier: GPL-2.0-only
#include "path_fixtures.h"

#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/string.h>
/* Private to the kernel: what user space finds in BTF. */
#include <../fs/mount.h>

#include "read/scratch.h"

const struct argtrace_mount_layout mount_layout = {
	.mnt = offsetof(struct mount, mnt),
	.mnt_parent = offsetof(struct mount, mnt_parent),
	.mnt_mountpoint = offsetof(struct mount, mnt_mountpoint),
	.mnt_ns = offsetof(struct mount, mnt_ns),
	.ns_root = offsetof(struct mnt_namespace, root),
};

struct read_path *make_read_path(struct kunit *test)
{
	struct read_path *path = kunit_kzalloc(test, sizeof(*path), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, path);
	return path;
}

void parse_path(struct kunit *test, struct read_path *path)
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

void read_path_at(struct kunit *test, struct read_path *path, u64 from, const struct argtrace_mount_layout *mounts)
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
	parse_path(test, path);
}

void read_path(struct kunit *test, struct read_path *path, const struct path *of)
{
	read_path_at(test, path, (u64)of, &mount_layout);
	KUNIT_ASSERT_GT(test, path->length, 0);
}

struct vfsmount *make_tmpfs(struct kunit *test)
{
	struct file_system_type *type = get_fs_type("tmpfs");
	struct vfsmount *mnt;

	KUNIT_ASSERT_NOT_NULL(test, type);
	mnt = kern_mount(type);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mnt);
	return mnt;
}

struct dentry *make_dir(struct kunit *test, struct dentry *parent, const char *name)
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

const char *name_of_length(char *name, u32 length)
{
	memset(name, 'a' + length % 26, length);
	name[length] = 0;
	return name;
}
