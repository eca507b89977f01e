/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: programs. A probe's program decides which of its calls are recorded and computes
 * what a record holds beside plain arguments. User space compiles it; the module verifies it
 * and runs it for each call, with preemption off, before anything is reserved.
 *
 * A program is a struct argtrace_program, then nr_insns instructions, then `data` bytes that
 * instructions refer to, padded with zeros to a multiple of 8. It follows the probe's `types`
 * (see struct argtrace_probe) and is argtrace_probe.program bytes long. Adding one that reads
 * memory takes the authority to do so (see "Authority" in argtrace.h).
 *
 * The first nr_filter instructions are the filter, and end with ACCEPT or REJECT on every path.
 * The others compute the values of the arguments whose loc is ARGTRACE_LOC_PROGRAM, in their
 * order: each value is a run of instructions of which the last, and only the last, is an output
 * (OUT to PATH below). Jumps only go forward and do not leave the filter or the value, and every
 * instruction can be reached.
 *
 * For a probe with ARGTRACE_PROBE_RETURN, the filter runs when the function is entered, followed by the values, except those whose
 * output has the flag RETURN. They are kept on the task's stack until the function returns; a call without room for them is not
 * followed, and is counted as ARGTRACE_UNFOLLOWED_STACK. The nr_return instructions after the filter are a second filter, which runs
 * when the function returns, followed by the values with RETURN. Both see the argument registers, the stack pointer and the caller
 * as they were at entry, but read memory as it is at return. `sample` applies at entry, `max_rate` at return.
 *
 * Each instruction computes a value and does something with it:
 *
 *   1. v comes from `source` and `index`.
 *   2. `loads` times (0 to 3): v = memory at v + offset[i]. All but the last load 8 bytes; the
 *      last one loads `width` bytes (1, 2, 4 or 8) and zero-extends them. A load reads kernel
 *      memory, or user memory if ARGTRACE_INSN_USER(i) is set; "Address spaces" below. What
 *      cannot be read there is a fault.
 *   3. With fewer than 3 loads and an action other than TEST, v = v + offset[loads]: the address
 *      of a member. (TEST has its `base` for that.)
 *   4. If SWAP is set, the order of the eight bytes of v is reversed. A big-endian value of n
 *      bytes is then in the upper n, from where shr takes it.
 *   5. v = v << shl >> shr; the right shift copies the sign bit if SIGNED is set. This
 *      extends signs and extracts bit fields.
 *   6. v = v & mask
 *   7. `action`.
 *
 * Address spaces. Each load, and the text or bytes that an action reads, is either of kernel or of user memory, which the program
 * says and not the address: an address that a traced program has chosen must never select kernel memory. An address of the kernel's
 * is a fault where user memory is to be read, as is one of user space, or that is not canonical, where kernel memory is. User memory
 * is that of the current task, and is not there in tasks of the kernel's. Paths are read from kernel memory.
 *
 * A fault in the filter rejects the call. A fault in a value makes it unreadable: the instructions
 * up to its output are skipped, and the output writes `arg` zeros (OUT), or the length 0. Calls with
 * either are counted (argtrace_counts.faults), once each.
 *
 * -EINVAL an invalid program, -E2BIG a program whose outputs may be larger than a packet or than
 * ARGTRACE_OUTPUT_MAX, or which may cost more than ARGTRACE_COST_MAX.
 */
#ifndef _UAPI_ARGTRACE_PROGRAM_H
#define _UAPI_ARGTRACE_PROGRAM_H

#include <linux/types.h>

struct argtrace_program {
	__u16	nr_insns;	/* at most ARGTRACE_INSNS_MAX */
	__u16	nr_filter;	/* the filter's; 0: every call is accepted */
	__u16	data;		/* bytes */
	__u16	nr_return;	/* those of the filter at return; 0 without ARGTRACE_PROBE_RETURN */
	__u32	sample;		/* one call in so many is processed, counted on each CPU; 0 and 1: all */
	__u32	max_rate;	/* records of the probe in a second that begins with one, on all CPUs; 0: any number */
	__u16	sink;		/* ARGTRACE_SINK_* */
	__u16	map;		/* SINK_MAP: the id of a map of the session, else 0 */
	__u32	reserved;	/* 0 */
};

