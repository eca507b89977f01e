/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of the current task. */
#ifndef ARGTRACE_FILE_H
#define ARGTRACE_FILE_H

#include <linux/fdtable.h>
#include <linux/sched.h>

/*
 * The address of the struct file of a descriptor of the current task, or 0. False if the task has
 * no files, as one that exits. With preemption off, which is a read side of RCU: tables that are
 * replaced are freed after a grace period, and nobody but the task itself lets go of its struct
 * files_struct.
 */
static inline bool argtrace_file_of(u32 descriptor, u64 *file)
{
	struct files_struct *files = READ_ONCE(current->files);

	if (!files)
		return false;
	*file = (u64)files_lookup_fd_raw(files, descriptor);
	return true;
}

#endif
