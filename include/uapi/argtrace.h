/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: what the kernel module and user space share.
 *
 * Everything is little-endian on x86-64 and arm64, naturally aligned, free of
 * pointers and of types whose width differs between ABIs. Times are in
 * units of the session's clock, sizes in bytes, unless a field says
 * otherwise.
 *
 * Two versions:
 *
 *   ARGTRACE_API_VERSION     ioctls and mmap layout. Raised when a program built
 *                            against the older header would misbehave. Growing a
 *                            struct at its end, adding a flag or an ioctl does
 *                            not raise it: see "sizes" below.
 *   ARGTRACE_RECORD_VERSION  packets and records, in the ring and in a file.
 *                            Raised when an older decoder would misread the
 *                            bytes. A new record id does not raise it: decoders
 *                            skip records whose id they do not know.
 *
 * Sizes: every ioctl struct begins with its own size, set by the caller. The
 * module accepts a shorter struct (missing fields count as zero), and a longer
 * one if its unknown tail is zero. A non-zero tail is -E2BIG, a size below that
 * of the first version -EINVAL, and so are unknown flags and non-zero reserved
 * fields. A call that is refused changes nothing.
 *
 * Authority: opening the device takes CAP_PERFMON or CAP_SYS_ADMIN in the initial user
 * namespace, and a kernel whose lockdown does not refuse tracefs. A file may be inherited,
 * sent over a socket, or kept by a process that gives up its capabilities, so every call that
 * changes something or reveals addresses requires the same of its caller (-EPERM). A call
 * that changes something also takes a file that is open for writing (-EBADF).
 *
 *   any caller        INFO COUNTS RETURN_COUNTS ON_LOAD_LIST PROCESSES_LIST, STACKS with EXISTING, poll(), mmap of PACKETS,
 *                     MAP and STACKS
 *   caller            SYMBOL PROBE_LIST IN_FLIGHT, SESSION of a name without CREATE
 *   caller, writable  all others: SESSION and STACKS that make something, SESSION_REMOVE PROBE_ADD PROBE_REMOVE READER
 *                     ON_LOAD ON_LOAD_REMOVE PROCESSES MAP
 *
 * So a file that is bound to a session can be handed to a process without capabilities: it
 * reads what is recorded there, like a file of tracefs that was opened for it, and can do
 * nothing else. The reader's page can be mapped by the session's reader alone.
 *
 * CAP_PERFMON grants access to registers. An argument in memory (ARGTRACE_LOC_STACK), or a program that
 * reads memory, also takes CAP_BPF, or CAP_SYS_ADMIN instead, as for a BPF program that reads kernel memory:
 * a descriptor can name any word near the stack pointer. argtrace_info reports what the caller
 * may do.
 */
#ifndef _UAPI_ARGTRACE_H
#define _UAPI_ARGTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "argtrace_map.h"
#include "argtrace_program.h"
#include "argtrace_stack.h"
#include "argtrace_timer.h"

#define ARGTRACE_API_VERSION	4
#define ARGTRACE_RECORD_VERSION	1

#define ARGTRACE_DEVICE		"/dev/argtrace"

/* Limits that are part of the ABI; those that may grow are in argtrace_info. */
#define ARGTRACE_NAME_LEN	32	/* session name, with its NUL */
#define ARGTRACE_COMM_LEN	16	/* TASK_COMM_LEN, include/linux/sched.h */
#define ARGTRACE_MODULE_LEN	64	/* a kernel module's name, with its NUL */
#define ARGTRACE_SRCVERSION_LEN	32	/* its srcversion, with its NUL */
#define ARGTRACE_SYMBOL_LEN	752	/* the text that SYMBOL returns, with its NUL */
#define ARGTRACE_PROCESSES_MAX	1024	/* in one call of PROCESSES */

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
		return 4;
	case ARGTRACE_TYPE_U64:
	case ARGTRACE_TYPE_S64:
	case ARGTRACE_TYPE_PTR:
	case ARGTRACE_TYPE_STACK:
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
	ARGTRACE_LOC_STACK	= 3,	/* memory, see "Authority": `offset` bytes above the stack pointer at entry; on
					 * x86-64 the return address is at 0, and arguments begin at 8 */
	ARGTRACE_LOC_REF	= 4,	/* reserved: register `index` holds its address */
	ARGTRACE_LOC_PROGRAM	= 5,	/* an output of the probe's program, see argtrace_program.h; in the order of the outputs */
	ARGTRACE_LOC_RETURN	= 6,	/* what the function returns, of a probe with ARGTRACE_PROBE_RETURN: up to 8 bytes in rax,
					 * 9 to 16 in rax and rdx, the lower half first (psABI 3.2.3); at most one; none for void
					 * or values returned in memory, unless it is their address, which is in rax */
};

/*
 * Registers that `index` may count, here and in a program, whatever the architecture. Each has fewer: kernel functions of x86-64 are
 * passed 6. A probe with the index of a register that the architecture does not have is refused with -EINVAL.
 */
#define ARGTRACE_REG_MAX	20
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
};

