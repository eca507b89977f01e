/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of one CPU, written by that CPU alone, in any context up to NMI.
 *
 *   region of vmalloc memory, mapped read-only by user space:
 *   +---------+-----------------------+-----------------------+-----
 *   | control | packet 0              | packet 1              | ...
 *   | 1 page  | header records unused | header records ...    |
 *   +---------+-----------------------+-----------------------+-----
 *   and one page of its own that user space writes: the reader's tail.
 *
 * A packet is opened where the reader's tail allows it. In a flight recorder nobody is asked: the
 * oldest packet is overwritten. Which of the two it is concerns the opening of packets in
 * argtrace_ring_reserve_slow() alone: a record that goes into an open packet may be written
 * without a further look, as all that has to precede the first byte of a packet has happened
 * before reserve has moved into it. What the fast path has to keep for that: it opens no
 * packet, and it publishes as head no more than what is complete.
 *
 * Positions count bytes and never wrap (include/uapi/argtrace.h). Everything up to
 * control->reserve is taken, everything up to control->head is complete.
 *
 * Writers on one CPU nest: an interrupt or NMI runs to its end before the one it
 * interrupted goes on. So a reservation is one local compare-and-exchange, and
 * whoever finds itself outermost when it ends publishes for all. The steps of
 * ring_reserve() and ring_end() are labelled; what an interrupt between two of them
 * does stands there.
 */
#ifndef ARGTRACE_RING_H
#define ARGTRACE_RING_H

#include <linux/atomic.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

#include "clock.h"
#include "compat.h"
#include "hook.h"
#include "recursion.h"

struct argtrace_session;

struct argtrace_ring {
	/* What a call needs, most of it in one cache line. */
	struct argtrace_ring_control *control;
	u8 *packets;				/* NULL: this CPU has no ring */
	u64 ring_mask;				/* packet_size * nr_packets - 1 */

	/*
	 * Of the newest packet: where it ends, and what has been said in it last, the upper half of
	 * the clock and who runs here. A nested writer may leave them older than they could
	 * be, never newer (they are set behind step C), so that at worst ring_reserve() takes the
	 * slow way once more, and something is said twice.
	 */
	u64 packet_end;
	u64 comm_said[2];
	u32 last_tid;
	u32 clock_high;

	bool waiting;				/* somebody sleeps in poll() until there is data */

	struct argtrace_session *session;

	struct argtrace_ring_reader *reader;	/* never trusted; a flight recorder has none */
	u32 packet_size;			/* a power of two */
	u32 packet_shift;
	u32 format;
	u32 clock;				/* ARGTRACE_CLOCK_* */
	u32 mult;				/* argtrace_packet.mult */
	u32 cpu;
	bool flight;				/* overwrites the oldest packet */
} ____cacheline_aligned;

/* What the slow path of a reservation may put before the caller's record, at most. */
#define ARGTRACE_CLOCK_RECORD	(sizeof(struct argtrace_record) + sizeof(struct argtrace_now))
#define ARGTRACE_TASK_RECORD	(sizeof(struct argtrace_record) + sizeof(struct argtrace_task))
#define ARGTRACE_PACKET_OVERHEAD \
	(sizeof(struct argtrace_packet) + ARGTRACE_CLOCK_RECORD + ARGTRACE_TASK_RECORD)

/*
 * Makes the rings of all present CPUs; returns 0, -ENOMEM or -ENOSPC, and what was
 * charged. packet_size and nr_packets are powers of two, nr_packets >= 2.
 */
int argtrace_rings_create(struct argtrace_ring __percpu *rings, u32 packet_size, u32 nr_packets,
			  u32 format, bool flight, u32 clock, struct argtrace_session *session,
			  u64 *charged);
void argtrace_rings_free(struct argtrace_ring __percpu *rings, u64 charged);

/* Whether there is something for the reader to read. */
bool argtrace_ring_has_data(const struct argtrace_ring *ring);

/*
 * Brings a tail that an earlier reader left in nonsense back to the oldest whole packet;
 * true if it had to. Writers that have read the nonsense may still be at work then:
 * wait for them and repair again.
 */
bool argtrace_ring_repair_tail(struct argtrace_ring *ring);

/* Whether a packet at `start` would overwrite something that lies at `kept` or behind. */
static __always_inline bool argtrace_ring_reaches(const struct argtrace_ring *ring, u64 start,
						  u64 kept)
{
	return start + ring->packet_size - kept > ring->ring_mask + 1;
}

/*
 * Whether there is no room for `size` bytes now, whatever has to precede them. For who has found
 * no room on the fast way: as long as nobody reads, this is what each call comes to, and the slow way
 * would take thrice as long to find the same.
 */
