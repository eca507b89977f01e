/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: probes in user code. A probe of ARGTRACE_KIND_USER is an instruction in a file, of all processes that have mapped the file, and
 * of those that will map it. It is hit each time that one of them is about to execute the instruction: a breakpoint of the kernel's
 * uprobes.
 *
 * At the beginning of a function, ARGTRACE_LOC_REG and SOURCE_REG are its arguments. ARGTRACE_LOC_STACK is refused, as the stack is user
 * memory: a program reads it from SOURCE_STACK. What a program reads at addresses that the traced process has supplied must be user memory
 * (ARGTRACE_INSN_USER, ARGTRACE_INSN_USER_DATA); only what the current task leads to is the kernel's. Memory that is not present is brought
 * in first, if it is anonymous or a file's, as the process could read it itself; so a hit may sleep. The caller in its records is 0, and
 * the number of its kernel stack ARGTRACE_STACK_ID_USER.
 *
 * With a filter by PID, processes that it does not select are left without breakpoint; one that has inherited it from its parent loses it
 * when it comes there for the first time. That hit counts as filtered.
 *
 * With ARGTRACE_PROBE_RETURN the place is the beginning of a function, and there is one record for a call when it has returned. Where it
 * returns has breakpoints as well (ARGTRACE_PROBE_RETURNS), which leave its stack alone; or the kernel's uretprobe replaces the address
 * that it returns to. It takes no more authority than a probe without, as nothing of a kernel stack is touched: WORDS is 0. What belongs
 * together has the same process and the same stack pointer, whichever thread returns. A call that is left in another way, by longjmp(),
 * by an exception, or with its thread or its program, counts as ARGTRACE_UNFOLLOWED_LEFT or ARGTRACE_UNFOLLOWED_EXITED as soon as
 * that is certain, and as in flight until then; one that began before the probe was there has no record.
 *
 * -EOPNOTSUPP such a place cannot be probed: there is no such file in the session, the offset is beyond its end, its file system has no
 * pages for it, or, where a process has mapped it, uprobes do not take the instruction.
 */
#ifndef _UAPI_ARGTRACE_USER_FILE_H
#define _UAPI_ARGTRACE_USER_FILE_H

#include <linux/types.h>

/*
 * ARGTRACE_IOC_USER_FILE: gives the file behind a descriptor, which is open for reading, a number in the session. A file that has one
 * keeps it; what tells files apart is the inode, and of a file of overlayfs that of the layer. The session holds the file, and so keeps its file system from
 * being unmounted, until probes have been added in it and all of these been removed. -EBADF no such descriptor, or not open for reading,
 * -EINVAL no regular file, -E2BIG more than ARGTRACE_USER_FILES_MAX, -ENOENT the session has been removed, -ENOSPC the memory limit,
 * -EOPNOTSUPP this kernel has no uprobes. Takes the authority to read memory (-EPERM), and so does a probe of this kind.
 */
struct argtrace_user_file {
	__u32	size;
	__u32	flags;			/* 0 */
	__s32	fd;
	__u32	file;			/* out: from 1 on */
};

#define ARGTRACE_USER_FILES_MAX		4096u
#define ARGTRACE_USER_OFFSET_MAX	(1ull << 47) /* offsets are less than this */

/* `addr` of a probe: `offset` bytes from the beginning of the file. */
#define ARGTRACE_USER_PLACE(file, offset) ((__u64)(file) << 47 | (__u64)(offset))

#endif