/*
 * One probe, as it is added and as it is listed: this header, then nr_args
 * structs argtrace_arg, then `strings` bytes of NUL-terminated strings (the
 * first is the function's name, followed by a ~ when its prototype was guessed),
 * then `types` bytes that the module only keeps and hands out, then zeros up to a multiple of 8, then
 * `program` bytes (a multiple of 8) of a struct argtrace_program and what follows it.
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
#define ARGTRACE_PROBE_WORDS_MASK	(0xffu << ARGTRACE_PROBE_WORDS_SHIFT)
#define ARGTRACE_RETURN_WORDS_MAX	32	/* words at most */
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

/*
 * Why a call was not recorded. The sum of records, filtered, sampled, capped and all of lost[] is the number of
 * hits, that is of the calls that ftrace has passed to argtrace. If several tracers trace the
 * same function, ftrace itself drops calls that are made within one of them, without counting
 * them.
 */
enum argtrace_lost {
	ARGTRACE_LOST_FULL	= 0,	/* the CPU's ring or map was full; in a flight recorder: of calls in interrupts, see below */
	ARGTRACE_LOST_RECURSION	= 1,	/* the call was made while argtrace opened a packet in the same context, or while the
					 * kernel handled a fault of a program of such a call, and so on, too deep */
	ARGTRACE_LOST_NO_BUFFER	= 2,	/* the CPU came after the session or the map was made, and there was no memory for its ring or its
					 * slots */
};

#define ARGTRACE_LOST_COUNT	3	/* causes known to this version */
#define ARGTRACE_LOST_MAX	5	/* room for them in argtrace_counts */

struct argtrace_counts {
	__u32	id;			/* the probe */
	__u32	flags;			/* ARGTRACE_PROBE_* */
	__u64	records;		/* calls written to a ring, overwritten since or not; or aggregated: see enum argtrace_sink */
	__u64	filtered;		/* calls that the session's filter or the program's rejected */
	__u64	lost[ARGTRACE_LOST_MAX];
	__u64	sampled;		/* calls that argtrace_program.sample left out */
	__u64	capped;			/* calls that argtrace_program.max_rate left out */
	__u64	faults;			/* calls whose filter or values met memory that could not be read */
};

/*
 * Why the return of a call was not followed, or not completely. The number of hits of a probe with ARGTRACE_PROBE_RETURN is that
 * of struct argtrace_counts, plus in_flight, plus all of unfollowed[].
 */
enum argtrace_unfollowed {
	ARGTRACE_UNFOLLOWED_STACK	= 0,	/* less than half of the task's stack was left, or too many such calls were nested in an
						 * interrupt */
	ARGTRACE_UNFOLLOWED_TAKEN	= 1,	/* the call was redirected by something else: a live patch, a BPF program that was
						 * attached before, another session of argtrace that follows returns of the function */
	ARGTRACE_UNFOLLOWED_REMOVED	= 2,	/* the probe was removed meanwhile */
	ARGTRACE_UNFOLLOWED_EXITED	= 3,	/* the task ended within the call */
	ARGTRACE_UNFOLLOWED_MISSED	= 4,	/* the kernel's fprobe or kretprobe had no free instance, or was already running */
};

#define ARGTRACE_UNFOLLOWED_COUNT	5	/* reasons known to this version */
#define ARGTRACE_UNFOLLOWED_MAX		7	/* room for them */

struct argtrace_return_counts {
	struct argtrace_counts counts;
	__u64	in_flight;		/* calls that have not returned yet */
	__u64	unfollowed[ARGTRACE_UNFOLLOWED_MAX];
};

/* ARGTRACE_IOC_INFO: needs no session. */
struct argtrace_info {
	__u32	size;
	__u32	api_version;		/* out, all of these */
	__u32	record_version;
	__u32	max_args;		/* arguments a probe may have */
	__u64	features;		/* ARGTRACE_FEATURE_* */
	__u64	memory_limit;		/* bytes that all sessions together may take (module parameter memory_limit_mb) */
	__u64	memory_used;
	__u32	max_probes;		/* probes a session may hold, removed ones included */
	__u32	max_strings;		/* bytes of a probe's string table */
	__u32	max_types;		/* bytes of its types */
	__u32	packet_size_min;
	__u32	packet_size_max;
	__u32	nr_packets_max;		/* packets per CPU */
	__u32	nr_cpus;		/* CPU numbers run from 0 to nr_cpus - 1 */
	__u32	nr_sessions;		/* named and nameless */
	char	module_version[32];
	__u32	authority;		/* ARGTRACE_MAY_* of the caller */
	__u32	reserved;
	__u64	in_flight;		/* calls that have not returned yet, of probes that have been removed or have gone with
					 * their sessions, and for which the module has to stay */
};

#define ARGTRACE_MAY_TRACE		(1u << 0)
#define ARGTRACE_MAY_READ_MEMORY	(1u << 1) /* in probes: ARGTRACE_LOC_STACK, and programs that read memory */

