/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of files, read without locks. */
#ifndef ARGTRACE_PATH_H
#define ARGTRACE_PATH_H

#include <linux/types.h>
#include <uapi/argtrace.h>

/*
 * The room that `to` must have for a path, as names are copied in words. What they write beyond the
 * end is cleared.
 */
#define ARGTRACE_PATH_ROOM	(ARGTRACE_PATH_MAX + sizeof(u64))

/*
 * The data of a PATH ("Paths" in include/uapi/argtrace_program.h) without its length, of the struct
 * path at `from`, or with no `mount` of the struct dentry there. Returns how many bytes it has, at
 * most ARGTRACE_PATH_MAX, or -EFAULT. Within argtrace_scratch_enter(). On a fault, what has been
 * written is cleared, as `to` may be mapped.
 */
int argtrace_read_path(u8 *to, u64 from, const struct argtrace_mount_layout *mount);

/* The same of the struct kernfs_node at `from`. */
int argtrace_read_node_path(u8 *to, u64 from, const struct argtrace_node_layout *layout);

#endif
