/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files in whose code a session has probes, by number (include/uapi/argtrace_user_file.h).
 * Everything is under session->lock.
 *
 * A file is held from when it is given its number until the probes in it have been removed: uprobes
 * hold the inode alone, which an unmounted file system must not have in use. When it is let go, the
 * number stays, and what tells that it is the same file.
 */
#ifndef ARGTRACE_USER_FILES_H
#define ARGTRACE_USER_FILES_H

#include <linux/types.h>

struct argtrace_user_file_entry;
struct file;
struct inode;

struct argtrace_user_files {
	struct argtrace_user_file_entry *at;	/* that of file 1 is the first */
	u32 count, room;
	u64 charged;
};

/*
 * The number of a file with the semaphore at that offset (0: none), which is new, or has been let
 * go, or is held already. 0, -EINVAL no regular file, -E2BIG, -ENOSPC, -ENOMEM.
 */
int argtrace_user_files_number(struct argtrace_user_files *files, struct file *file, u64 semaphore,
			       u32 *number);

/* NULL: there is no file of that number, or it has been let go. */
struct inode *argtrace_user_files_inode(const struct argtrace_user_files *files, u32 number);

/* The semaphore of one that there is. */
u64 argtrace_user_files_semaphore(const struct argtrace_user_files *files, u32 number);

/* A probe has been attached in it; it has been detached. */
void argtrace_user_files_attach(struct argtrace_user_files *files, u32 number);
void argtrace_user_files_detach(struct argtrace_user_files *files, u32 number);

/* Probes have been removed: lets go of files that have had some, and have none any more. */
void argtrace_user_files_release(struct argtrace_user_files *files);

/* No probe is attached any more. */
void argtrace_user_files_free(struct argtrace_user_files *files);

#endif