#define ARGTRACE_FEATURE_NAMED	(1ull << 0) /* the named encoding */
#define ARGTRACE_FEATURE_FLIGHT	(1ull << 1) /* flight recorders */
#define ARGTRACE_FEATURE_PROGRAM (1ull << 2) /* programs */
#define ARGTRACE_FEATURE_RETURN	(1ull << 3) /* ARGTRACE_PROBE_RETURN */
#define ARGTRACE_FEATURE_MAP	(1ull << 4) /* maps, and sinks other than records */
#define ARGTRACE_FEATURE_STACK	(1ull << 5) /* kernel stacks */
#define ARGTRACE_FEATURE_TRACEPOINT (1ull << 6) /* ARGTRACE_KIND_TRACEPOINT */
#define ARGTRACE_FEATURE_SYSCALL (1ull << 7) /* ARGTRACE_KIND_SYSCALL */
#define ARGTRACE_FEATURE_TSC	(1ull << 8) /* the TSC may be the clock, and is the best one */
#define ARGTRACE_FEATURE_FPROBE	(1ull << 9) /* ARGTRACE_PROBE_BY_FPROBE */
#define ARGTRACE_FEATURE_KRETPROBE (1ull << 10) /* ARGTRACE_PROBE_BY_KRETPROBE */
#define ARGTRACE_FEATURE_TIMER	(1ull << 11) /* ARGTRACE_KIND_TIMER */

/*
 * ARGTRACE_IOC_SESSION: binds the file to a session, once (-EBUSY after that).
 * A nameless session (name[0] == 0) is made for this file and ends with it. A
 * named one is attached to, or made if CREATE is set, and exists until it is
 * removed or the module is unloaded. On return, the struct describes the session
 * as it is, whoever made it.
 *
 * -ENOENT no session has that name (without CREATE), -ENOMEM no memory, -ENOSPC
 * the module's memory limit would be exceeded.
 */
struct argtrace_session_attr {
	__u32	size;
	__u32	flags;			/* ARGTRACE_SESSION_*; out: FLIGHT as it is */
	__u32	format;			/* ARGTRACE_FORMAT_*; when made */
	__u32	clock;			/* ARGTRACE_CLOCK_*; when made */
	__u32	packet_size;		/* bytes, a power of two; 0 is 64 KiB; when made */
	__u32	nr_packets;		/* per CPU, a power of two, at least 2; when made; 0 is 64, and less
					 * on more than 32 CPUs, which together take no more than 32 then */
	__u32	nr_cpus;		/* out: rings run from CPU 0 to nr_cpus - 1 (some may be absent) */
	__u32	reserved;
	char	name[ARGTRACE_NAME_LEN];
};

#define ARGTRACE_SESSION_CREATE		(1u << 0)
#define ARGTRACE_SESSION_FLIGHT		(1u << 1) /* a flight recorder; when made */

/*
 * What happens when a ring is full. In a stream, new records are lost until the reader moves
 * its tail. In a flight recorder the oldest packet is overwritten; its records are counted in
 * argtrace_ring_control.overwritten, and remain counted as records. A flight recorder has no
 * reader and no tail: any number of files bound to the session map PACKETS and copy packets
 * while they are overwritten, see struct argtrace_packet. It loses records
 * (ARGTRACE_LOST_FULL) only if interrupts fill the whole ring while one call is being recorded.
 */

#define ARGTRACE_FORMAT_NAMED		(1u << 0) /* named encoding instead of compact */
#define ARGTRACE_FORMAT_NO_CALLER	(1u << 1) /* records without the caller's address */

/*
 * Clocks. The TSC is read raw, as user space reads it with RDTSC. It is the best clock if the
 * kernel's own clocksource is the TSC, or if the processor reports that it is constant and
 * never stops and the kernel has not found it unstable; otherwise it is refused with
 * -EOPNOTSUPP. Each packet says how to convert it to CLOCK_MONOTONIC.
 */
#define ARGTRACE_CLOCK_MONOTONIC	0	/* ns of CLOCK_MONOTONIC (ktime_get_mono_fast_ns) */
#define ARGTRACE_CLOCK_TSC		1	/* ticks of the time stamp counter */
#define ARGTRACE_CLOCK_BEST		0xffffffffu /* TSC, or else MONOTONIC; when made */

/*
 * ARGTRACE_IOC_SESSION_REMOVE: disarms a named session and removes its name.
 * Files that are bound to it stay bound, poll() reports POLLHUP for them, and it
 * is freed with the last of them. -ENOENT.
 */
struct argtrace_session_remove {
	__u32	size;
	__u32	flags;			/* 0 */
	char	name[ARGTRACE_NAME_LEN];
};

/*
 * ARGTRACE_IOC_PROBE_ADD: adds all of `count` probes, or none. They are traced
 * from some moment during the call. -EINVAL a malformed probe or an address at
 * which no traceable function begins, -EEXIST an address that is in the session
 * already or twice in the list, -E2BIG too many probes, a record that would not
 * fit a packet or a program that may cost too much, -ENOSPC the memory limit, -ENOENT
 * the session has been removed, -EBUSY ftrace is switched off (sysctl
 * kernel.ftrace_enabled), -ENODEV ftrace has shut itself down, -ESHUTDOWN the module is being unloaded and follows no more
 * calls, -EPERM an argument in memory, which the caller may not read. `failed` is the index of the probe that was
 * refused, if it was a single one, else `count`.
 */
struct argtrace_probe_add {
	__u32	size;
	__u32	flags;			/* 0 */
	__u64	probes;			/* address of the probes, one after the other */
	__u64	length;			/* of all of them, in bytes */
	__u32	count;
	__u32	failed;			/* out */
	__u64	cost;			/* out, with -E2BIG: that of the program of the probe `failed`, if it is more than
					 * ARGTRACE_COST_MAX; else 0 */
};

