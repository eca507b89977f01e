/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: a probe, as it is added and listed. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_PROBE_H
#define _UAPI_ARGTRACE_PROBE_H

#include <linux/types.h>

/*
 * Type codes: how to read the data of an argument. The code determines the size
 * of the data, except for STR and BYTES, which begin with a __u16 length.
 * Enums are recorded as the integer that they are stored in.
 */
enum argtrace_type {
	ARGTRACE_TYPE_END	= 0,	/* closes a named record */
	ARGTRACE_TYPE_U8	= 1,
	ARGTRACE_TYPE_S8	= 2,
	ARGTRACE_TYPE_U16	= 3,
	ARGTRACE_TYPE_S16	= 4,
	ARGTRACE_TYPE_U32	= 5,
	ARGTRACE_TYPE_S32	= 6,
	ARGTRACE_TYPE_U64	= 7,
	ARGTRACE_TYPE_S64	= 8,
	ARGTRACE_TYPE_U128	= 9,	/* 16 bytes, the lower half first */
	ARGTRACE_TYPE_S128	= 10,
	ARGTRACE_TYPE_BOOL	= 11,	/* 1 byte, zero or not */
	ARGTRACE_TYPE_CHAR	= 12,	/* 1 byte, plain char where it is signed */
	ARGTRACE_TYPE_UCHAR	= 13,	/* 1 byte, plain char where it is unsigned (-funsigned-char, Linux >= 6.2) */
	ARGTRACE_TYPE_PTR	= 14,	/* 8 bytes, an address */
	ARGTRACE_TYPE_STR	= 15,	/* __u16 length, of which ARGTRACE_TEXT_CUT is a flag, then text without a NUL */
	ARGTRACE_TYPE_BYTES	= 16,	/* __u16 length, then as many bytes: a struct or union by value; or what a program has read, where
					 * the length may have ARGTRACE_TEXT_CUT as well */
	ARGTRACE_TYPE_PATH	= 17,	/* __u16 length, then a path: see "Paths" in argtrace_program.h */
	ARGTRACE_TYPE_STACK	= 18,	/* 8 bytes, the number of a stack: see argtrace_stack.h */
	ARGTRACE_TYPE_F32	= 19,	/* IEEE 754 binary32 and binary64: outputs of a program, and what a user function returns */
	ARGTRACE_TYPE_F64	= 20,
};

/* The size of the data of a type; 0 if the type does not determine it, or does not exist. */
static __inline__ __u32 argtrace_type_size(__u8 type)
{
	switch (type) {
	case ARGTRACE_TYPE_U8:
	case ARGTRACE_TYPE_S8:
	case ARGTRACE_TYPE_BOOL:
	case ARGTRACE_TYPE_CHAR:
	case ARGTRACE_TYPE_UCHAR:
		return 1;
	case ARGTRACE_TYPE_U16:
	case ARGTRACE_TYPE_S16:
		return 2;
	case ARGTRACE_TYPE_U32:
	case ARGTRACE_TYPE_S32:
	case ARGTRACE_TYPE_F32:
		return 4;
	case ARGTRACE_TYPE_U64:
	case ARGTRACE_TYPE_S64:
	case ARGTRACE_TYPE_PTR:
	case ARGTRACE_TYPE_STACK:
	case ARGTRACE_TYPE_F64:
		return 8;
	case ARGTRACE_TYPE_U128:
	case ARGTRACE_TYPE_S128:
		return 16;
	default:
		return 0;
	}
}

#define ARGTRACE_TEXT_CUT	0x8000u	/* there are more of them, but no more were wanted */

