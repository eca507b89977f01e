/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: stacks of user code. ARGTRACE_SOURCE_USER_STACK_ID is the number of the current task's, in tables of their own that are as
 * those of kernel stacks (argtrace_stack.h), made by ARGTRACE_IOC_STACKS with ARGTRACE_STACKS_USER. Such a stack begins with the
 * instruction that the task has been at when it entered the kernel, and is the same until it leaves it.
 *
 * Its words are no addresses but places: an offset in an object. An object is a file of which a process has mapped parts as executable,
 * whoever has mapped it, and wherever; so a stack can be named when the process has gone. While a session has tables of user stacks,
 * all such mappings are followed. An object has a number for as long as the session exists. A file that has been written to since it was
 * mapped last, which its size or the time of its modification tells, is another object from then on, unless it has no name any more:
 * compilers write code to such files while it is mapped.
 *
 * To find a caller takes a table of unwinding, which user space makes from the object's .eh_frame and hands over by
 * ARGTRACE_IOC_UNWIND. Where there is none, or it does not know an instruction, the frame pointer is tried. What the stack then has
 * as a return address is believed if it is in executable memory, behind an instruction that calls.
 */
#ifndef _UAPI_ARGTRACE_USER_H
#define _UAPI_ARGTRACE_USER_H

#include <linux/types.h>

/* A word of a user stack. No address of the kernel's has bit 62 without bit 63. */
#define ARGTRACE_FRAME_USER		(1ull << 62)
#define ARGTRACE_FRAME_EXACT		(1ull << 61) /* an instruction that was interrupted, by the kernel or by a signal; otherwise the
						      * one behind a call or a system call, which may be the first of the
						      * next function */
#define ARGTRACE_FRAME_OBJECT_SHIFT	47
#define ARGTRACE_FRAME_OBJECT_MASK	0x3fffu
#define ARGTRACE_FRAME_OFFSET_MASK	((1ull << 47) - 1)

/* The numbers of objects. */
#define ARGTRACE_OBJECT_END		0	/* no frame, but why there are no more: the offset is ARGTRACE_END_* */
#define ARGTRACE_OBJECT_MEMORY		1	/* in no file: the offset is an address of the process */
#define ARGTRACE_OBJECT_VDSO		2	/* the offset is one from the beginning of the vdso */
#define ARGTRACE_OBJECT_HIGH_MEMORY	3	/* in no file: what the offset lacks of an address of the process is bit 47 */
#define ARGTRACE_OBJECT_FIRST		16	/* of files */
#define ARGTRACE_OBJECTS_MAX		ARGTRACE_FRAME_OBJECT_MASK /* numbers are at most this */

/* Why a stack of a user is not complete. Each is counted, in argtrace_stacks_control.incomplete. */
enum argtrace_end {
	ARGTRACE_END_NO_TABLE	= 0,	/* nothing says how to unwind this object, or not yet, and the frame pointer leads nowhere */
	ARGTRACE_END_NO_RULE	= 1,	/* its table does not know this instruction, and the frame pointer leads nowhere */
	ARGTRACE_END_UNREADABLE	= 2,	/* the memory of the stack could not be read */
	ARGTRACE_END_NO_CALL	= 3,	/* what should be a return address follows no call, or is in no executable memory */
	ARGTRACE_END_UNMAPPED	= 4,	/* what the process has mapped is not known */
	ARGTRACE_END_32_BIT	= 5,	/* 32-bit code */
};

#define ARGTRACE_END_COUNT	6	/* reasons known to this version */

/*
 * ARGTRACE_IOC_OBJECTS: the objects whose number is at least `first`, as many as fit. Call again with first = next until next is 0.
 * -ENOENT the session has no tables of user stacks.
 */
struct argtrace_objects {
	__u32	size;
	__u32	flags;			/* ARGTRACE_OBJECTS_* */
	__u64	buffer;			/* address of struct argtrace_object[] */
	__u64	length;			/* room there, in bytes */
	__u32	first;
	__u32	next;			/* out: 0 when the end was reached */
	__u32	count;			/* out: objects written */
	__u32	wanted;			/* out: objects with ARGTRACE_OBJECT_WANTED, also below `first` */
	__u64	unnumbered;		/* out: mappings of files that got no object, because there were too many or no memory */
	__u64	unknown;		/* out: processes whose mappings are not known, because there was no memory */
	__u64	refused;		/* out: objects whose table has been refused, be it once */
};