/*
 * ARGTRACE_IOC_PROBE_REMOVE: removes the probes of one kind at `count` addresses, or none:
 * -ENOENT if one is not there (`failed` is its index), -EINVAL no such kind. With ALL the probes of all kinds are removed; the
 * list must be empty, and the kind 0. Once it returns, no further record of these probes is written. -ENOMEM no memory: some of them
 * may have been removed, as PROBE_LIST then says, and the others are traced as before. ALL takes none.
 */
struct argtrace_probe_remove {
	__u32	size;
	__u32	flags;			/* ARGTRACE_REMOVE_* */
	__u64	addrs;			/* address of __u64[count], as in argtrace_probe.addr */
	__u32	count;
	__u32	failed;			/* out */
	__u16	kind;			/* enum argtrace_kind, as in argtrace_probe */
	__u16	reserved[3];
};

#define ARGTRACE_REMOVE_ALL	(1u << 0)

/*
 * ARGTRACE_IOC_PROBE_LIST: the session's probes with id >= first in the order of
 * their ids, as many as fit whole into `length` bytes, or into 1 MiB. ARGTRACE_IOC_COUNTS: the
 * same with one struct argtrace_counts each. ARGTRACE_IOC_RETURN_COUNTS: the same with one struct
 * argtrace_return_counts for each probe with ARGTRACE_PROBE_RETURN. Call again with first = next until
 * next is 0.
 */
struct argtrace_list {
	__u32	size;
	__u32	flags;			/* ARGTRACE_LIST_REMOVED: removed probes too */
	__u64	buffer;			/* address to write to */
	__u64	length;			/* room there, in bytes */
	__u32	first;
	__u32	next;			/* out: 0 when the end was reached */
	__u32	count;			/* out: entries written; 0 with next != 0: length is too small for one */
	__u32	generation;		/* out: changes whenever probes are added or removed */
};

#define ARGTRACE_LIST_REMOVED	(1u << 0)

/*
 * ARGTRACE_IOC_READER: makes this file the only reader of the session until it is closed: it may map the reader pages
 * writable. -EBUSY there is another reader, -EINVAL the session is a flight recorder, which has none.
 * EXCLUDE_SELF: calls made by the calling process (its thread group), and by interrupts while it runs, are counted as filtered
 * instead of recorded, so that reading does not feed itself. That ends with the file or the process; a process that reuses the
 * PID is recorded, whoever holds the file by then. With LOOK as well, this is all that happens, in a flight recorder too:
 * -EBUSY another process is excluded. A reader takes that from one who only looks.
 */
struct argtrace_reader {
	__u32	size;
	__u32	flags;
};

#define ARGTRACE_READER_EXCLUDE_SELF	(1u << 0)
#define ARGTRACE_READER_LOOK		(1u << 1)

/*
 * ARGTRACE_IOC_ON_LOAD: a request to add `count` probes each time the kernel loads `module`,
 * before its first function runs. They are validated now, as by PROBE_ADD. Their addr is 0; it
 * becomes that of the module's symbol with the function's name (without the ~ after it), or of
 * the tracepoint that is named by the last part of t:GROUP:NAME. Their kind is KIND_ENTRY or
 * KIND_TRACEPOINT. A name
 * that n symbols share must be given n times; if the module has a different number of them, none
 * of these is added. If both `srcversion` and the module's own are known and differ, nothing is
 * added, since it is another build. The order remains until it or the session is removed; the
 * probes that it has added go with the module. It never makes the loading of a module fail.
 *
 * `module` is the name that the kernel gives it (with `_`, not `-`). -EINVAL a malformed
 * probe or name, -EEXIST a name that another order has for that module, -EOPNOTSUPP a function of that name is one whose return
 * cannot be followed, -E2BIG, -ENOSPC, -ENOENT, -EPERM and `failed` as PROBE_ADD, where probes that wait count as probes.
 */
struct argtrace_on_load {
	__u32	size;
	__u32	flags;			/* 0 */
	__u64	probes;			/* address of the probes, one after the other */
	__u64	length;			/* of all of them, in bytes */
	__u32	count;
	__u32	failed;			/* out */
	char	module[ARGTRACE_MODULE_LEN];
	char	srcversion[ARGTRACE_SRCVERSION_LEN];	/* of the build that they are for; "" if it is not known */
	__u64	cost;			/* out, as in struct argtrace_probe_add */
};

/*
 * ARGTRACE_IOC_ON_LOAD_REMOVE: removes the orders for `module`, or with ALL (and no name) all
 * orders of the session. What they have added remains. -ENOENT there are none.
 */
struct argtrace_on_load_remove {
	__u32	size;
	__u32	flags;			/* ARGTRACE_REMOVE_ALL */
	char	module[ARGTRACE_MODULE_LEN];
};

/*
 * ARGTRACE_IOC_ON_LOAD_LIST: the session's orders with id >= first, listed as struct
 * argtrace_list describes it, one of these for each. flags and generation are 0.
 */
