/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk from a file to its root, to be inlined into a call's quick path. read/path.h is what others use.
 *
 * Preemption is off, which is a read side of RCU: dentries, long names and mounts are freed after a grace period, so that
 * what is read of a file that is in use is there. Nothing relies on it: every load may fail, lengths and steps are bounded.
 *
 * The members are those of the headers that this module is built with. Only struct mount is private to the kernel.
 */
#ifndef ARGTRACE_PATH_WALK_H
#define ARGTRACE_PATH_WALK_H

#include <linux/bitops.h>
#include <linux/dcache.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/seqlock.h>
#include <linux/stddef.h>

#include "base/compat.h"
#include "read/load.h"
#include "read/path.h"

/*
 * The member of what is at an address, which has been found to be the kernel's: an access to user memory is not a fault but an
 * oops, where the processor has SMAP. *error is not 0 if the load failed, and the value is any then. Nobody asks for the error
 * before the end, as each address is looked at before it is used, whatever it comes from.
 */
#define ARGTRACE_PATH_MEMBER(type, member, from, error)	argtrace_path_load((from) + offsetof(type, member), error)

static __always_inline u64 argtrace_path_load(u64 from, long *error)
{
	u64 value;

	argtrace_load_checked(ARGTRACE_LOAD_8, value, from, *error);
	return value;
}

/* The length follows the hash, which the kernel compares with it as one number. */
static __always_inline u64 argtrace_path_name_length(u64 dentry, long *error)
{
	u64 length;

	argtrace_load_checked(ARGTRACE_LOAD_4, length, dentry + offsetof(struct dentry, d_name.len), *error);
	return length;
}

/*
 * A name and a '/'. Returns their end, or something beyond `end` if they have no place, or it is no name. It is copied in words, as
 * it is allocated; what is too much is overwritten by the next one.
 */
static __always_inline u8 *argtrace_path_add_name(u8 *to, const u8 *end, u64 dentry, long *error)
{
	const u64 length = argtrace_path_name_length(dentry, error);
	const u64 name = ARGTRACE_PATH_MEMBER(struct dentry, d_name.name, dentry, error);
	u8 *next = to + length + 1;
	u64 at = 0;

	if (unlikely(length > NAME_MAX) || unlikely(!argtrace_is_kernel_address(name))) {
		*error = -EFAULT;
		return (u8 *)end + 1;
	}
	if (unlikely(next > end))
		return next;
	do {
		*(u64 *)(to + at) = argtrace_path_load(name + at, error);
		at += sizeof(u64);
	} while (at < length);
	next[-1] = '/';
	return next;
}

/* Clears what follows the last name where it is stored. */
static __always_inline void argtrace_path_clear_end(u8 *end)
{
	*(u64 *)end = 0;
}

/* A walk from a file to its root, which writes names behind the flags at `to`. */
struct argtrace_path_walk {
	u8 *to, *at;
	u64 dentry;
	u64 mount, root;			/* its root; without mounts 0, which is no address of the kernel's */
	s32 left;				/* steps */
	long error;
};

enum argtrace_path_walked {
	ARGTRACE_PATH_WALKED_TO_ROOT,		/* of the mount */
	ARGTRACE_PATH_WALKED_TO_END,			/* to a dentry that is its own parent, and no root of the mount */
	ARGTRACE_PATH_WALKED_FAR,			/* as far as there is room */
	ARGTRACE_PATH_WALKED_ASTRAY,
};

/*
 * Begins it at a struct path, or without a layout at a dentry. False if it cannot be read.
 * The address of a mount is looked at once, for all its members: ARGTRACE_MOUNT_MAX beyond a kernel address is no user memory.
 */
static __always_inline bool argtrace_path_begin(struct argtrace_path_walk *walk, u8 *to, u64 from,
						const struct argtrace_mount_layout *layout)
{
	*walk = (struct argtrace_path_walk){ .to = to, .at = to + sizeof(u16), .dentry = from, .left = ARGTRACE_PATH_DEPTH };
	if (layout) {
		if (unlikely(!argtrace_is_kernel_address(from)))
			return false;
		walk->mount = ARGTRACE_PATH_MEMBER(struct path, mnt, from, &walk->error) - layout->mnt;
		walk->dentry = ARGTRACE_PATH_MEMBER(struct path, dentry, from, &walk->error);
		if (unlikely(!argtrace_is_kernel_address(walk->mount)))
			return false;
		walk->root = ARGTRACE_PATH_MEMBER(struct vfsmount, mnt_root, walk->mount + layout->mnt, &walk->error);
	}
	if (unlikely(!argtrace_is_kernel_address(walk->dentry)))
		return false;
	*(u16 *)to = 0;
	/* As d_unlinked() in linux/dcache.h: no root is hashed. */
	if (unlikely(!ARGTRACE_PATH_MEMBER(struct dentry, d_hash.pprev, walk->dentry, &walk->error)) &&
	    ARGTRACE_PATH_MEMBER(struct dentry, d_parent, walk->dentry, &walk->error) != walk->dentry)
		*(u16 *)to = ARGTRACE_PATH_DELETED;
	return true;
}

/* Adds names up to the root of the mount. */
static __always_inline enum argtrace_path_walked argtrace_path_add_names(struct argtrace_path_walk *walk)
{
	u64 parent;
	u8 *next;

	while (walk->dentry != walk->root) {
		parent = ARGTRACE_PATH_MEMBER(struct dentry, d_parent, walk->dentry, &walk->error);
		if (unlikely(parent == walk->dentry))
			return ARGTRACE_PATH_WALKED_TO_END;
		if (unlikely(--walk->left < 0))
			return ARGTRACE_PATH_WALKED_FAR;
		next = argtrace_path_add_name(walk->at, walk->to + ARGTRACE_PATH_MAX, walk->dentry, &walk->error);
		if (unlikely(next > walk->to + ARGTRACE_PATH_MAX))
			return ARGTRACE_PATH_WALKED_FAR;
		walk->at = next;
		walk->dentry = parent;
		if (unlikely(!argtrace_is_kernel_address(parent)))
			return ARGTRACE_PATH_WALKED_ASTRAY;
	}
	return ARGTRACE_PATH_WALKED_TO_ROOT;
}