/* Where an argument is when the function is entered. */
enum argtrace_loc {
	ARGTRACE_LOC_NONE	= 0,	/* not captured: type END, size 0, nothing in the record */
	ARGTRACE_LOC_REG	= 1,	/* up to 8 bytes in argument register `index`, counted from 0 in the ABI's order:
					 * rdi rsi rdx rcx r8 r9 (System V x86-64 psABI, 3.2.3) */
	ARGTRACE_LOC_REG_PAIR	= 2,	/* registers `index` and `index` + 1, the lower half first; 9 to 16 bytes */
	ARGTRACE_LOC_STACK	= 3,	/* memory, see "Authority" in argtrace.h: `offset` bytes above the stack pointer at entry; on
					 * x86-64 the return address is at 0, and arguments begin at 8 */
	ARGTRACE_LOC_REF	= 4,	/* reserved: register `index` holds its address */
	ARGTRACE_LOC_PROGRAM	= 5,	/* an output of the probe's program, see argtrace_program.h; in the order of the outputs */
	ARGTRACE_LOC_RETURN	= 6,	/* what the function returns, of a probe with ARGTRACE_PROBE_RETURN: up to 8 bytes in rax,
					 * 9 to 16 in rax and rdx, the lower half first (psABI 3.2.3); at most one; none for void
					 * or values returned in memory, unless it is their address, which is in rax, or see
					 * ARGTRACE_PROBE_IN_MEMORY; of
					 * ARGTRACE_KIND_USER, with the type F32 or F64 the lower bytes of xmm0 */
};

/*
 * Registers that `index` may count, here and in a program, whatever the architecture. Each has fewer: kernel functions of x86-64 are
 * passed 6. A probe with the index of a register that the architecture does not have is refused with -EINVAL.
 */
#define ARGTRACE_REG_MAX	64
#define ARGTRACE_STACK_MAX	2048	/* how far above the stack pointer an argument may end */
#define ARGTRACE_BYTES_MAX	1024	/* the largest BYTES */

/* One argument of a probe. */
struct argtrace_arg {
	__u8	loc;		/* enum argtrace_loc */
	__u8	index;		/* register, see loc; else 0 */
	__u8	type;		/* enum argtrace_type */
	__u8	flags;		/* 0 */
	__u32	size;		/* bytes captured: the size of the type; for BYTES and STR without the length, and with
				 * LOC_PROGRAM at most */
	__u32	offset;		/* LOC_STACK only, else 0 */
	__u16	name;		/* offsets of two strings in the probe's string table: */
	__u16	type_name;	/* the argument's name, and its type as C writes it */
};

/* Where the calls of a probe come from, and so what its `addr` is. */
enum argtrace_kind {
	ARGTRACE_KIND_ENTRY	= 0,	/* the entry of the function whose symbol is at addr */
	ARGTRACE_KIND_TRACEPOINT = 1,	/* the tracepoint NAME whose __traceiter_NAME() is at addr. Its arguments are where that function
					 * has them; the first, in register 0, is not the tracepoint's, and reads as 0. No RETURN. */
	ARGTRACE_KIND_SYSCALL	= 2,	/* a system call, whose function is at addr: __x64_sys_NAME(), __ia32_sys_NAME(), __ia32_compat_sys_NAME().
					 * Its arguments are what user space has passed, the first in register 0, whichever registers it
					 * passes them in; of a 32-bit call 32 bits each. None is on the stack. */
	ARGTRACE_KIND_TIMER	= 3,	/* a timer on each CPU; addr says which, see argtrace_timer.h */
	ARGTRACE_KIND_USER	= 4,	/* an instruction of user code, in a file: addr says which, see argtrace_user_file.h */
};

/*
 * One probe, as it is added and as it is listed: this header, then nr_args
 * structs argtrace_arg, then `strings` bytes of NUL-terminated strings (the
 * first is the function's name, followed by a ~ when its prototype was guessed),
 * then `types` bytes that the module only keeps and hands out, then zeros up to a multiple of 8, then
 * `program` bytes (a multiple of 8) of a struct argtrace_program and what follows it, then the places of ARGTRACE_PROBE_RETURNS.
 * Everything user space needs to read the probe's records is in here: its schema.
 *
 * `flags` is both input and output: it says how the probe is to be traced, and on output also
 * what has become of it. A kind that the
 * module does not know is refused with -EINVAL, and so is a program that is not valid.
 * `types` is 0, or a BTF blob (linux/btf.h) whose last type is the function's
 * prototype (BTF_KIND_FUNC_PROTO), as far as its values are shown by it: structs,
 * unions, enums, arrays, pointers to functions.
 */
