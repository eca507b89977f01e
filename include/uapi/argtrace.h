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
 *   caller            SYMBOL PROBE_LIST IN_FLIGHT OBJECTS, SESSION of a name without CREATE
 *   caller, writable  all others: SESSION and STACKS that make something, SESSION_REMOVE PROBE_ADD PROBE_REMOVE READER
 *                     ON_LOAD ON_LOAD_REMOVE PROCESSES MAP OBJECT_OPEN UNWIND USER_FILE
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

#include "argtrace_count.h"
#include "argtrace_in_flight.h"
#include "argtrace_map.h"
#include "argtrace_on_load.h"
#include "argtrace_probe.h"
#include "argtrace_program.h"
#include "argtrace_record.h"
#include "argtrace_ring.h"
#include "argtrace_session.h"
#include "argtrace_stack.h"
#include "argtrace_timer.h"
#include "argtrace_user.h"
#include "argtrace_user_file.h"

#define ARGTRACE_API_VERSION	4
#define ARGTRACE_RECORD_VERSION	1

#define ARGTRACE_DEVICE		"/dev/argtrace"

#define ARGTRACE_SYMBOL_LEN	752	/* the text that SYMBOL returns, with its NUL */

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
#define ARGTRACE_FEATURE_USER_STACK (1ull << 12) /* user stacks */
#define ARGTRACE_FEATURE_USER	(1ull << 13) /* ARGTRACE_KIND_USER */

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
 * The encoded argument is the leading size, so that a number stays when its struct grows.
 * PROBE_ADD to PROCESSES_LIST, and MAP to USER_FILE, need a session: -EBADFD without one, also from mmap.
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
#define ARGTRACE_IOC_OBJECTS		_IOWR(ARGTRACE_IOC_MAGIC, 18, __u32)
#define ARGTRACE_IOC_OBJECT_OPEN	_IOW(ARGTRACE_IOC_MAGIC, 19, __u32)
#define ARGTRACE_IOC_UNWIND		_IOW(ARGTRACE_IOC_MAGIC, 20, __u32)
#define ARGTRACE_IOC_USER_FILE		_IOWR(ARGTRACE_IOC_MAGIC, 21, __u32)

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
#define ARGTRACE_OBJECTS_SIZE_V1	64
#define ARGTRACE_OBJECT_OPEN_SIZE_V1	16
#define ARGTRACE_UNWIND_SIZE_V1		40
#define ARGTRACE_USER_FILE_SIZE_V1	24

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
ARGTRACE_SIZE_ASSERT(struct argtrace_objects, ARGTRACE_OBJECTS_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_object, 40);
ARGTRACE_SIZE_ASSERT(struct argtrace_object_open, 32);
ARGTRACE_SIZE_ASSERT(struct argtrace_unwind, ARGTRACE_UNWIND_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_user_file, ARGTRACE_USER_FILE_SIZE_V1);
ARGTRACE_SIZE_ASSERT(struct argtrace_unwind_rule, 40);
ARGTRACE_SIZE_ASSERT(struct argtrace_unwind_row, 8);
ARGTRACE_SIZE_ASSERT(struct argtrace_map_slot, ARGTRACE_MAP_SLOT_KEY_VALUE);
ARGTRACE_SIZE_ASSERT(struct argtrace_ring_control, 40);
ARGTRACE_SIZE_ASSERT(struct argtrace_ring_reader, 8);
ARGTRACE_SIZE_ASSERT(struct argtrace_packet, 64);
ARGTRACE_SIZE_ASSERT(struct argtrace_record, 16);
ARGTRACE_SIZE_ASSERT(struct argtrace_task, 24);
ARGTRACE_SIZE_ASSERT(struct argtrace_now, 16);

#endif /* _UAPI_ARGTRACE_H */
