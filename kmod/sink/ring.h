/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring of one CPU, written by that CPU alone, in any context up to NMI.
 *
 *   memory of the CPU's node, mapped read-only by user space:
 *   +---------+-----------------------+-----------------------+-----
 *   | control | packet 0              | packet 1              | ...
 *   | 1 page  | header records unused | header records ...    |
 *   +---------+-----------------------+-----------------------+-----
 *   and a page that user space writes: the reader's tail.
 *
 * A packet can be opened if the reader's tail allows it. A flight recorder has no reader, and
 * overwrites the oldest packet. The difference only concerns the opening of packets, in
 * argtrace_ring_reserve_slow(). A record that goes into an open packet can be written without
 * further checks, since everything that has to precede the first byte of a packet has happened
 * before the position is moved into it. In return, the fast path never opens a packet, and
 * publishes as head only what is complete.
 *
 * Positions count bytes and never wrap (include/uapi/argtrace.h). Everything up to
 * control->reserve is taken, everything up to control->head is complete.
 *
 * Writers on one CPU nest: an interrupt or NMI completes before the writer that it interrupted
 * continues. A reservation is therefore a single local compare-and-exchange, and the outermost
 * writer publishes for all of them when it ends. The steps of argtrace_ring_reserve() and
 * argtrace_ring_end() have letters; the comments there say what an interrupt between two of them does.
 */
#ifndef ARGTRACE_RING_H
#define ARGTRACE_RING_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

#include "base/clock.h"
#include "base/compat.h"
#include "base/hook.h"
#include "base/percpu.h"
#include "base/recursion.h"

struct argtrace_notice;

struct argtrace_ring {
	/* What a call needs: one cache line. */
	struct argtrace_ring_control *control;
	u8 *packets;				/* NULL: this CPU has no ring */
	u64 ring_mask;				/* packet_size * nr_packets - 1 */

	/*
	 * Describe the newest packet: its end, and what its records have already stated, which is the
	 * upper half of the clock and the current task. Nested writers may leave them outdated, but
	 * never too new, as they are set after step C: at worst, argtrace_ring_reserve() fails once
	 * more than it has to, and something is stated twice.
	 */
	u64 packet_end;
	u64 quick_end;				/* the same in a stream with the TSC; in other rings 0, so that nothing fits */
	u64 comm_said[2];
	u32 last_tid;
	u32 clock_high;

	/*
	 * Read at the end of each call, and written by poll() on any CPU: in a cache line of its own, so
	 * that the line above stays with its CPU.
	 */
	bool waiting ____cacheline_aligned;	/* somebody sleeps in poll() until there is data */
	bool flight;				/* overwrites the oldest packet */
	u32 packet_shift;
	local_t *records_in;			/* flight recorder: records in each packet; else NULL */

	struct argtrace_notice *notice;
	struct argtrace_ring_reader *reader;	/* never trusted; a flight recorder has none */
	u32 packet_size;			/* a power of two */
	u32 format;
	u32 clock;				/* ARGTRACE_CLOCK_* */
	u32 mult;				/* argtrace_packet.mult */
	u32 cpu;
} ____cacheline_aligned;

/* The most that the slow path of a reservation may put before the caller's record. */
#define ARGTRACE_CLOCK_RECORD	(sizeof(struct argtrace_record) + sizeof(struct argtrace_now))
#define ARGTRACE_TASK_RECORD	(sizeof(struct argtrace_record) + sizeof(struct argtrace_task))
#define ARGTRACE_PACKET_OVERHEAD \
	(sizeof(struct argtrace_packet) + ARGTRACE_CLOCK_RECORD + ARGTRACE_TASK_RECORD)

/* The rings of a session, for the CPUs that were present when it was made or have come since. */
struct argtrace_ring_set {
	struct argtrace_ring __percpu *rings;
	struct argtrace_notice *notice;
	u32 packet_size;			/* powers of two; nr_packets >= 2 */
	u32 nr_packets;
	u32 format;
	u32 clock;
	u32 mult;
	bool flight;

	struct argtrace_percpu percpu;
};

/*
 * Makes the ring of each present CPU in the memory of its node, and later those of CPUs that come. The caller
 * has filled in the description in the set. 0, -ENOMEM or -ENOSPC.
 */
int argtrace_rings_create(struct argtrace_ring_set *set);
void argtrace_rings_free(struct argtrace_ring_set *set);

/* Whether this CPU has a ring. It may get one at any time, and never loses it. */
static inline bool argtrace_ring_exists(const struct argtrace_ring *ring)
{
	/* Pairs with the release of ring_create(). */
	return smp_load_acquire(&ring->packets);
}

/* Whether there is something for the reader to read in any of them. */
bool argtrace_rings_have_data(const struct argtrace_ring __percpu *rings);

/*
 * If an earlier reader left the tail out of range, sets it to the oldest whole packet and returns true. Writers
 * that have read the bad tail may still be running: wait for them, and repair again.
 */
bool argtrace_ring_repair_tail(struct argtrace_ring *ring);

/* Whether a packet at `start` would overwrite something at `kept` or after it. */
static __always_inline bool argtrace_ring_reaches(const struct argtrace_ring *ring, u64 start,
						  u64 kept)
{
	return start + ring->packet_size - kept > ring->ring_mask + 1;
}