struct argtrace_probe {
	__u32	size;		/* of the whole entry, a multiple of 8 */
	__u32	id;		/* out: the id in its records; 0 when added */
	__u64	addr;		/* see enum argtrace_kind; 0 in ON_LOAD */
	__u32	flags;		/* in and out: ARGTRACE_PROBE_* */
	__u16	nr_args;
	__u16	strings;	/* length of the string table */
	__u32	types;		/* length of the types */
	__u16	kind;		/* enum argtrace_kind */
	__u16	program;	/* length of the probe's program in bytes; 0: none */
};

#define ARGTRACE_PROBE_REMOVED	(1u << 0) /* out: no longer traced; kept for the records that name it */
#define ARGTRACE_PROBE_GONE	(1u << 1) /* out, with REMOVED: because its module was unloaded */
#define ARGTRACE_PROBE_RETURN	(1u << 2) /* in and out: a call is recorded when it returns, see struct argtrace_record */
/*
 * In and out, with RETURN: how many words of 8 bytes the function's arguments take on the stack, whether they are captured
 * or not. The flags contain the number plus one, so that 0 means that it is missing, which is refused.
 */
#define ARGTRACE_PROBE_WORDS(words)	(((words) + 1u) << ARGTRACE_PROBE_WORDS_SHIFT)
#define ARGTRACE_PROBE_WORDS_SHIFT	8
#define ARGTRACE_PROBE_WORDS_MASK	(0x7fu << ARGTRACE_PROBE_WORDS_SHIFT)
#define ARGTRACE_RETURN_WORDS_MAX	32	/* words at most */
/*
 * In and out, with RETURN, only of functions, of the kernel and of programs, and not with GOROUTINES: the function returns a value in memory, whose
 * address it is passed in a register that passes no argument, x8 of arm64. LOC_RETURN and SOURCE_RETURN are that address. Refused with
 * -EINVAL where there is no such register: on x86-64 the address is an argument, and what the function returns.
 */
#define ARGTRACE_PROBE_IN_MEMORY	(1u << 15)
/*
 * In and out, with RETURN, only for functions: the kernel follows the calls instead of argtrace. See below. At most one of them
 * may be set; each takes the feature of the same name.
 */
#define ARGTRACE_PROBE_BY_FPROBE	(1u << 3)
#define ARGTRACE_PROBE_BY_KRETPROBE	(1u << 4)
#define ARGTRACE_PROBE_BY_KERNEL	(ARGTRACE_PROBE_BY_FPROBE | ARGTRACE_PROBE_BY_KRETPROBE)
/* In and out, with one of these: the reason, to be listed. enum argtrace_by_reason. */
#define ARGTRACE_PROBE_BY_REASON(reason) ((__u32)(reason) << ARGTRACE_PROBE_BY_REASON_SHIFT)
#define ARGTRACE_PROBE_BY_REASON_SHIFT	16
#define ARGTRACE_PROBE_BY_REASON_MASK	(0xfu << ARGTRACE_PROBE_BY_REASON_SHIFT)

enum argtrace_by_reason {
	ARGTRACE_BY_CHOICE	= 0,	/* it was asked for */
	ARGTRACE_BY_VARIADIC	= 1,	/* the function takes a variable number of arguments */
	ARGTRACE_BY_STACK	= 2,	/* what its arguments take on the stack is not known, or is too much */
	ARGTRACE_BY_BPF		= 3,	/* a BPF program has been attached to it, or another direct caller */
	ARGTRACE_BY_PATCH	= 4,	/* it is live patched */
};

#define ARGTRACE_BY_REASONS	5	/* known to this version */