struct argtrace_on_load_order {
	__u32	id;
	__u32	count;			/* probes */
	__u32	loads;			/* how often the module has been loaded since */
	__u32	other_builds;		/* how many of these loads were of another build, for which nothing is added */
	/* The result of the last load: */
	__u32	armed;			/* added */
	__u32	absent;			/* the module had no such function, or another number of that name */
	__u32	refused;		/* ftrace does not trace them */
	__s32	error;			/* why none was added: -ENOMEM, -ENOSPC, -E2BIG, -EBUSY, -ENODEV, -ESHUTDOWN; else 0 */
	char	module[ARGTRACE_MODULE_LEN];
	char	srcversion[ARGTRACE_SRCVERSION_LEN];
};

/*
 * ARGTRACE_IOC_PROCESSES: from now on the session records the calls of these `count` processes and
 * of no others, in place of those set before; calls of others count as filtered. With a count of 0
 * (and no flags) it records the calls of all processes. A process is a thread group, named by its
 * PID in the PID namespace of the caller. A call in an interrupt belongs to the interrupted
 * process. With CHILDREN, the processes that these start from now on are recorded as well, and
 * those that they start in turn. When a process has ended, a process that reuses the PID is not
 * recorded. With EXCLUDE it is the other way round: the calls of these processes count as filtered,
 * and those of all others are recorded.
 *
 * -ESRCH a number that is no process (`failed` is its index, else `count`), -E2BIG more than
 * ARGTRACE_PROCESSES_MAX, -ENOSPC the memory limit, -ENOENT the session has been removed,
 * -EBUSY it has probes already, and either had no processes before or would have none now: that
 * must be decided before the first probe is added.
 *
 * ARGTRACE_IOC_PROCESSES_LIST: what PROCESSES has set last. `count` is how many numbers there is
 * room for, and on return how many there are; `failed` is 0, flags are 0 or INITIAL, and on return flags are as
 * they were set. A process that is not in the caller's PID namespace has the number 0. With INITIAL numbers
 * are those of the initial PID namespace, which records, $pid and $tid have. A returned
 * count of 0 means that the calls of all processes are recorded.
 */
struct argtrace_process_filter {
	__u32	size;
	__u32	flags;			/* ARGTRACE_PROCESSES_*; LIST: out */
	__u64	pids;			/* address of __u32[count] */
	__u32	count;			/* LIST: also out */
	__u32	failed;			/* out */
};

#define ARGTRACE_PROCESSES_CHILDREN	(1u << 0)
#define ARGTRACE_PROCESSES_EXCLUDE	(1u << 1)
#define ARGTRACE_PROCESSES_INITIAL	(1u << 2) /* LIST: in */

/*
 * ARGTRACE_IOC_SYMBOL: which function of the kernel or of a module is at `addr` now, as the
 * kernel's own messages name it (sprint_symbol()): "NAME+0xOFFSET/0xSIZE", followed by
 * " [MODULE]" if it is a module's, and "0xADDR" where there is none. Needs no session.
 */
struct argtrace_symbol {
	__u32	size;
	__u32	flags;			/* 0 */
	__u64	addr;
	char	text[ARGTRACE_SYMBOL_LEN];	/* out; NUL-terminated */
};

/*
 * ARGTRACE_IOC_IN_FLIGHT: the calls of the session's probes with ARGTRACE_PROBE_RETURN that have not returned, one by one, as they are
 * found on the stacks of all tasks: as many struct argtrace_in_flight_call as fit whole into `length` bytes, or into 1 MiB. Those of a
 * task follow one another, the innermost first. Each of them had begun and had not returned when its task was looked at, which is
 * after `clock`. What is not found, but is in argtrace_return_counts.in_flight: calls that the kernel follows for us
 * (ARGTRACE_PROBE_BY_FPROBE, ARGTRACE_PROBE_BY_KRETPROBE), those on their way into the function or out of it, those of the idle tasks,
 * and those of `missed` tasks, which did not stand still for long enough. -EINVAL flags or what is to be filled in is not 0.
 */
struct argtrace_in_flight {
	__u32	size;
	__u32	flags;			/* 0 */
	__u64	buffer;			/* address to write to */
	__u64	length;			/* room there, in bytes */
	__u32	count;			/* out: calls written */
	__u32	found;			/* out: calls there are; more than `count`: length is too small */
	__u32	missed;			/* out: tasks */
	__u32	mult;			/* out: of one unit of the clock, as in struct argtrace_packet */
	__u64	clock;			/* out: the session's, before the first task was looked at */
	__u64	ns;			/* out: CLOCK_MONOTONIC then */
};

struct argtrace_in_flight_call {
	__u32	id;			/* the probe */
	__u32	tid;
	__u32	tgid;
	__u8	nr_regs;		/* those that the architecture has */
	__u8	reserved;
	__u8	context;		/* ARGTRACE_CTX_*, as in struct argtrace_record */
	__u8	preempt;
	__u64	clock;			/* the session's, when the call began */
	__u64	caller;			/* return address */
	char	comm[ARGTRACE_COMM_LEN];
	__u64	regs[ARGTRACE_REG_MAX];	/* the argument registers, as they were at entry; then zeros */
};

/*
 * The encoded argument is the leading size, so that a number stays when its struct grows.
 * PROBE_ADD to PROCESSES_LIST, MAP, STACKS and IN_FLIGHT need a session: -EBADFD without one, also from mmap.
 */
