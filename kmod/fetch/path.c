// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preemption is off, which is a read side of RCU: dentries, long names and mounts are freed after a grace period, so that
 * what is read of a file that is in use is there. Nothing relies on it: every load may fail, lengths and steps are bounded.
 *
 * The members are those of the headers that this module is built with. Only struct mount is private to the kernel.
 */
#include <linux/bitops.h>
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/seqlock.h>
#include <linux/stddef.h>

#include "fetch/load.h"
#include "fetch/path.h"
#include "fetch/text.h"

/*
 * The member of what is at an address, which has been found to be the kernel's: an access to user memory is not a fault but an
 * oops, where the processor has SMAP. *error is not 0 if the load failed, and the value is any then. Nobody asks for the error
 * before the end, as each address is looked at before it is used, whatever it comes from.
 */
#define LOAD_MEMBER(type, member, from, error)	load((from) + offsetof(type, member), error)

static __always_inline u64 load(u64 from, long *error)
{
	u64 value;

	argtrace_load_checked(ARGTRACE_LOAD_8, value, from, *error);
	return value;
}

/* The same of any address. */
static __always_inline u64 load_any(u64 from, long *error)
{
	if (argtrace_is_kernel_address(from))
		return load(from, error);
	*error = -EFAULT;
	return 0;
}

/* The length follows the hash, which the kernel compares with it as one number. */
static __always_inline u64 length_of(u64 hash_len)
{
	return hash_len >> 32;
}

/*
 * A name and a '/'. Returns their end, or something beyond `end` if they have no place, or it is no name. It is copied in words, as
 * it is allocated; what is too much is overwritten by the next one.
 */
static __always_inline u8 *add_name(u8 *to, const u8 *end, u64 dentry, long *error)
{
	const u64 length = length_of(LOAD_MEMBER(struct dentry, d_name.hash_len, dentry, error));
	const u64 name = LOAD_MEMBER(struct dentry, d_name.name, dentry, error);
	u8 *next = to + length + 1;
	u64 at = 0;

	if (unlikely(length > NAME_MAX) || unlikely(!argtrace_is_kernel_address(name))) {
		*error = -EFAULT;
		return (u8 *)end + 1;
	}
	if (unlikely(next > end))
		return next;
	do {
		*(u64 *)(to + at) = load(name + at, error);
		at += sizeof(u64);
	} while (at < length);
	next[-1] = '/';
	return next;
}

/* The end of a walk that has come to a dentry which is its own parent, and where no mount begins. */
static noinline int end_at(u8 *to, u8 *at, u64 dentry, bool is_file, bool in_mount, u16 flags)
{
	long error = 0;
	const u64 super = LOAD_MEMBER(struct dentry, d_sb, dentry, &error);
	struct argtrace_pseudo pseudo = { };
	u8 *end = at;

	if (load_any(super + offsetof(struct super_block, s_root), &error) == dentry) {
		/* Where the file system begins: in a mount of a part of it, above what is mounted. */
		flags |= in_mount ? ARGTRACE_PATH_DETACHED : 0;
	} else if (!is_file) {
		flags |= ARGTRACE_PATH_DETACHED;
	} else {
		const u64 inode = LOAD_MEMBER(struct dentry, d_inode, dentry, &error);

		flags |= ARGTRACE_PATH_PSEUDO;
		pseudo.magic = load_any(super + offsetof(struct super_block, s_magic), &error);
		pseudo.inode = load_any(inode + offsetof(struct inode, i_ino), &error);
		__builtin_memcpy(at, &pseudo, sizeof(pseudo));
		end = add_name(at + sizeof(pseudo), to + ARGTRACE_PATH_MAX, dentry, &error);
	}
	*(u16 *)to = flags;
	return error ? -EFAULT : end - to;
}

/*
 * Where the mounts end, as is_mounted() in fs/mount.h. A mount that is being moved is its own parent for a moment, without being
 * the root of its namespace; the moment lasts if the CPU that moves it is not run.
 */
static __always_inline u16 end_of_mounts(u64 mount, const struct argtrace_mount_layout *layout, long *error)
{
	const u64 namespace = load(mount + layout->mnt_ns, error);

	if (unlikely(!argtrace_is_kernel_address(namespace))) {
		*error = IS_ERR_OR_NULL((void *)namespace) ? *error : -EFAULT;
		return ARGTRACE_PATH_DETACHED;
	}
	return likely(load(namespace + layout->ns_root, error) == mount) ? 0 : ARGTRACE_PATH_CHANGING;
}

/* A digest of what the crossed mounts are mounted on, in their order. */
static __always_inline u64 add_mount(u64 digest, u64 up, u64 mountpoint)
{
	return (rol64(digest, 7) ^ up) + mountpoint;
}

/*
 * Whether any of the mounts from `mount` up to `last`, which is not among them, is mounted elsewhere by now. mount_lock, which has a
 * sequence, is not exported.
 */
static __always_inline bool have_moved(u64 mount, u64 last, u64 digest, const struct argtrace_mount_layout *layout)
{
	u32 left = ARGTRACE_PATH_DEPTH;
	u64 now = 0, up;
	long error = 0;

	for (; mount != last; mount = up) {
		if (unlikely(!left--) || unlikely(!argtrace_is_kernel_address(mount)))
			return true;
		up = load(mount + layout->mnt_parent, &error);
		now = add_mount(now, up, load(mount + layout->mnt_mountpoint, &error));
	}
	return now != digest;
}

