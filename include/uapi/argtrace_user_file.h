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
 * Programs of these probes may read all registers of the process, see enum argtrace_user_reg_x86_64 and enum argtrace_user_reg_arm64.
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
 * Stacks of Go are moved while functions run, so that with ARGTRACE_PROBE_GOROUTINES what belongs together has the same process, the same
 * goroutine and the same distance from the end of its stack, whichever thread and stack that is; see Go's ABIInternal. A call, or a return,
 * at some distance proves that the goroutine's calls farther from the end have been left. The place is one at which the stack pointer is as
 * at the function's first instruction, which may come behind the check of its stack. A call whose goroutine cannot be read counts as
 * ARGTRACE_UNFOLLOWED_NO_GOROUTINE. ARGTRACE_SOURCE_RESULT is what the function returns, and neither LOC_RETURN nor SOURCE_RETURN.
 *
 * -EOPNOTSUPP such a place cannot be probed: there is no such file in the session, the offset is beyond its end, its file system has no
 * pages for it, or, where a process has mapped it, uprobes do not take the instruction; or there is a probe of the place already, of
 * whomever, with another semaphore or none.
 */
#ifndef _UAPI_ARGTRACE_USER_FILE_H
#define _UAPI_ARGTRACE_USER_FILE_H

#include <linux/types.h>

/*
 * ARGTRACE_IOC_USER_FILE: gives the file behind a descriptor, which is open for reading, a number in the session. A file that has one
 * keeps it; what tells files apart is the inode, and of a file of overlayfs that of the layer. The session holds the file, and so keeps its file system from
 * being unmounted, until probes have been added in it and all of these been removed.
 *
 * With a semaphore, the number stands for the file together with that: the kernel adds 1 to the 16-bit number at `semaphore` bytes from the
 * beginning of the file for each place with such a number, in the memory of each process that has a breakpoint there and has mapped that
 * part of the file writable and private; and subtracts it when the breakpoint goes. USDT probes have one if their arguments take time to
 * compute. Nothing is changed where no process has such a mapping.
 *
 * -EBADF no such descriptor, or not open for reading, -EINVAL no regular file, or a semaphore that is not aligned to 2 bytes or not less than
 * ARGTRACE_USER_OFFSET_MAX, -E2BIG more than ARGTRACE_USER_FILES_MAX, -ENOENT the session has been removed, -ENOSPC the memory limit,
 * -EOPNOTSUPP this kernel has no uprobes. Takes the authority to read memory (-EPERM), and so does a probe of this kind.
 */
struct argtrace_user_file {
	__u32	size;
	__u32	flags;			/* 0 */
	__s32	fd;
	__u32	file;			/* out: from 1 on */
	__u64	semaphore;		/* 0: none */
};

#define ARGTRACE_USER_FILES_MAX		4096u
#define ARGTRACE_USER_OFFSET_MAX	(1ull << 47) /* offsets are less than this */

/* `addr` of a probe: `offset` bytes from the beginning of the file. */
#define ARGTRACE_USER_PLACE(file, offset) ((__u64)(file) << 47 | (__u64)(offset))

/*
 * `index` of ARGTRACE_SOURCE_REG: registers of x86-64 that pass no arguments, as the process has them at the instruction. For probes of
 * ARGTRACE_KIND_USER without RETURN only; and with ARGTRACE_PROBE_GOROUTINES all but rsp and rip, as they were at entry.
 */
enum argtrace_user_reg_x86_64 {
	ARGTRACE_X86_64_RAX	= 6,
	ARGTRACE_X86_64_RBX	= 7,
	ARGTRACE_X86_64_RBP	= 8,
	ARGTRACE_X86_64_RSP	= 9,
	ARGTRACE_X86_64_R10	= 10,
	ARGTRACE_X86_64_R11	= 11,
	ARGTRACE_X86_64_R12	= 12,
	ARGTRACE_X86_64_R13	= 13,
	ARGTRACE_X86_64_R14	= 14,
	ARGTRACE_X86_64_R15	= 15,
	ARGTRACE_X86_64_RIP	= 16,	/* the address of the instruction */
};

/*
 * The same of arm64: these, and between them x9 to x30. With ARGTRACE_PROBE_GOROUTINES there are x0 to x15, and x28, which has the
 * goroutine's address.
 */
enum argtrace_user_reg_arm64 {
	ARGTRACE_ARM64_X8	= 8,
	ARGTRACE_ARM64_SP	= 31,
	ARGTRACE_ARM64_PC	= 32,	/* the address of the instruction */
};

#endif