/*
 * What is done with a call that the filters have accepted. If it is not recorded, "records" and `max_rate` refer to calls that are
 * aggregated. Programs that record nothing are accepted with the named encoding as well.
 */
enum argtrace_sink {
	ARGTRACE_SINK_RECORD	= 0,	/* a record in the ring */
	ARGTRACE_SINK_COUNT	= 1,	/* argtrace_counts.records counts it; the program has no outputs */
	ARGTRACE_SINK_MAP	= 2,	/* a slot of a map, see argtrace_map.h; the outputs are its key and value */
};

struct argtrace_insn {
	__u8	source;		/* ARGTRACE_SOURCE_* */
	__u8	index;
	__u8	loads;		/* 0 to 3 */
	__u8	width;		/* of the last load: 1, 2, 4 or 8; 0 without loads */
	__u8	shl;		/* 0 to 63 */
	__u8	shr;
	__u8	flags;		/* ARGTRACE_INSN_* */
	__u8	action;		/* ARGTRACE_DO_* */
	__u8	then;		/* TEST, TEXT, JUMP: number of the next instruction; ALU: ARGTRACE_ALU_*; outputs: ARGTRACE_OUT_* */
	__u8	other;		/* TEST, TEXT: the next one if not; ALU: width of the operation, 4 or 8; BUF: ARGTRACE_BUF_*;
				 * STRS: bytes of a pointer, 4 or 8 */
	__u16	arg;		/* slot, or bytes */
	__s32	offset[3];	/* before each load, and after the last (not for TEST); 0 beyond that */
	__u64	mask;
	__u64	base;
	__u64	span;
};

#define ARGTRACE_INSNS_MAX	240
#define ARGTRACE_ACCEPT		0xff	/* as `then` or `other` in the filter: the call is recorded */
#define ARGTRACE_REJECT		0xfe	/* it is filtered */
#define ARGTRACE_SLOTS		16	/* 64-bit variables of a program; undefined until SET in the same filter or value */
#define ARGTRACE_VALUES_MAX	64	/* values of a program */
#define ARGTRACE_TEXT_MAX	1024	/* bytes of a STR, BUF or MEM */
#define ARGTRACE_MATCH_MAX	256	/* the most bytes that TEXT compares, and of its literal */
#define ARGTRACE_OUTPUT_MAX	4096	/* bytes that all outputs of a program may write at most */
#define ARGTRACE_PATH_MAX	1024	/* bytes of a PATH */
#define ARGTRACE_PATH_DEPTH	64	/* its names, and the mounts that it crosses */

#define ARGTRACE_STRS_MAX	64	/* texts of a STRS */
#define ARGTRACE_NULL_END	4096	/* addresses below are NULL, or members of what is at NULL */

/* `then` of outputs */
#define ARGTRACE_OUT_AGAIN	0x01	/* STR, BUF, MEM, STRS with INSN_USER_DATA and ARGTRACE_PROBE_RETURN, without INSN_RETURN: what is
					 * unreadable at entry, as it is not in memory yet, is read once more at return */
#define ARGTRACE_OUT_NULL	0x02	/* STR, BUF, MEM, STRS, PATH: v below ARGTRACE_NULL_END is no fault; the output has the length 0,
					 * that of PATH is ARGTRACE_PATH_NONE */

#define ARGTRACE_BUF_SIGNED	1	/* `other` of BUF: the slot is a signed number, and nothing is read if that is negative */

#define ARGTRACE_INSN_SIGNED	0x01	/* shr; ALU: DIV MOD SHR LT LE, and the extension of a 4-byte result */
#define ARGTRACE_INSN_SWAP	0x02	/* the bytes of v are reversed before it is shifted */
#define ARGTRACE_INSN_RETURN	0x04	/* outputs, with ARGTRACE_PROBE_RETURN: the value is computed when the function returns */
#define ARGTRACE_INSN_USER(i)	(0x08 << (i))	/* load i (0 to 2, less than `loads`) reads user memory */
#define ARGTRACE_INSN_USER_DATA	0x40	/* TEXT, STR, BUF, MEM, STRS: what is at v is in user memory */