/*
 * This file answers new objects by tables, from now on and until it is closed: a process whose calls the session records waits, when it
 * has mapped an object that has no table, of which POLLPRI tells, until it has one, so that stacks are complete from its first instruction
 * on. If the file does not call OBJECTS, OBJECT_OPEN or UNWIND for ARGTRACE_TABLE_WAIT_MS, the process goes on, and no process waits until
 * the file asks again. If it does, but gives no answer, the process goes on after ARGTRACE_TABLE_WAIT_LONGEST_MS. Takes a file that is open
 * for writing (-EBADF) and the authority to read memory (-EPERM).
 */
#define ARGTRACE_OBJECTS_AWAIT	(1u << 0)
#define ARGTRACE_TABLE_WAIT_MS	1000
#define ARGTRACE_TABLE_WAIT_LONGEST_MS	10000

struct argtrace_object {
	__u32	object;			/* its number */
	__u32	flags;			/* ARGTRACE_OBJECT_* */
	__u64	inode;
	__u32	dev_major, dev_minor;	/* the file system's, as in /proc/PID/maps */
	__u32	generation;		/* of the inode */
	__u32	mapped;			/* mappings that there are now */
	__u32	nr_rows;		/* of its table */
	__u32	reserved;
};

#define ARGTRACE_OBJECT_HAS_TABLE	(1u << 0) /* UNWIND was called for it */
#define ARGTRACE_OBJECT_IN_STACK	(1u << 1) /* a stack has a frame in it */
#define ARGTRACE_OBJECT_OPENABLE	(1u << 2) /* OBJECT_OPEN would find its file */
#define ARGTRACE_OBJECT_WANTED		(1u << 3) /* it has been mapped once more, and has no table, be it that nobody has made one, or that it was
						   * refused or has made room for another. POLLPRI tells of that as of a new
						   * object. */

/*
 * ARGTRACE_IOC_OBJECT_OPEN: opens an object's file for reading, and returns the descriptor, which is closed on exec. The module holds
 * a file for as long as it is mapped, and then until it has been opened, as its file system cannot be unmounted meanwhile. It lets go of
 * the oldest where there are more than ARGTRACE_OBJECTS_HELD, and of those that nobody has opened within two times ARGTRACE_OBJECT_HELD_MS,
 * unless a file has called OBJECTS with AWAIT that has not been closed: who reads may be slow. -ENOENT no such object, -ESTALE its file has
 * been let go or written to, and the errors of open(). Takes the authority to read memory.
 */
struct argtrace_object_open {
	__u32	size;
	__u32	flags;			/* 0 */
	__u32	object;
	__u32	reserved;		/* 0 */
	/* What the file was like when it was mapped first. Whoever reads it looks afterwards whether it still is. */
	__s64	modified;		/* out: when it had been written to last, in ns since 1970, st_mtim */
	__u64	bytes;			/* out: st_size */
};

#define ARGTRACE_OBJECTS_HELD	256
#define ARGTRACE_OBJECT_HELD_MS	5000

/*
 * A rule says, for the instructions of one range, where the caller's frame is. Registers have their DWARF numbers: x86-64 psABI,
 * figure 3.36 (rbx 3, rbp 6, rsp 7, r12 to r15); DWARF for the Arm 64-bit Architecture, 4.1 (x0 to x30, sp 31). CFA is the canonical
 * frame address of DWARF, the caller's stack pointer. Where return addresses are signed, their signatures are no part of them.
 *
 * What is restored is what a function must preserve: rbx, rbp, r12, r13, r14 and r15 (psABI, 3.2.1), or x19 to x29 (AAPCS64, 6.1.1).
 */
#define ARGTRACE_UNWIND_SAVED_X86_64	6
#define ARGTRACE_UNWIND_SAVED_ARM64	11
#define ARGTRACE_UNWIND_SAVED_MAX	11