#define ARGTRACE_IOC_MAGIC		0xA8
#define ARGTRACE_IOC_INFO		_IOWR(ARGTRACE_IOC_MAGIC, 0, __u32)
#define ARGTRACE_IOC_SESSION		_IOWR(ARGTRACE_IOC_MAGIC, 1, __u32)
#define ARGTRACE_IOC_SESSION_REMOVE	_IOW(ARGTRACE_IOC_MAGIC, 2, __u32)
#define ARGTRACE_IOC_PROBE_ADD		_IOWR(ARGTRACE_IOC_MAGIC, 3, __u32)
#define ARGTRACE_IOC_PROBE_REMOVE	_IOWR(ARGTRACE_IOC_MAGIC, 4, __u32)
#define ARGTRACE_IOC_PROBE_LIST		_IOWR(ARGTRACE_IOC_MAGIC, 5, __u32)
#define ARGTRACE_IOC_COUNTS		_IOWR(ARGTRACE_IOC_MAGIC, 6, __u32)
#define ARGTRACE_IOC_READER		_IOW(ARGTRACE_IOC_MAGIC, 7, __u32)
#define ARGTRACE_IOC_ON_LOAD		_IOWR(ARGTRACE_IOC_MAGIC, 8, __u32)
#define ARGTRACE_IOC_ON_LOAD_REMOVE	_IOW(ARGTRACE_IOC_MAGIC, 9, __u32)
#define ARGTRACE_IOC_ON_LOAD_LIST	_IOWR(ARGTRACE_IOC_MAGIC, 10, __u32)
#define ARGTRACE_IOC_RETURN_COUNTS	_IOWR(ARGTRACE_IOC_MAGIC, 11, __u32)
#define ARGTRACE_IOC_PROCESSES		_IOWR(ARGTRACE_IOC_MAGIC, 12, __u32)
#define ARGTRACE_IOC_PROCESSES_LIST	_IOWR(ARGTRACE_IOC_MAGIC, 13, __u32)
#define ARGTRACE_IOC_SYMBOL		_IOWR(ARGTRACE_IOC_MAGIC, 14, __u32)
#define ARGTRACE_IOC_MAP		_IOWR(ARGTRACE_IOC_MAGIC, 15, __u32)
#define ARGTRACE_IOC_STACKS		_IOWR(ARGTRACE_IOC_MAGIC, 16, __u32)
#define ARGTRACE_IOC_IN_FLIGHT		_IOWR(ARGTRACE_IOC_MAGIC, 17, __u32)

/*
 * mmap, always with MAP_SHARED. An offset names a CPU and one of its regions, of which there
 * can be 16; these are in use:
 *
 *   READER   one page, struct argtrace_ring_reader: user space writes it. Only
 *            the session's reader may map it; a flight recorder has none.
 *   PACKETS  one page, struct argtrace_ring_control, then nr_packets packets of
 *            packet_size bytes: the kernel writes them, they cannot be mapped
 *            writable. A file opened with O_RDONLY can map them.
 *   STACKS   the table of stacks (argtrace_stack.h). The kernel writes it, it cannot be mapped writable. A file opened
 *            with O_RDONLY can map it.
 *   MAP      and the id of a map: its slots (argtrace_map.h). The kernel writes them, they cannot be mapped
 *            writable. A file opened with O_RDONLY can map them.
 *
 * -EINVAL no such region or map, -ENXIO no ring for that CPU, or no slots. The CPUs that are present when a session or a map is made
 * have them from then on, others from when they come, unless there is no memory for them. They stay when their CPU goes.
 *
 * poll() of a file that is bound to a session reports POLLIN while the rings hold what their reader has not
 * released, POLLHUP once the session has been removed, and POLLPRI when a CPU has got a ring or slots, or probes have been added
 * or removed, also because their module came or went, since the file was bound to the session or poll() last reported
 * it. A ring is reported before its CPU runs anything.
 *
 * Positions count bytes and never wrap: position p is in packet
 * (p / packet_size) % nr_packets at offset p % packet_size. Each packet begins
 * with a struct argtrace_packet, which positions count as well.
 */
#define ARGTRACE_MMAP_READER	0
#define ARGTRACE_MMAP_PACKETS	1
#define ARGTRACE_MMAP_STACKS	2
#define ARGTRACE_MMAP_MAP	8	/* to 15 */
#define ARGTRACE_MMAP_REGION_BITS	4
#define ARGTRACE_MMAP_OFFSET(cpu, region) \
	((((__u64)(cpu) << ARGTRACE_MMAP_REGION_BITS) | (__u64)(region)) << 32)

struct argtrace_ring_control {
	/* Everything before this position is complete. Read it with acquire. */
	__u64	head;
	/*
	 * Writers that are active on this CPU, and the position up to which they have reserved.
	 * Read the clock, then active, reserve and head, in this order and each with
	 * acquire: if active was 0 and reserve not above head, then every record older
	 * than that clock by more than ARGTRACE_CLOCK_SLACK is before head. (A writer's
	 * first store may become visible a little after it has read its clock.)
	 */
	__u64	reserve;
	__u32	active;
	__u32	reserved;
	__u64	lost;		/* records lost on this CPU so far because the ring was full */
	__u64	overwritten;	/* in a flight recorder: records overwritten on this CPU so far */
};

#define ARGTRACE_CLOCK_SLACK	100000u	/* units of the clock */