enum argtrace_insn_source {
	ARGTRACE_SOURCE_CONST	= 0,	/* span, where the action is ALU, SET or an output; else 0 */
	ARGTRACE_SOURCE_REG	= 1,	/* argument register `index`, see ARGTRACE_LOC_REG; of user code any: argtrace_user_file.h */
	/* The stack pointer at entry, see ARGTRACE_LOC_STACK; of user code not when it returns. */
	ARGTRACE_SOURCE_STACK	= 2,
	ARGTRACE_SOURCE_SLOT	= 3,	/* slot `index` */
	ARGTRACE_SOURCE_TASK	= 4,	/* the address of the current struct task_struct */
	ARGTRACE_SOURCE_CALLER	= 5,	/* the address that the function returns to */
	ARGTRACE_SOURCE_CPU	= 6,	/* the number of the CPU */
	ARGTRACE_SOURCE_TIME	= 7,	/* nanoseconds of CLOCK_MONOTONIC */
	/* In the filter at return, and in values whose output has the flag RETURN: */
	ARGTRACE_SOURCE_RETURN	= 8,	/* what the function returns: index 0 rax, 1 rdx (see ARGTRACE_LOC_RETURN); and of user code
					 * ARGTRACE_RETURN_VECTOR + 0 to 3, as SOURCE_VECTOR, of which x86-64 returns values in the first
					 * two; and of x86-64 ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_X87 + 0 to 3 */
	ARGTRACE_SOURCE_DURATION = 9,	/* nanoseconds that the call took, whatever the clock */
	/* In a value, as an OUT of 8 bytes and the type ARGTRACE_TYPE_STACK, with nothing else done to it: */
	ARGTRACE_SOURCE_STACK_ID = 10,	/* the number of the call's stack, see argtrace_stack.h; unreadable if there is none */
	ARGTRACE_SOURCE_IDENTITY = 11,	/* a number of the current task: index is ARGTRACE_IDENTITY_* */
	/* As SOURCE_STACK_ID: the number of the current task's user stack, see argtrace_user.h, or ARGTRACE_STACK_ID_NO_USER. */
	ARGTRACE_SOURCE_USER_STACK_ID = 12,
	/* When a user function is entered: the lower 8 bytes of the register for floating-point numbers `index`, of x86-64 XMM0
	 * to XMM15, of arm64 V0 to V31, or with ARGTRACE_VECTOR_UPPER added the 8 bytes above. Arguments are in the first eight
	 * (psABI, 3.2.3; AAPCS64, 6.4). */
	ARGTRACE_SOURCE_VECTOR	= 13,
	/* As SOURCE_RETURN, with ARGTRACE_PROBE_GOROUTINES: register `index` of those that functions of Go return values in, as
	 * SOURCE_REG counts them. Of x86-64 these are rax, rbx, rcx, rdi, rsi, r8, r9, r10 and r11, and rsp, which points to
	 * the return address: what has no room in registers lies above it. Of arm64 they are x0 to x15 and sp, above which is
	 * a word for the return address. */
	ARGTRACE_SOURCE_RESULT	= 14,
};

#define ARGTRACE_RETURN_VECTOR	2	/* with SOURCE_RETURN */
#define ARGTRACE_RETURN_VECTORS	4
#define ARGTRACE_RETURN_VECTORS_GO	16	/* with ARGTRACE_PROBE_GOROUTINES: ABIInternal, X0 to X14; of arm64 F0 to F15 */
#define ARGTRACE_VECTOR_UPPER	64	/* not with PROBE_GOROUTINES */
/* What the x87 unit has on top of its stack, where functions return long double (psABI, 3.2.3): the significand, then the exponent and the
 * sign in the lower 16 bits; and the same of what is below, the imaginary part of a complex number. */
#define ARGTRACE_VECTOR_X87	128

/* Both IDs as seen in the initial user namespace. */
enum argtrace_identity {
	ARGTRACE_IDENTITY_UID	= 0,	/* real user ID */
	ARGTRACE_IDENTITY_GID	= 1,	/* real group ID */
	ARGTRACE_IDENTITY_CGROUP = 2,	/* of its cgroup in the unified hierarchy, the inode number in cgroup2 file systems; 0 in a
					 * kernel without cgroups */
};