/*
 * Names from `to` on, from a file to the root. `from`: a struct path, or without a layout the dentry. *changing if a mount was moved.
 * The address of a mount is looked at once, for all its members: ARGTRACE_MOUNT_MAX beyond a kernel address is no user memory.
 */
static __always_inline int walk(u8 *to, u64 from, const struct argtrace_mount_layout *layout, bool *changing)
{
	u8 *at = to + sizeof(u16), *next;
	u32 left = ARGTRACE_PATH_DEPTH;
	u64 dentry = from, first = 0, mount = 0, root = 0, digest = 0, file, parent, up;
	long error = 0;
	int length;
	u16 flags = 0;

	if (layout) {
		if (unlikely(!argtrace_is_kernel_address(from)))
			return -EFAULT;
		mount = first = LOAD_MEMBER(struct path, mnt, from, &error) - layout->mnt;
		dentry = LOAD_MEMBER(struct path, dentry, from, &error);
		if (unlikely(!argtrace_is_kernel_address(mount)))
			return -EFAULT;
		root = LOAD_MEMBER(struct vfsmount, mnt_root, mount + layout->mnt, &error);
	}
	file = dentry;
	if (unlikely(!argtrace_is_kernel_address(dentry)))
		return -EFAULT;
	/* As d_unlinked() in linux/dcache.h: no root is hashed. */
	if (unlikely(!LOAD_MEMBER(struct dentry, d_hash.pprev, dentry, &error)) &&
	    LOAD_MEMBER(struct dentry, d_parent, dentry, &error) != dentry)
		flags = ARGTRACE_PATH_DELETED;
	for (;;) {
		if (unlikely(!argtrace_is_kernel_address(dentry)))
			return -EFAULT;
		/* Never without mounts: 0 is no address of the kernel's. */
		if (dentry == root) {
			up = load(mount + layout->mnt_parent, &error);
			if (up == mount) {
				flags |= end_of_mounts(mount, layout, &error);
				goto done;
			}
			if (unlikely(!left--))
				break;
			if (unlikely(!argtrace_is_kernel_address(up)))
				return -EFAULT;
			dentry = load(mount + layout->mnt_mountpoint, &error);
			digest = add_mount(digest, up, dentry);
			mount = up;
			root = LOAD_MEMBER(struct vfsmount, mnt_root, mount + layout->mnt, &error);
			continue;
		}
		parent = LOAD_MEMBER(struct dentry, d_parent, dentry, &error);
		if (unlikely(parent == dentry)) {
			length = error ? -EFAULT : end_at(to, at, dentry, dentry == file, layout, flags);
			if (unlikely(length < 0))
				return length;
			goto check;
		}
		if (unlikely(!left--))
			break;
		next = add_name(at, to + ARGTRACE_PATH_MAX, dentry, &error);
		if (unlikely(next > to + ARGTRACE_PATH_MAX))
			break;
		at = next;
		dentry = parent;
	}
	flags |= ARGTRACE_PATH_CUT;
done:
	*(u16 *)to = flags;
	if (unlikely(error))
		return -EFAULT;
	length = at - to;
check:
	smp_rmb();
	if (unlikely(have_moved(first, mount, digest, layout)) || unlikely(flags & ARGTRACE_PATH_CHANGING)) {
		*(u16 *)to |= ARGTRACE_PATH_CHANGING;
		*changing = true;
	}
	return length;
}

static __always_inline u32 renames(void)
{
	return READ_ONCE(rename_lock.seqcount.seqcount.sequence);
}

/* Once more, and this time it stays as it is. Nobody is waited for, as it may be our CPU that is renaming. */
static noinline int read_again(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = renames();
	bool changing = false;
	int length;

	smp_rmb();
	length = walk(to, from, layout, &changing);
	smp_rmb();
	if (length > 0 && (renames() != before || before & 1))
		*(u16 *)to |= ARGTRACE_PATH_CHANGING;
	return length;
}

int argtrace_read_path(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = renames();
	bool changing = false;
	int length;

	smp_rmb();
	length = walk(to, from, layout, &changing);
	smp_rmb();
	return likely(renames() == before) && likely(!(before & 1)) && likely(!changing) ? length : read_again(to, from, layout);
}

/*
 * Nothing is locked: the cgroup of a task stays as long as the task is in it, with those above it, and has one name for life. What is
 * read of other nodes may be of a moment when they were renamed.
 */
int argtrace_read_node_path(u8 *to, u64 from, const struct argtrace_node_layout *layout)
{
	u8 *at = to + sizeof(u16), *const end = to + ARGTRACE_PATH_MAX;
	u32 left = ARGTRACE_PATH_DEPTH;
	u64 node = from, name, parent;
	u16 flags = 0;
	long error = 0;
	bool cut;
	int length;

	for (;; node = parent) {
		parent = load_any(node + layout->parent, &error);
		name = load_any(node + layout->name, &error);
		if (unlikely(error))
			return -EFAULT;
		/* The root has no name that counts. */
		if (!parent)
			break;
		if (unlikely(!argtrace_is_kernel_address(name)))
			return -EFAULT;
		if (unlikely(!left--) || unlikely(at >= end)) {
			flags = ARGTRACE_PATH_CUT;
			break;
		}
		length = argtrace_read_text(at, name, min_t(u32, NAME_MAX, end - at - 1), &cut);
		if (unlikely(length < 0))
			return -EFAULT;
		if (unlikely(cut)) {
			flags = ARGTRACE_PATH_CUT;
			break;
		}
		at += length;
		*at++ = '/';
	}
	*(u16 *)to = flags;
	return at - to;
}