struct argtrace_ring_reader {
	/* Everything before this position may be overwritten. Write it with release. */
	__u64	tail;
};

/*
 * A packet. While it is the newest in a ring, `used` is meaningless and its records
 * end at argtrace_ring_control.head. A record never crosses the end of a packet.
 *
 * In a flight recorder it may be overwritten at any time, except that the packet which contains
 * head - 1 and those after it are not overwritten while a writer is active on that CPU. seq is the
 * first field that changes: before any other byte of a packet is overwritten, its seq is that of
 * the next packet there. So read head with acquire, copy, and after an acquire fence read seq in
 * the ring again. If it is the same, what was copied before head is valid; if not, discard
 * the whole copy. After a writer has left, the nr_packets newest packets hold all records that are
 * not counted as overwritten.
 */
struct argtrace_packet {
	__u32	magic;		/* ARGTRACE_PACKET_MAGIC */
	__u16	version;	/* ARGTRACE_RECORD_VERSION */
	__u16	header;		/* bytes of this header: records begin there */
	__u32	size;		/* of the packet */
	__u32	used;		/* bytes used, header included; once a newer packet follows */
	__u64	seq;		/* position / size: counts the CPU's packets from 0 */
	__u64	clock;		/* of the first record, full width */
	__u64	lost;		/* argtrace_ring_control.lost when the packet was opened */
	__u32	cpu;
	__u32	format;		/* ARGTRACE_FORMAT_* */
	__u32	clock_id;	/* ARGTRACE_CLOCK_* */
	__u32	mult;		/* of one unit of the clock: ns << ARGTRACE_MULT_SHIFT */
	__u64	ns;		/* CLOCK_MONOTONIC when the clock was `clock` */
};

#define ARGTRACE_PACKET_MAGIC	0x50475241u	/* "ARGP" */
#define ARGTRACE_MULT_SHIFT	31

/*
 * The time in nanoseconds of CLOCK_MONOTONIC, from the clock, ns and mult of the packet, or the
 * clock and ns of the last CLOCK record before: ns + ((full clock - clock) * mult >>
 * ARGTRACE_MULT_SHIFT), where the difference is signed. If the clock is CLOCK_MONOTONIC, that is
 * the clock itself.
 *
 * The error, if it is the TSC, is a microsecond for reading both clocks at one moment, and what
 * they drift apart until the next such moment, which is less than 2^32 ticks away: `mult` was
 * measured when the session was made, to a few parts per million, against a CLOCK_MONOTONIC that
 * adjtimex() may since have made faster or slower (by 500 ppm at most, commonly by less than
 * one). While calls are frequent so are packets, and the error stays below two microseconds.
 * Across such a moment the converted times of one CPU may step back by as much; a reader shows
 * the later of the two. When a hypervisor moves the guest to another machine, or the kernel finds
 * the TSC unstable, there is a step as well.
 */

/*
 * A record, aligned to 8 bytes. For a probe's id it is followed by the caller's
 * address (__u64, unless NO_CALLER) and then by the arguments in order:
 *
 *   compact  the data alone, one after the other without padding
 *   named    char name[] with its NUL, __u8 type, data; the list is closed by
 *            an empty name and type 0 (two zero bytes)
 *
 * Outputs of the probe's program, which are not in the named encoding (-EINVAL), come after all
 * other arguments, and after a __u64 in which bit n says that output n could not be read: its data
 * is as many zeros as it has bytes at least, and no value.
 *
 * What follows that in the record is padding, and meaningless, zeros or what an older record had there: up to a multiple of 8, and more in a record whose writer did not know
 * its size beforehand and was interrupted by other writers.
 *
 * The record of a probe with ARGTRACE_PROBE_RETURN is written when the call returns, and clock is that moment. The arguments
 * are those at entry, and so are the caller and the context. Between the caller's address and the arguments there is a __u64
 * with the duration of the call in units of the clock, so that the call began at the record's clock minus that. The return value
 * (ARGTRACE_LOC_RETURN) comes after the arguments, wherever it is among them.
 *
 * clock holds the low 32 bits. The upper ones are those of the packet's clock, or of the last
 * CLOCK record before it in the packet.
 */
struct argtrace_record {
	__u32	clock;
	__u32	tid;
	__u32	id;		/* a probe's, or ARGTRACE_ID_* */
	__u16	size;		/* of the whole record, a multiple of 8 */
	__u8	context;	/* ARGTRACE_CTX_* */
	__u8	preempt;	/* preempt_disable() depth of the caller */
};

#define ARGTRACE_ID_MAX		0xefffffffu	/* higher ids are not probes: skip those that you do not know */
#define ARGTRACE_ID_UNREADABLE	0xf0000000u	/* plus the id of a probe: see below */
#define ARGTRACE_ID_CLOCK	0xffffffffu	/* struct argtrace_now: the upper half of the clock is another */
#define ARGTRACE_ID_TASK	0xfffffffeu	/* struct argtrace_task: the process of tid from here on */

/*
 * A record with the id ARGTRACE_ID_UNREADABLE + id belongs to the probe `id`, and the stack could not be read
 * as far as the probe's descriptors go. Of the arguments on the stack (LOC_STACK), the one that ends highest,
 * or the first of several such, has as the first byte of its data (in BYTES after the length) the number of
 * words that could be read, of 8 bytes each, from the stack pointer on. An argument that ends above these was
 * not read, and its data is meaningless. Everything else in the record is as usual.
 */
