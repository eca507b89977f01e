// SPDX-License-Identifier: GPL-2.0-only
/* What of the walk is rare or long, and the paths of other things than files. */
#include <linux/magic.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "read/path_walk.h"
#include "read/socket.h"
#include "read/text.h"

/* The member at any address. */
static __always_inline u64 load_any(u64 from, long *error)
{
	if (argtrace_is_kernel_address(from))
		return argtrace_path_load(from, error);
	*error = -EFAULT;
	return 0;
}

/*
 * The end at a dentry which is its own parent, and where no mount begins. Returns the end of what
 * it has added, or NULL.
 */
static noinline u8 *end_at(u8 *to, u8 *at, u64 dentry, bool is_file, bool in_mount)
{
	long error = 0;
	const u64 super = ARGTRACE_PATH_MEMBER(struct dentry, d_sb, dentry, &error);
	struct argtrace_pseudo pseudo = { };

	if (load_any(super + offsetof(struct super_block, s_root), &error) == dentry) {
		/*
		 * Where the file system begins: in a mount of a part of it, above what is mounted.
		 */
		*(u16 *)to |= in_mount ? ARGTRACE_PATH_DETACHED : 0;
	} else if (!is_file) {
		*(u16 *)to |= ARGTRACE_PATH_DETACHED;
	} else {
		const u64 inode = ARGTRACE_PATH_MEMBER(struct dentry, d_inode, dentry, &error);

		*(u16 *)to |= ARGTRACE_PATH_PSEUDO;
		pseudo.magic = load_any(super + offsetof(struct super_block, s_magic), &error);
		pseudo.inode = load_any(inode + offsetof(struct inode, i_ino), &error);
		__builtin_memcpy(at, &pseudo, sizeof(pseudo));
		at += sizeof(pseudo);
		if (pseudo.magic == SOCKFS_MAGIC && !error) {
			const u32 length = argtrace_read_socket(at, inode);

			*(u16 *)to |= length ? ARGTRACE_PATH_SOCKET : 0;
			at += length;
		}
		at = argtrace_path_add_name(at, to + ARGTRACE_PATH_MAX, dentry, &error);
	}
	return error ? NULL : at;
}

/*
 * The end at the root of a mount that is its own parent, as is_mounted() in fs/mount.h. One that is
 * being moved is so for a moment, without being the root of its namespace; the moment lasts if the
 * CPU that moves it is not run.
 */
static __always_inline bool end_of_mounts(struct argtrace_path_walk *walk,
					  const struct argtrace_mount_layout *layout,
					  bool *changing)
{
	const u64 namespace = argtrace_path_load(walk->mount + layout->mnt_ns, &walk->error);

	if (unlikely(!argtrace_is_kernel_address(namespace))) {
		*(u16 *)walk->to |= ARGTRACE_PATH_DETACHED;
		return IS_ERR_OR_NULL((void *)namespace) && !walk->error;
	}
	if (unlikely(argtrace_path_load(namespace + layout->ns_root, &walk->error) != walk->mount))
		*changing = true;
	return !walk->error;
}

/* mount_lock, which has a sequence, is not exported. */
bool argtrace_path_has_moved(u64 mount, u64 last, u64 digest,
			     const struct argtrace_mount_layout *layout)
{
	u32 left = ARGTRACE_PATH_DEPTH;
	u64 now = 0, up, mountpoint;
	long error = 0;

	for (; mount != last; mount = up) {
		if (unlikely(!left--) || unlikely(!argtrace_is_kernel_address(mount)))
			return true;
		up = argtrace_path_load(mount + layout->mnt_parent, &error);
		mountpoint = argtrace_path_load(mount + layout->mnt_mountpoint, &error);
		now = argtrace_path_add_mount(now, up, mountpoint);
	}
	return now != digest;
}

