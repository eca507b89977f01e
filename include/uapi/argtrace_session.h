/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: sessions, their clocks, readers and processes. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_SESSION_H
#define _UAPI_ARGTRACE_SESSION_H

#include <linux/types.h>

#define ARGTRACE_NAME_LEN	32	/* session name, with its NUL */
#define ARGTRACE_PROCESSES_MAX	1024	/* in one call of PROCESSES */

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

#endif