enum argtrace_action {
	/* If v - base <= span (unsigned) the next instruction is `then`, else `other`. */
	ARGTRACE_DO_TEST	= 0,
	/* The same if the text at v matches, of which up to `arg` bytes are compared. base is the offset of the literal in the
	 * program's data, where a NUL follows it; the low 32 bits of span are its length, the upper ones ARGTRACE_MATCH_*. */
	ARGTRACE_DO_TEXT	= 1,
	ARGTRACE_DO_JUMP	= 2,	/* to `then` */
	ARGTRACE_DO_SET		= 3,	/* slot[arg] = v */
	ARGTRACE_DO_ALU		= 4,	/* slot[arg] = slot[arg] OP v */
	/* slot[arg] = the struct file * of the current task's descriptor v, of which the low 32 bits count; 0: it has none of
	 * that number. A task without files is a fault. */
	ARGTRACE_DO_FILE	= 5,

	/* Outputs. */
	ARGTRACE_DO_OUT		= 16,	/* the low `arg` bytes of v: 1, 2, 4 or 8 */
	ARGTRACE_DO_STR		= 17,	/* ARGTRACE_TYPE_STR: the text at v, up to its NUL or `arg` bytes */
	ARGTRACE_DO_BUF		= 18,	/* ARGTRACE_TYPE_BYTES: the slot[index of base] bytes at v, at most `arg`; see ARGTRACE_BUF_SIGNED */
	ARGTRACE_DO_MEM		= 19,	/* ARGTRACE_TYPE_BYTES: the `arg` bytes at v */
	ARGTRACE_DO_PATH	= 20,	/* ARGTRACE_TYPE_PATH: v is the address of what arg says; base is the offset of its layout in
					 * the data, or 0 where it needs none; see "Paths" below */
	ARGTRACE_DO_STRS	= 21,	/* ARGTRACE_TYPE_BYTES: the texts that an array of pointers at v leads to, which ends with NULL;
					 * each up to its NUL, and with it, at most `arg` bytes and ARGTRACE_STRS_MAX texts. TEXT_CUT:
					 * there were more. A pointer or a text that cannot be read is a fault */
	ARGTRACE_DO_WORDS	= 22,	/* ARGTRACE_TYPE_BYTES: `arg` bytes, 1 to ARGTRACE_WORDS_MAX, of v, the lowest first, and behind 8 of
					 * them of slot[base]; base is 0 if it is not needed. In no key */
};

#define ARGTRACE_WORDS_MAX	16	/* bytes of a WORDS: as many as two registers have */

/* arg of PATH */
enum argtrace_path_of {
	ARGTRACE_PATH_OF_PATH	= 0,	/* struct path; struct argtrace_mount_layout */
	ARGTRACE_PATH_OF_DENTRY	= 1,	/* struct dentry; no layout */
	ARGTRACE_PATH_OF_NODE	= 2,	/* struct kernfs_node, that of a cgroup above all; struct argtrace_node_layout */
};

/*
 * ALU with a width of 4 bytes computes with the low halves and extends the result. Overflow wraps. Division by
 * zero is a fault; the smallest signed number divided by -1 is itself, with remainder 0.
 */
enum argtrace_alu {
	ARGTRACE_ALU_ADD = 0, ARGTRACE_ALU_SUB = 1, ARGTRACE_ALU_MUL = 2, ARGTRACE_ALU_DIV = 3, ARGTRACE_ALU_MOD = 4,
	ARGTRACE_ALU_AND = 5, ARGTRACE_ALU_OR = 6, ARGTRACE_ALU_XOR = 7,
	ARGTRACE_ALU_SHL = 8, ARGTRACE_ALU_SHR = 9,	/* by v modulo the width in bits, as x86-64 and gcc do it */
	ARGTRACE_ALU_EQ = 10, ARGTRACE_ALU_NE = 11, ARGTRACE_ALU_LT = 12, ARGTRACE_ALU_LE = 13, /* 0 or 1 */
};

