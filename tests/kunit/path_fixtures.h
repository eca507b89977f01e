/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths as they are read, and files and folders to read them of. */
#ifndef ARGTRACE_KUNIT_PATH_FIXTURES_H
#define ARGTRACE_KUNIT_PATH_FIXTURES_H

#include <kunit/test.h>
#include <linux/path.h>
#include <linux/types.h>

#include "read/path.h"

/* Where the members are that a path through mounts needs. */
extern const struct argtrace_mount_layout mount_layout;

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

struct read_path *make_read_path(struct kunit *test);

/* Fills in what the data says; nothing has been written that the reader may not write. */
void parse_path(struct kunit *test, struct read_path *path);

/* What argtrace_read_path() reads there; a dentry has no mounts. */
void read_path_at(struct kunit *test, struct read_path *path, u64 from, const struct argtrace_mount_layout *mounts);
/* The same of a path that can be read. */
void read_path(struct kunit *test, struct read_path *path, const struct path *of);

/* A file system of the test's own, which is in no mount namespace. */
struct vfsmount *make_tmpfs(struct kunit *test);
/* Tmpfs keeps its dentries: no reference to them is held. */
struct dentry *make_dir(struct kunit *test, struct dentry *parent, const char *name);
const char *name_of_length(char *name, u32 length);

#endif
