/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: the records in a packet. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_RECORD_H
#define _UAPI_ARGTRACE_RECORD_H

#include <linux/types.h>

#define ARGTRACE_COMM_LEN	16	/* TASK_COMM_LEN, include/linux/sched.h */

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

/*
 * A record with the id ARGTRACE_ID_LEFT + id belongs to the probe `id`, a user function with ARGTRACE_PROBE_RETURN, and to a call that was
 * left in another way than by returning. The record's clock is the moment at which that became known: when another call took its
 * place on the stack, or when its thread or program ended. So the call took no longer than the duration says. What the function
 * returned is not known: the data of ARGTRACE_LOC_RETURN is zeros, and outputs that are computed at the return are marked as those
 * that could not be read.
 */
#define ARGTRACE_ID_LEFT	0xf8000000u	/* plus the id of a probe */
#define ARGTRACE_ID_LEFT_MAX	0xfbffffffu	/* the highest of these ids */

static __inline__ int argtrace_record_is_left(__u32 id)
{
	return id >= ARGTRACE_ID_LEFT && id <= ARGTRACE_ID_LEFT_MAX;
}

/* The probe that a record's id names; 0: it is not the record of a call. */
static __inline__ __u32 argtrace_record_probe(__u32 id)
{
	if (argtrace_record_is_left(id))
		return id - ARGTRACE_ID_LEFT;
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

#endif