static __always_inline bool argtrace_ring_is_full(const struct argtrace_ring *ring, u32 size)
{
	const u64 at = READ_ONCE(ring->control->reserve);
	const u64 within = at & (ring->packet_size - 1);

	if (ring->flight || (within && within + size <= ring->packet_size))
		return false;
	return argtrace_ring_reaches(ring, ALIGN(at, (u64)ring->packet_size),
				     READ_ONCE(ring->reader->tail));
}

static __always_inline void argtrace_ring_count_lost(struct argtrace_ring *ring)
{
	/* One instruction on x86: whole under interrupts. */
	local_inc((local_t *)&ring->control->lost);
}

/*
 * Where ring_reserve() gives false, between the same ring_begin() and ring_end(). Under the guard:
 * it calls what can be traced. NULL, having counted it: the ring is full.
 */
void *argtrace_ring_reserve_slow(struct argtrace_ring *ring, u32 size, u64 *clock);

static __always_inline bool argtrace_ring_task_changed(const struct argtrace_ring *ring,
						       const struct task_struct *task, u32 tid)
{
	/* Aligned as it is: pointers precede it. It may be changing, and then is seen to have later. */
	const u64 *comm = (const u64 *)task->comm;

	return ring->last_tid != tid || ring->comm_said[0] != comm[0] ||
	       ring->comm_said[1] != comm[1];
}

/* Enters the ring; preemption is off. Always paired with ring_end(). */
static __always_inline void argtrace_ring_begin(struct argtrace_ring_control *control)
{
	/*
	 * An interrupt here adds and takes away the same: no need to be atomic. Not WRITE_ONCE(), which
	 * would make three instructions of one.
	 */
	barrier();
	control->active++;
	barrier();
}

/*
 * Takes `size` bytes (a multiple of 8, at most packet_size - PACKET_OVERHEAD) and
 * says where and when (the low half: the upper one has been said); false where it takes more.
 *
 *   A  read the position
 *   B  read the clock
 *   C  compare and exchange the position
 *
 * A nested writer between A and C moves the position and C fails: all is done
 * again, in ring_reserve_slow(). So who succeeds at C has read the clock after everyone before it
 * in the ring: times never decrease along it (as far as the clock itself does not; the TSC is read
 * without a fence, so that the processor may read it a few instructions early).
 *
 * The position is never at a packet's begin here: packet_end is set when the packet has been
 * opened.
 */
static __always_inline bool argtrace_ring_reserve(struct argtrace_ring *ring,
						  struct argtrace_ring_control *control,
						  u32 size, u32 tid, u32 clock_id, u32 *clock,
						  u8 **to)
{
	u64 old, end;
	u32 high;

	if (unlikely(argtrace_ring_task_changed(ring, current, tid)))
		return false;
	old = READ_ONCE(control->reserve);					/* A */
	end = old + size;
	if (unlikely(end > ring->packet_end))
		return false;
	barrier();
	ARGTRACE_HOOK(RESERVE_AB);
	if (clock_id == ARGTRACE_CLOCK_TSC) {
		argtrace_clock_tsc(clock, &high);				/* B */
	} else {
		u64 now;

		/* The kernel may read its clock through functions that can be traced. */
		if (unlikely(!argtrace_recursion_enter()))
			return false;
		now = argtrace_clock_read(clock_id);				/* B */
		argtrace_recursion_leave();
		*clock = now;
		high = now >> 32;
	}
	if (unlikely(high != ring->clock_high))
		return false;
	ARGTRACE_HOOK(RESERVE_BC);
	argtrace_use_register_of(high, *clock);
	if (unlikely(!argtrace_try_cmpxchg_local(&control->reserve, old, end))) /* C */
		return false;
	*to = ring->packets + (old & ring->ring_mask);
	return true;
}

/*
 * Leaves the ring; the outermost writer publishes.
 *
 *   D  read how far has been reserved: all of it is complete, as every nested
 *      writer has run to its end
 *   E  publish it. The release pairs with the acquires of RingReader::look()
 *      (user/session/ring_reader.cpp).
 *   F  stop being active
 *   G  look once more
 *
 * A nested writer between D and F leaves publishing to us: G sees its reservation.
 * One after F publishes itself. In between, user space can tell from reserve being
 * ahead of head that something is still to come.
 */
static __always_inline void argtrace_ring_end(struct argtrace_ring_control *control)
{
	u64 reserved;

	barrier();
	/* Nor READ_ONCE() here and at G: the comparison may read memory. */
	if (unlikely(control->active > 1)) {
		barrier();
		control->active--;
		return;
	}
	for (;;) {
		reserved = READ_ONCE(control->reserve);			/* D */
		ARGTRACE_HOOK(END_DE);
		smp_store_release(&control->head, reserved);		/* E */
		ARGTRACE_HOOK(END_EF);
		smp_store_release(&control->active, 0);			/* F */
		barrier();
		ARGTRACE_HOOK(END_FG);
		if (likely(control->reserve == reserved))		/* G */
			return;
		WRITE_ONCE(control->active, 1);
		barrier();
	}
}

#endif