/*
 * In and out, with RETURN, only of ARGTRACE_KIND_USER: how many instructions the function returns by, whose places follow the rest of the
 * entry as so many __s32, relative to the function, filled up with zeros to a multiple of 8 bytes. With none, and without NEVER_RETURNS,
 * the kernel's uretprobe says when a call returns.
 */
#define ARGTRACE_PROBE_RETURNS(count)	((__u32)(count) << ARGTRACE_PROBE_RETURNS_SHIFT)
#define ARGTRACE_PROBE_RETURNS_SHIFT	20
#define ARGTRACE_PROBE_RETURNS_MAX	2047u
#define ARGTRACE_PROBE_RETURNS_MASK	(ARGTRACE_PROBE_RETURNS_MAX << ARGTRACE_PROBE_RETURNS_SHIFT)
/*
 * Likewise, with no such instruction: the function has none, as one that always throws an exception or ends the program. Its calls are
 * recorded when they have been left.
 */
#define ARGTRACE_PROBE_NEVER_RETURNS	(1u << 31)
/* Likewise: the function jumps to its first instruction, so that one call may come there several times. */
#define ARGTRACE_PROBE_LOOPS		(1u << 5)
/* Likewise, with one such instruction at least, or with NEVER_RETURNS: a function of Go, see argtrace_user_file.h. */
#define ARGTRACE_PROBE_GOROUTINES	(1u << 6)

/*
 * In and out, only of ARGTRACE_KIND_SYSCALL with a program that reads user memory at the entry: a call for which some of that is not
 * present goes on after it has been brought in, if it is anonymous or a file's, as the process could read it itself. Without RETURN it
 * is recorded then; with it, that is when its time begins. Calls of functions that others trace as well do not wait, but for what is to
 * be kept of calls whose return is followed. Without RETURN none do where the caller may not have returns followed.
 */
#define ARGTRACE_PROBE_WAITS		(1u << 7)

/*
 * Probes with ARGTRACE_PROBE_RETURN. argtrace calls the function's body in place of the caller, with copies of its arguments on
 * the stack. The size of these must be right, as it is if derived from the function's own prototype: such a probe must not be
 * added to a function with a variable number of arguments, or with a guessed prototype. Since a wrong size makes the
 * function read what it was not passed, adding one takes CAP_SYS_ADMIN, and a kernel whose lockdown permits writing kernel memory
 * (-EPERM). -EOPNOTSUPP the
 * function never returns, or its return cannot be followed for another reason (`failed` is its index), or this kernel's ftrace does
 * not support it (`failed` is `count`). -EINVAL a session with the named encoding.
 *
 * While a call is in flight, its frame is on the stack of its task, and the kernel refuses to unload the module. If its probe or its
 * session is removed, nothing more is recorded of it; the module can be unloaded once it has returned, however long its task sleeps.
 * argtrace_info.in_flight says how many such calls there are, and the kernel's log names their functions and tasks.
 *
 * With BY_FPROBE or BY_KRETPROBE, the kernel's own fprobe or kretprobe of the function calls argtrace. The records are the same, but each
 * call costs more, and the kernel can only follow so many calls of a function at once (ARGTRACE_UNFOLLOWED_MISSED). Nothing is called in
 * place of the caller, so the function may be variadic, and its prototype a guess: WORDS covers the probe's arguments. Calls in flight do
 * not keep the module loaded: they count as ARGTRACE_UNFOLLOWED_REMOVED as soon as the probe is removed. A call whose task ends within it
 * is in flight until then. Not in ON_LOAD, and without the number of a stack in the program (-EINVAL). -E2BIG the kernel does not keep as
 * much of a call as the words on the stack and the values at entry take, or the session has more than ARGTRACE_FALLBACKS_MAX of these probes.
 * -EOPNOTSUPP the kernel does not accept such a probe on the function (`failed` is its index).
 */
#define ARGTRACE_FALLBACKS_MAX	512

#endif