struct argtrace_unwind_rule {
	__u8	cfa;			/* ARGTRACE_CFA_* */
	__u8	reg;
	__u8	ra;			/* ARGTRACE_RA_* */
	__u8	reserved;		/* 0 */
	__u16	saved;			/* of the registers that a function must preserve, those that the frame has saved: bit n is the n-th */
	__u16	by_frame;		/* those of them that lie at an offset from the value of the frame pointer, not from CFA */
	__s32	offset;			/* bytes */
	__s32	add;			/* bytes */
	__s16	ra_at;			/* RA_MEMORY: at CFA + 8 * ra_at; RA_REGISTER: in this register */
	__s16	at[ARGTRACE_UNWIND_SAVED_MAX]; /* of the n-th register, if saved: at CFA (or frame pointer) + 8 * at[n]; else 0 */
};

enum argtrace_cfa {
	ARGTRACE_CFA_REGISTER	= 1,	/* reg + offset */
	ARGTRACE_CFA_MEMORY	= 2,	/* *(reg + offset) + add */
	ARGTRACE_CFA_PLT	= 3,	/* reg + offset, and 8 more where the lower four bits of the instruction's address are at least
					 * `add`: entries of a procedure linkage table push what they want resolved */
	ARGTRACE_CFA_SIGNAL	= 4,	/* reg + offset is the address of the struct ucontext that the kernel has made for a signal; all
					 * registers are those in it. No register is saved, ra is RA_MEMORY and ra_at 0. */
	/*
	 * For functions that change to another stack, as of Go's runtime. They save no register, and have offsets in at[]. Where a
	 * word on the way is 0, there is no caller.
	 */
	ARGTRACE_CFA_THREAD	= 5,	/* *(*(*(*(thread pointer + offset) + at[0]) + at[1]) + at[2]) + add on x86-64,
					 * *(*(*(reg + offset) + at[0]) + at[1]) + add on arm64 */
	ARGTRACE_CFA_CALLBACK	= 6,	/* the same; what is added to is also a place, where at the next one of at[] the same word has been
					 * that it is for the next function on the stack with such a rule, farther out, and so on */
	ARGTRACE_CFA_DEPTH	= 7,	/* *(*(reg + offset) + at[0]) - *(reg + at[1]) + add */
};

enum argtrace_ra {
	ARGTRACE_RA_MEMORY	= 1,
	ARGTRACE_RA_REGISTER	= 2,
	ARGTRACE_RA_END		= 3,	/* there is no caller: thread starts, _start */
	ARGTRACE_RA_BESIDE	= 4,	/* CFA_THREAD: behind the last of the words that led to CFA; ra_at is 0. On arm64 x30 of the caller
					 * is as far from that word as the next one of at[] says, in bytes */
	ARGTRACE_RA_INTERRUPTED	= 5,	/* as RA_MEMORY, but the caller has not called: it was interrupted at that instruction, and a signal's
					 * handler has made the call for it. On arm64 x30 of the caller is at CFA - 16 */
};

/* From this offset in the file up to that of the next row. */
struct argtrace_unwind_row {
	__u32	offset;
	__u32	rule;			/* its index, or ARGTRACE_UNWIND_NONE */
};

#define ARGTRACE_UNWIND_NONE	0xffffffffu	/* nothing is known: no function, or rules that cannot be expressed */

/*
 * ARGTRACE_IOC_UNWIND: the table of an object, or the news that it has none (nr_rows is 0). Rows ascend strictly. A table cannot be
 * replaced. Where the memory limit leaves no room for it, tables of the session's objects that are not mapped make room, those first that
 * have not been mapped for longest. -ENOENT no such object, -EEXIST it has one, -EINVAL rows or rules that are not as they should be,
 * -E2BIG more than ARGTRACE_UNWIND_ROWS_MAX rows or _RULES_MAX rules, -ENOSPC the memory limit, -ENOMEM no memory. No process waits for a
 * table that has been refused until it maps the object again. Takes the authority to read memory.
 */
struct argtrace_unwind {
	__u32	size;
	__u32	flags;			/* 0 */
	__u32	object;
	__u32	nr_rows;
	__u32	nr_rules;
	__u32	reserved;		/* 0 */
	__u64	rows;			/* address of struct argtrace_unwind_row[nr_rows] */
	__u64	rules;			/* address of struct argtrace_unwind_rule[nr_rules] */
};

#define ARGTRACE_UNWIND_ROWS_MAX	(1u << 23)
#define ARGTRACE_UNWIND_RULES_MAX	(1u << 20)

#endif