/* A digest of what the crossed mounts are mounted on, in their order. 0 is that of none. */
static __always_inline u64 argtrace_path_add_mount(u64 digest, u64 up, u64 mountpoint)
{
	return (rol64(digest, 7) ^ up) + mountpoint;
}

/* Crosses from the root of the mount to what it is mounted on, in the mount `up`. False if that cannot be. */
static __always_inline bool argtrace_path_cross(struct argtrace_path_walk *walk, u64 up, const struct argtrace_mount_layout *layout,
						u64 *digest)
{
	if (unlikely(!argtrace_is_kernel_address(up)))
		return false;
	walk->dentry = argtrace_path_load(walk->mount + layout->mnt_mountpoint, &walk->error);
	*digest = argtrace_path_add_mount(*digest, up, walk->dentry);
	walk->mount = up;
	walk->root = ARGTRACE_PATH_MEMBER(struct vfsmount, mnt_root, up + layout->mnt, &walk->error);
	return likely(argtrace_is_kernel_address(walk->dentry));
}

/*
 * Whether any of the mounts from `mount` up to `last`, which is not among them, is mounted
 * elsewhere by now. To be called after smp_rmb(), which pairs with the barriers of
 * write_seqlock(&mount_lock), under which fs/namespace.c moves mounts: if the walk has seen one
 * move, this sees those before it.
 */
bool argtrace_path_has_moved(u64 mount, u64 last, u64 digest, const struct argtrace_mount_layout *layout);

/* The same, without a call if there is one mount, and it stays. */
static __always_inline bool argtrace_path_may_have_moved(u64 mount, u64 last, u64 digest, const struct argtrace_mount_layout *layout)
{
	long error = 0;
	const u64 up = argtrace_path_load(mount + layout->mnt_parent, &error);
	const u64 mountpoint = argtrace_path_load(mount + layout->mnt_mountpoint, &error);

	return (up != last || argtrace_path_add_mount(0, up, mountpoint) != digest) &&
	       argtrace_path_has_moved(mount, last, digest, layout);
}

/*
 * Continues to the root of the namespace, across mounts, and to other ends. False if the path cannot be read. *changing: a mount was
 * moved meanwhile. Without a layout there are no mounts.
 */
bool argtrace_path_finish(struct argtrace_path_walk *walk, const struct argtrace_mount_layout *layout, bool *changing);

/*
 * The sequence of rename_lock, which is odd while something is renamed. A walk reads it before and
 * after, with the barriers of read_seqbegin() and read_seqretry(): they pair with those of
 * write_sequnlock() and write_seqlock() where fs/dcache.c renames. Nobody is waited for.
 */
static __always_inline u32 argtrace_path_renames(void)
{
	return READ_ONCE(rename_lock.seqcount.seqcount.sequence);
}

/*
 * As argtrace_read_path(), while nothing is renamed or moved. Returns the end of the path, or NULL if that is needed; what has been
 * written then remains. What is inlined is the way to the root of a namespace.
 */
static __always_inline u8 *argtrace_read_path_quickly(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = argtrace_path_renames();
	struct argtrace_path_walk walk;
	u64 first, digest = 0, up, namespace;
	enum argtrace_path_walked walked;

	/* As read_seqbegin(): see argtrace_path_renames(). */
	smp_rmb();
	if (unlikely(before & 1) || unlikely(!argtrace_path_begin(&walk, to, from, layout)))
		return NULL;
	first = walk.mount;
	while (likely((walked = argtrace_path_add_names(&walk)) == ARGTRACE_PATH_WALKED_TO_ROOT)) {
		up = argtrace_path_load(walk.mount + layout->mnt_parent, &walk.error);
		if (likely(up == walk.mount)) {
			namespace = argtrace_path_load(walk.mount + layout->mnt_ns, &walk.error);
			if (unlikely(!argtrace_is_kernel_address(namespace)) ||
			    unlikely(argtrace_path_load(namespace + layout->ns_root, &walk.error) != walk.mount) ||
			    unlikely(walk.error))
				return NULL;
			/* See argtrace_path_has_moved(). */
			smp_rmb();
			if (digest && unlikely(argtrace_path_may_have_moved(first, walk.mount, digest, layout)))
				return NULL;
			goto end;
		}
		if (unlikely(--walk.left < 0) || unlikely(!argtrace_path_cross(&walk, up, layout, &digest)))
			return NULL;
	}
	if (likely(walked == ARGTRACE_PATH_WALKED_TO_END) && likely(!digest)) {
		/* A copy, as what has an address is not in registers. */
		struct argtrace_path_walk rest argtrace_uninitialized;
		bool changing = false;

		rest = walk;
		if (unlikely(!argtrace_path_finish(&rest, layout, &changing)) || unlikely(changing))
			return NULL;
		walk.at = rest.at;
	} else {
		return NULL;
	}
end:
	/* As read_seqretry(). */
	smp_rmb();
	if (unlikely(argtrace_path_renames() != before))
		return NULL;
	argtrace_path_clear_end(walk.at);
	/* Otherwise the compiler would test it again. */
	if (!walk.at)
		__builtin_unreachable();
	return walk.at;
}

#endif
