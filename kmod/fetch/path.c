// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preemption is off, which is a read side of RCU: dentries, long names and mounts are freed after a grace period, so that
 * what is read of a file that is in use is there. Nothing relies on it: every load may fail, lengths and steps are bounded.
 *
 * The members are those of the headers that this module is built with. Only struct mount is private to the kernel.
 */
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
 * Where the mounts end: as is_mounted() in fs/mount.h. A mount that is being moved is its own parent between two places, and no root
 * of its namespace: the CPU that moves it may stay there for as long as it is not run.
 */
static __always_inline u16 end_of_mounts(u64 mount, const struct argtrace_mount_layout *layout, long *error)
{
	const u64 namespace = load_any(mount + layout->mnt_ns, error);

	if (IS_ERR_OR_NULL((void *)namespace))
		return ARGTRACE_PATH_DETACHED;
	return likely(load_any(namespace + layout->ns_root, error) == mount) ? 0 : ARGTRACE_PATH_CHANGING;
}

/* The mounts that a path leads through: how many, and a digest of where each was. */
struct crossed_mounts {
	u64 digest;
	u32 count;
};

static __always_inline void note_mount(struct crossed_mounts *crossed, u64 up, u64 mountpoint)
{
	/* The multiplier is GOLDEN_RATIO_64: the order matters. */
	crossed->digest = (crossed->digest ^ up) * 0x61c8864680b583ebull + mountpoint;
	crossed->count++;
}

/* Whether they are elsewhere by now. `mount`: the first of them. Mounts have no sequence that modules can read. */
static __always_inline bool have_moved(const struct crossed_mounts *crossed, u64 mount, const struct argtrace_mount_layout *layout)
{
	struct crossed_mounts now = { };
	long error = 0;

	while (now.count < crossed->count) {
		const u64 up = load_any(mount + layout->mnt_parent, &error);

		note_mount(&now, up, load_any(mount + layout->mnt_mountpoint, &error));
		mount = up;
	}
	return now.digest != crossed->digest;
}

/* Names from `to` on, from a file to the root. `from`: a struct path, or without a layout the dentry. */
static __always_inline int walk(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	u8 *at = to + sizeof(u16), *next;
	u32 left = ARGTRACE_PATH_DEPTH;
	u64 dentry = from, first = 0, mnt = 0, root = 0, file, parent;
	struct crossed_mounts crossed = { };
	long error = 0;
	int length;
	u16 flags = 0;

	if (layout) {
		if (unlikely(!argtrace_is_kernel_address(from)))
			return -EFAULT;
		mnt = LOAD_MEMBER(struct path, mnt, from, &error);
		dentry = LOAD_MEMBER(struct path, dentry, from, &error);
		if (unlikely(!argtrace_is_kernel_address(mnt)))
			return -EFAULT;
		root = LOAD_MEMBER(struct vfsmount, mnt_root, mnt, &error);
		first = mnt - layout->mnt;
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
			const u64 mount = mnt - layout->mnt, up = load_any(mount + layout->mnt_parent, &error);

			if (up == mount) {
				flags |= end_of_mounts(mount, layout, &error);
				goto done;
			}
			if (unlikely(!left--))
				break;
			dentry = load_any(mount + layout->mnt_mountpoint, &error);
			note_mount(&crossed, up, dentry);
			mnt = up + layout->mnt;
			root = load_any(mnt + offsetof(struct vfsmount, mnt_root), &error);
			continue;
		}
		parent = LOAD_MEMBER(struct dentry, d_parent, dentry, &error);
		if (unlikely(parent == dentry)) {
			length = error ? -EFAULT : end_at(to, at, dentry, dentry == file, layout, flags);
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
	length = unlikely(error) ? -EFAULT : at - to;
check:
	smp_rmb();
	if (likely(!crossed.count) || likely(!have_moved(&crossed, first, layout)) || length < 0)
		return length;
	*(u16 *)to |= ARGTRACE_PATH_CHANGING;
	return length;
}

static __always_inline bool is_changing(const u8 *path, int length)
{
	return length > 0 && *(const u16 *)path & ARGTRACE_PATH_CHANGING;
}

static __always_inline u32 renames(void)
{
	return READ_ONCE(rename_lock.seqcount.seqcount.sequence);
}

/* Once more, and this time it stays as it is. Nobody is waited for, as it may be our CPU that is renaming. */
static noinline int read_again(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = renames();
	int length;

	smp_rmb();
	length = walk(to, from, layout);
	smp_rmb();
	if (length > 0 && (renames() != before || before & 1))
		*(u16 *)to |= ARGTRACE_PATH_CHANGING;
	return length;
}

int argtrace_read_path(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = renames();
	int length;

	smp_rmb();
	length = walk(to, from, layout);
	smp_rmb();
	return likely(renames() == before) && likely(!(before & 1)) && likely(!is_changing(to, length)) ?
		       length : read_again(to, from, layout);
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
