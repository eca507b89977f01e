/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: calls that have not returned. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_IN_FLIGHT_H
#define _UAPI_ARGTRACE_IN_FLIGHT_H

#include <linux/types.h>

#include "argtrace_probe.h"
#include "argtrace_record.h"

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

#define ARGTRACE_IN_FLIGHT_REGS	20

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
	__u64	regs[ARGTRACE_IN_FLIGHT_REGS];	/* the argument registers, as they were at entry; then zeros */
};

#endif
