/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* argtrace: what is mapped, and the packets of a ring. See argtrace.h. */
#ifndef _UAPI_ARGTRACE_RING_H
#define _UAPI_ARGTRACE_RING_H

#include <linux/types.h>

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
 *   USER_STACKS  the same for user stacks (argtrace_user.h).
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
#define ARGTRACE_MMAP_USER_STACKS	3
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

#endif