enum argtrace_match {
	ARGTRACE_MATCH_WHOLE = 0, ARGTRACE_MATCH_PREFIX = 1, ARGTRACE_MATCH_SUFFIX = 2, ARGTRACE_MATCH_CONTAINS = 3,
	ARGTRACE_MATCH_GLOB = 4,	/* * ? [a-z] \, as lib/glob.c */
};

/*
 * Cost. A call waits for its program with preemption off, so what a program may cost is limited: the sum over its instructions, each
 * of which is executed once at most. The unit is about an instruction of the processor, and the costs are those of the worst memory
 * and the worst text: an address of user memory, a glob that nearly matches everywhere. A refused probe is told the sum
 * (argtrace_probe_add.cost). The limits of later versions may be lower or higher.
 */
#define ARGTRACE_COST_MAX	(1u << 20)	/* a glob of any length suits a text of any length; fractions of a millisecond */

#define ARGTRACE_COST_INSN	40u
#define ARGTRACE_COST_LOAD	200u		/* of user memory */
#define ARGTRACE_COST_FAULT	1500u		/* once in a value */
#define ARGTRACE_COST_BYTE	12u		/* of text that is read */
#define ARGTRACE_COST_COMPARED	16u		/* of a glob with a byte of text */
#define ARGTRACE_COST_PATH	30000u
#define ARGTRACE_COST_STACK	100000u		/* as many frames as it can have, none of which was met before */

static __inline__ __u64 argtrace_insn_cost(const struct argtrace_insn *insn)
{
	const __u64 length = (__u32)insn->span, read = insn->arg * (__u64)ARGTRACE_COST_BYTE;
	const __u64 cost = ARGTRACE_COST_INSN + insn->loads * (__u64)ARGTRACE_COST_LOAD +
			   (insn->source == ARGTRACE_SOURCE_STACK_ID ||
			    insn->source == ARGTRACE_SOURCE_USER_STACK_ID ? ARGTRACE_COST_STACK : 0);

	switch (insn->action) {
	case ARGTRACE_DO_TEXT:
		switch (insn->span >> 32) {
		case ARGTRACE_MATCH_WHOLE:
		case ARGTRACE_MATCH_PREFIX:
			/* Byte by byte, up to the first that differs. */
			return cost + (length < insn->arg ? length + 1 : insn->arg) * ARGTRACE_COST_LOAD;
		case ARGTRACE_MATCH_SUFFIX:
			return cost + read + length;
		default:
			return cost + read + insn->arg * length * ARGTRACE_COST_COMPARED;
		}
	case ARGTRACE_DO_FILE:
		return cost + ARGTRACE_COST_LOAD;
	case ARGTRACE_DO_OUT:
		return cost + ARGTRACE_COST_FAULT;
	case ARGTRACE_DO_STR:
	case ARGTRACE_DO_BUF:
	case ARGTRACE_DO_MEM:
		return cost + ARGTRACE_COST_FAULT + ARGTRACE_COST_LOAD + read;
	case ARGTRACE_DO_STRS:
		return cost + ARGTRACE_COST_FAULT + 2 * ARGTRACE_STRS_MAX * ARGTRACE_COST_LOAD + read;
	case ARGTRACE_DO_PATH:
		return cost + ARGTRACE_COST_FAULT + ARGTRACE_COST_PATH;
	default:
		return cost;
	}
}

/*
 * Paths. An argument of type PATH has size ARGTRACE_PATH_MAX. Its data, which the __u16 counts, is
 *
 *   __u16  ARGTRACE_PATH_*
 *   struct argtrace_pseudo, if PSEUDO says so
 *   struct argtrace_socket and the name of the socket, if SOCKET says so
 *   names, from that of the file itself to the one below the root, each followed by a '/'
 *
 * so that /etc/passwd is "passwd/etc/", and the root is "". Names contain neither '/' nor NUL, if the file system keeps to the
 * rules, and are in no particular encoding. A path crosses all mounts, up to the root of the mount
 * namespace that the file was opened in, as reported by d_absolute_path(), whatever the root of the process. That of a
 * dentry begins at the root of the file system instead, and that of a kernfs_node at the root of its hierarchy; CUT is its only flag.
 *
 * It is read without locks. Where something is renamed meanwhile, or a mount that it crosses is moved, it is read again, once,
 * and marked if that happens again. What each mount is mounted on is read twice and compared.
 */