static __always_inline bool walk_path_on(struct argtrace_path_walk *walk,
					 const struct argtrace_mount_layout *layout, bool *changing)
{
	const u64 first = walk->mount;
	enum argtrace_path_walked walked;
	u64 digest = 0, up;

	for (;;) {
		walked = argtrace_path_add_names(walk);
		if (unlikely(walked != ARGTRACE_PATH_WALKED_TO_ROOT))
			break;
		up = argtrace_path_load(walk->mount + layout->mnt_parent, &walk->error);
		if (up == walk->mount) {
			if (unlikely(!end_of_mounts(walk, layout, changing)))
				return false;
			goto check;
		}
		if (unlikely(--walk->left < 0)) {
			walked = ARGTRACE_PATH_WALKED_FAR;
			break;
		}
		if (unlikely(!argtrace_path_cross(walk, up, layout, &digest)))
			return false;
	}
	if (walked == ARGTRACE_PATH_WALKED_ASTRAY || walk->error)
		return false;
	if (walked == ARGTRACE_PATH_WALKED_FAR)
		*(u16 *)walk->to |= ARGTRACE_PATH_CUT;
	else
		walk->at = end_at(walk->to, walk->at, walk->dentry,
				  walk->at == walk->to + sizeof(u16) && !digest, layout);
	if (unlikely(!walk->at))
		return false;
check:
	/* See argtrace_path_has_moved(). */
	smp_rmb();
	if (digest && unlikely(argtrace_path_has_moved(first, walk->mount, digest, layout)))
		*changing = true;
	return true;
}

bool argtrace_path_finish(struct argtrace_path_walk *walk,
			  const struct argtrace_mount_layout *layout, bool *changing)
{
	/* Copies, as what has an address is not in registers. */
	struct argtrace_path_walk rest = *walk;
	bool moved = *changing;
	const bool ended = walk_path_on(&rest, layout, &moved);

	walk->at = rest.at;
	*changing = moved;
	return ended;
}

/* Whether it is a struct path that can be read and has no dentry. */
static bool is_empty(u64 from, const struct argtrace_mount_layout *layout)
{
	long error = 0;

	return layout && argtrace_is_kernel_address(from) &&
	       !ARGTRACE_PATH_MEMBER(struct path, dentry, from, &error) && !error;
}

/*
 * A walk that ends with what is changing marked. Nobody is waited for, as it may be our CPU that is
 * renaming.
 */
static noinline int read_as_it_is(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u32 before = argtrace_path_renames();
	bool changing = before & 1;
	struct argtrace_path_walk walk;

	if (is_empty(from, layout)) {
		*(u16 *)to = ARGTRACE_PATH_NONE;
		return sizeof(u16);
	}
	/* As read_seqbegin(): see argtrace_path_renames(). */
	smp_rmb();
	if (!argtrace_path_begin(&walk, to, from, layout) ||
	    !argtrace_path_finish(&walk, layout, &changing)) {
		memset(to, 0, ARGTRACE_PATH_ROOM);
		return -EFAULT;
	}
	argtrace_path_clear_end(walk.at);
	/* As read_seqretry(). */
	smp_rmb();
	if (changing || argtrace_path_renames() != before)
		*(u16 *)to |= ARGTRACE_PATH_CHANGING;
	return walk.at - to;
}

int argtrace_read_path(u8 *to, u64 from, const struct argtrace_mount_layout *layout)
{
	const u8 *end = argtrace_read_path_quickly(to, from, layout);

	if (likely(end))
		return end - to;
	/* The second path may be shorter. */
	memset(to, 0, ARGTRACE_PATH_ROOM);
	return read_as_it_is(to, from, layout);
}

/*
 * Nothing is locked: the cgroup of a task stays as long as the task is in it, with those above it,
 * and has one name for life. What is read of other nodes may be of a moment when they were renamed.
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
			goto fault;
		/* The root has no name that counts. */
		if (!parent)
			break;
		if (unlikely(!argtrace_is_kernel_address(name)))
			goto fault;
		if (unlikely(!left--) || unlikely(at >= end)) {
			flags = ARGTRACE_PATH_CUT;
			break;
		}
		length = argtrace_read_text(at, name, min_t(u32, NAME_MAX, end - at - 1), false,
					    &cut);
		if (unlikely(length < 0))
			goto fault;
		if (unlikely(cut)) {
			memset(at, 0, length);
			flags = ARGTRACE_PATH_CUT;
			break;
		}
		at += length;
		*at++ = '/';
	}
	*(u16 *)to = flags;
	return at - to;
fault:
	memset(to, 0, at - to);
	return -EFAULT;
}