#define ARGTRACE_ID_UNREADABLE_MAX	0xf7ffffffu	/* the highest of these ids */

/* The probe that a record's id names; 0: it is not the record of a call. */
static __inline__ __u32 argtrace_record_probe(__u32 id)
{
	if (id >= ARGTRACE_ID_UNREADABLE && id <= ARGTRACE_ID_UNREADABLE_MAX)
		return id - ARGTRACE_ID_UNREADABLE;
	return id <= ARGTRACE_ID_MAX ? id : 0;
}

struct argtrace_task {
	__u32	tgid;
	__u32	reserved;
	char	comm[ARGTRACE_COMM_LEN];
};

struct argtrace_now {
	__u64	clock;		/* full */
	__u64	ns;		/* CLOCK_MONOTONIC at that moment */
};

/*
 * The bits of TRACE_FLAG_* in include/linux/trace_events.h, which ftrace shows. A new bit does not
 * raise ARGTRACE_RECORD_VERSION: decoders ignore bits that they do not know.
 */
#define ARGTRACE_CTX_IRQS_OFF		0x01
#define ARGTRACE_CTX_NEED_RESCHED_LAZY	0x02	/* TIF_NEED_RESCHED_LAZY, Linux >= 6.13 */
#define ARGTRACE_CTX_NEED_RESCHED	0x04	/* TIF_NEED_RESCHED */
#define ARGTRACE_CTX_HARDIRQ		0x08
#define ARGTRACE_CTX_SOFTIRQ		0x10
#define ARGTRACE_CTX_PREEMPT_RESCHED	0x20	/* PREEMPT_NEED_RESCHED */
#define ARGTRACE_CTX_NMI		0x40
#define ARGTRACE_CTX_BH_OFF		0x80

/* The sizes of the first version of each struct, which are the smallest that the module accepts. */
#define ARGTRACE_INFO_SIZE_V1		104
#define ARGTRACE_SESSION_SIZE_V1	64
#define ARGTRACE_SESSION_REMOVE_SIZE_V1	40
#define ARGTRACE_PROBE_ADD_SIZE_V1	32
#define ARGTRACE_PROBE_REMOVE_SIZE_V1	24
#define ARGTRACE_LIST_SIZE_V1		40
#define ARGTRACE_READER_SIZE_V1		8
#define ARGTRACE_ON_LOAD_SIZE_V1	128
#define ARGTRACE_ON_LOAD_REMOVE_SIZE_V1	72
#define ARGTRACE_PROCESS_FILTER_SIZE_V1	24
#define ARGTRACE_SYMBOL_SIZE_V1		768
#define ARGTRACE_MAP_SIZE_V1		48
#define ARGTRACE_STACKS_SIZE_V1		24
#define ARGTRACE_IN_FLIGHT_SIZE_V1	56

#ifdef __cplusplus
#define ARGTRACE_SIZE_ASSERT(what, bytes) static_assert(sizeof(what) == (bytes), #what)
#else
#define ARGTRACE_SIZE_ASSERT(what, bytes) _Static_assert(sizeof(what) == (bytes), #what)
#endif
ARGTRACE_SIZE_ASSERT(struct argtrace_arg, 16);
ARGTRACE_SIZE_ASSERT(struct argtrace_probe, 32);
ARGTRACE_SIZE_ASSERT(struct argtrace_counts, 88);
ARGTRACE_SIZE_ASSERT(struct argtrace_return_counts, 152);
ARGTRACE_SIZE_ASSERT(struct argtrace_info, 120);
ARGTRACE_SIZE_ASSERT(struct argtrace_session_attr, ARGTRACE_SESSION_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_session_remove, ARGTRACE_SESSION_REMOVE_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_probe_add, 40);
ARGTRACE_SIZE_ASSERT(struct argtrace_probe_remove, 32);
ARGTRACE_SIZE_ASSERT(struct argtrace_list, ARGTRACE_LIST_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_reader, ARGTRACE_READER_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_on_load, 136);
ARGTRACE_SIZE_ASSERT(struct argtrace_on_load_remove, ARGTRACE_ON_LOAD_REMOVE_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_on_load_order, 128);
ARGTRACE_SIZE_ASSERT(struct argtrace_process_filter, ARGTRACE_PROCESS_FILTER_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_symbol, ARGTRACE_SYMBOL_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_map, ARGTRACE_MAP_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_in_flight, ARGTRACE_IN_FLIGHT_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_in_flight_call, 208);
ARGTRACE_SIZE_ASSERT(struct argtrace_map_slot, ARGTRACE_MAP_SLOT_KEY_VALUE);
ARGTRACE_SIZE_ASSERT(struct argtrace_ring_control, 40);
ARGTRACE_SIZE_ASSERT(struct argtrace_ring_reader, 8);
ARGTRACE_SIZE_ASSERT(struct argtrace_packet, 64);
ARGTRACE_SIZE_ASSERT(struct argtrace_record, 16);
ARGTRACE_SIZE_ASSERT(struct argtrace_task, 24);
ARGTRACE_SIZE_ASSERT(struct argtrace_now, 16);

#endif /* _UAPI_ARGTRACE_H */