#define ARGTRACE_PATH_CUT	0x01u	/* more names follow: they would be more than PATH_MAX bytes, or than PATH_DEPTH */
#define ARGTRACE_PATH_CHANGING	0x02u	/* something was renamed or moved again meanwhile: there may never have been such a path */
#define ARGTRACE_PATH_DELETED	0x04u	/* the file has no name any more, as d_unlinked() says */
#define ARGTRACE_PATH_DETACHED	0x08u	/* it leads to no root of a mount namespace: a mount has been detached, or is not yet
					 * attached, or the file has been moved out of what is mounted */
#define ARGTRACE_PATH_PSEUDO	0x10u	/* a pipe, a socket, a memfd ...: it is in no directory, and only has a name */
#define ARGTRACE_PATH_NONE	0x20u	/* there is none: the struct path has no dentry, as that of a file which is being opened. It is the
					 * only flag, and no names follow. */
#define ARGTRACE_PATH_SOCKET	0x40u	/* beside PSEUDO: a socket of a family that struct argtrace_socket is for */

struct argtrace_pseudo {
	__u32	magic;			/* of its file system, linux/magic.h: PIPEFS_MAGIC ... */
	__u32	reserved;		/* 0 */
	__u64	inode;			/* its number */
};

/*
 * What a socket is bound and connected to when it is read, without locks: as getsockname() and
 * getpeername() say, unless that changes meanwhile. `name_size` bytes follow it.
 */
struct argtrace_socket {
	__u16	family;			/* AF_INET, AF_INET6 or AF_UNIX */
	/* of UNIX: of its name, sun_path in struct sockaddr_un, which begins with a NUL if abstract */
	__u16	name_size;
	__u16	local_port;		/* of INET and INET6, in host byte order; 0: it is not bound */
	__u16	peer_port;		/* 0: it is not connected */
	__u8	local[16];		/* in network byte order; of INET the first 4 bytes */
	__u8	peer[16];
	__u64	peer_inode;		/* of UNIX, the number of the peer's inode; 0: it has no peer */
};

/*
 * For PATH: offsets in struct mount and struct mnt_namespace, which are private to the kernel, from BTF. Begins at a multiple
 * of 8 in the program's data.
 */
struct argtrace_mount_layout {
	__u32	mnt;			/* multiples of 8, less than ARGTRACE_MOUNT_MAX */
	__u32	mnt_parent;
	__u32	mnt_mountpoint;
	__u32	mnt_ns;
	__u32	ns_root;		/* in struct mnt_namespace */
	__u32	reserved;		/* 0 */
};

#define ARGTRACE_MOUNT_MAX	4096	/* how large these structures may be, and a struct kernfs_node */

/* The same of struct kernfs_node, whose members have other names in other kernels. */
struct argtrace_node_layout {
	__u32	name;
	__u32	parent;
};

#ifdef __cplusplus
static_assert(sizeof(struct argtrace_program) == 24, "struct argtrace_program");
static_assert(sizeof(struct argtrace_node_layout) == 8, "struct argtrace_node_layout");
static_assert(sizeof(struct argtrace_insn) == 48, "struct argtrace_insn");
static_assert(sizeof(struct argtrace_mount_layout) == 24, "struct argtrace_mount_layout");
static_assert(sizeof(struct argtrace_pseudo) == 16, "struct argtrace_pseudo");
static_assert(sizeof(struct argtrace_socket) == 48, "struct argtrace_socket");
#else
_Static_assert(sizeof(struct argtrace_program) == 24, "struct argtrace_program");
_Static_assert(sizeof(struct argtrace_node_layout) == 8, "struct argtrace_node_layout");
_Static_assert(sizeof(struct argtrace_insn) == 48, "struct argtrace_insn");
_Static_assert(sizeof(struct argtrace_mount_layout) == 24, "struct argtrace_mount_layout");
_Static_assert(sizeof(struct argtrace_pseudo) == 16, "struct argtrace_pseudo");
_Static_assert(sizeof(struct argtrace_socket) == 48, "struct argtrace_socket");
#endif

#endif