/*
 * Whether there is no room for `size` bytes now, whatever has to precede them. Called when the fast path
 * failed. With no reader every call ends here; the slow path would take three times as long to find
 * the same.
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
	/* One instruction on x86, and so atomic with respect to interrupts. */
	local_inc((local_t *)&ring->control->lost);
}

/*
 * The number of records in the flight recorder's packet that contains `position`. A writer counts its record here
 * after step C, in one instruction. When the packet is about to be overwritten, which is not before all its
 * writers have ended, the count is read and subtracted.
 */
static __always_inline local_t *argtrace_ring_records_in(const struct argtrace_ring *ring,
							 u64 position)
{
	return &ring->records_in[(position & ring->ring_mask) >> ring->packet_shift];
}

/*
 * To be called if argtrace_ring_reserve() returns false, between the same argtrace_ring_begin() and
 * argtrace_ring_end(), and within argtrace_recursion_enter(), since it calls functions that can be traced.
 * NULL if the ring is full; the record has been counted as lost then.
 */
void *argtrace_ring_reserve_slow(struct argtrace_ring *ring, u32 size, u64 *clock);

static __always_inline bool argtrace_ring_task_changed(const struct argtrace_ring *ring,
						       const struct task_struct *task, u32 tid)
{
	/* Aligned, since pointers precede it. If the name is changing right now, a later call sees that. */
	const u64 *comm = (const u64 *)task->comm;

	return ring->last_tid != tid || ring->comm_said[0] != comm[0] ||
	       ring->comm_said[1] != comm[1];
}

/* Enters the ring; preemption is off. Always paired with argtrace_ring_end(). */
static __always_inline void argtrace_ring_begin(struct argtrace_ring_control *control)
{
	/*
	 * Not atomic, since an interrupt in between restores the value. Not WRITE_ONCE(), which takes three
	 * instructions instead of one.
	 */
	barrier();
	control->active++;
	barrier();
}

/*
 * Reserves `size` bytes (a multiple of 8, at most packet_size - PACKET_OVERHEAD). *to is set to their address, *end to the position
 * after them, and *clock to the lower half of the time, whose upper half the reader knows. Returns false if that takes
 * argtrace_ring_reserve_slow(). With the TSC and without `flight` the ring may be any: where it is not of that kind, that is what it takes.
 *
 *   A  read the position
 *   B  read the clock
 *   C  compare and exchange the position
 *
 * A nested writer between A and C moves the position: C fails, and argtrace_ring_reserve_slow() starts
 * over. A writer that succeeds at C has therefore read the clock after all writers before it in the
 * ring, so that times never decrease along it (unless the clock itself does: the TSC is read without
 * a fence, so that the processor may read it a few instructions early).
 *
 * The position is never at the beginning of a packet here: packet_end is set once the packet has been
 * opened.
 */
static __always_inline bool argtrace_ring_reserve_up_to(struct argtrace_ring *ring,
							struct argtrace_ring_control *control,
							u32 size, u32 tid, u32 clock_id,
							const bool flight, u32 *clock, u8 **to, u64 *end)
{
	u64 old;
	u32 high;

	if (unlikely(argtrace_ring_task_changed(ring, current, tid)))
		return false;
	old = READ_ONCE(control->reserve);					/* A */
	*end = old + size;
	if (unlikely(*end > (clock_id == ARGTRACE_CLOCK_TSC && !flight ? ring->quick_end : ring->packet_end)))
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
	if (unlikely(!argtrace_try_cmpxchg_local(&control->reserve, old, *end))) /* C */
		return false;
	if (flight)
		local_inc(argtrace_ring_records_in(ring, old));
	*to = ring->packets + (old & ring->ring_mask);
	return true;
}

/* The same if nothing is given back. */
static __always_inline bool argtrace_ring_reserve(struct argtrace_ring *ring,
						  struct argtrace_ring_control *control,
						  u32 size, u32 tid, u32 clock_id,
						  const bool flight, u32 *clock, u8 **to)
{
	u64 end;

	return argtrace_ring_reserve_up_to(ring, control, size, tid, clock_id, flight, clock, to, &end);
}

/*
 * Gives back the last `unused` bytes of a reservation that ends at `end`, and of which something is left, between
 * argtrace_ring_begin() and argtrace_ring_end(). Returns false if a nested writer has reserved since: then the reservation remains as
 * it is. A writer that we have interrupted between A and C never finds the position that it has read: something is left.
 */
static __always_inline bool argtrace_ring_give_back(struct argtrace_ring_control *control, u64 end, u32 unused)
{
	ARGTRACE_HOOK(GIVE_BACK);
	return argtrace_try_cmpxchg_local(&control->reserve, end, end - unused);
}

/*
 * Leaves the ring; the outermost writer publishes.
 *
 *   D  read the position: everything before it is complete, as all nested
 *      writers have ended
 *   E  publish it. The release pairs with the acquires of RingReader::look()
 *      (user/session/ring_reader.cpp).
 *   F  stop being active. The release pairs with the acquire of RingReader::look(): a reader
 *      that sees active == 0 sees the head that was published before.
 *   G  read the position again
 *
 * A nested writer between D and F leaves publishing to us: G sees its reservation.
 * One after F publishes for itself. Until then, reserve is ahead of head, from which
 * user space knows that more is to come.
 *
 * Nested writers are on this CPU, and see our stores in program order: barrier() is all they need.
 */
static __always_inline void argtrace_ring_end(struct argtrace_ring_control *control)
{
	u64 reserved;

	barrier();
	/* Plain loads here and at G, so that the compiler may compare against memory. */
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
