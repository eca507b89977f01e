// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "memory.h"
#include "sink/ring.h"

static_assert(sizeof(local_t) == sizeof_field(struct argtrace_ring_control, lost));
static_assert(sizeof(local_t) == sizeof_field(struct argtrace_ring_control, overwritten));
static_assert(sizeof(struct argtrace_ring_control) <= PAGE_SIZE);
static_assert(ARGTRACE_COMM_LEN == TASK_COMM_LEN);

/* Of a CPU without a ring, so that a call needs no look: ring_reserve() finds no room there. */
static struct argtrace_ring_control no_ring;

static void ring_free(struct argtrace_ring *ring)
{
	if (ring->control != &no_ring)
		vfree(ring->control);
	vfree(ring->reader);
	ring->control = &no_ring;
	ring->packets = NULL;
	ring->reader = NULL;
}

static int ring_create(struct argtrace_ring *ring, int cpu, u32 packet_size, u32 nr_packets,
		       u32 format, bool flight, u32 clock, u32 mult)
{
	u64 bytes = (u64)packet_size * nr_packets;
	struct argtrace_ring_control *control;

	/* vmalloc_user(): zeroed, so that no old kernel memory shows, and fit to be mapped. */
	control = vmalloc_user(PAGE_SIZE + bytes);
	if (!flight)
		ring->reader = vmalloc_user(PAGE_SIZE);
	if (!control || (!flight && !ring->reader)) {
		vfree(control);
		ring_free(ring);
		return -ENOMEM;
	}
	ring->control = control;
	ring->packets = (u8 *)control + PAGE_SIZE;
	ring->packet_size = packet_size;
	ring->packet_shift = ilog2(packet_size);
	ring->ring_mask = bytes - 1;
	ring->format = format;
	ring->clock = clock;
	ring->mult = mult;
	ring->cpu = cpu;
	ring->flight = flight;
	return 0;
}

int argtrace_rings_create(struct argtrace_ring __percpu *rings, u32 packet_size, u32 nr_packets,
			  u32 format, bool flight, u32 clock, struct argtrace_session *session,
			  u64 *charged)
{
	u64 pages = flight ? PAGE_SIZE : 2 * PAGE_SIZE;
	u64 bytes = num_present_cpus() * (pages + (u64)packet_size * nr_packets);
	u32 mult;
	int cpu, ret;

	ret = argtrace_memory_charge(bytes);
	if (ret)
		return ret;
	mult = argtrace_clock_mult(clock);
	for_each_possible_cpu(cpu) {
		per_cpu_ptr(rings, cpu)->control = &no_ring;
		per_cpu_ptr(rings, cpu)->session = session;
	}
	for_each_present_cpu(cpu) {
		ret = ring_create(per_cpu_ptr(rings, cpu), cpu, packet_size, nr_packets, format,
				  flight, clock, mult);
		if (ret) {
			argtrace_rings_free(rings, bytes);
			return ret;
		}
	}
	*charged = bytes;
	return 0;
}

void argtrace_rings_free(struct argtrace_ring __percpu *rings, u64 charged)
{
	int cpu;

	for_each_possible_cpu(cpu)
		ring_free(per_cpu_ptr(rings, cpu));
	argtrace_memory_uncharge(charged);
}

bool argtrace_ring_has_data(const struct argtrace_ring *ring)
{
	return ring->packets && ring->reader &&
	       smp_load_acquire(&ring->control->head) != READ_ONCE(ring->reader->tail);
}

bool argtrace_ring_repair_tail(struct argtrace_ring *ring)
{
	u64 reserve, tail, end, oldest = 0;

	if (!ring->packets || !ring->reader)
		return false;
	tail = READ_ONCE(ring->reader->tail);
	reserve = READ_ONCE(ring->control->reserve);
	/* The end of the newest packet: what lies a ring before it is the oldest that is whole. */
	end = ALIGN(reserve, (u64)ring->packet_size);
	if (end > ring->ring_mask + 1)
		oldest = end - (ring->ring_mask + 1);
	if (tail >= oldest && tail <= reserve)
		return false;
	WRITE_ONCE(ring->reader->tail, oldest);
	return true;
}

static void write_task(u8 *to, struct argtrace_ring *ring, u64 now)
{
	struct argtrace_record *record = (void *)to;
	struct argtrace_task *task = (void *)(record + 1);

	*record = (struct argtrace_record){
		.clock = now,
		.id = ARGTRACE_ID_TASK,
		.tid = current->pid,
		.size = ARGTRACE_TASK_RECORD,
	};
	task->tgid = current->tgid;
	task->reserved = 0;
	memcpy(task->comm, current->comm, sizeof(task->comm));

	/* What was written, not what may have changed since. */
	ring->last_tid = record->tid;
	memcpy(ring->comm_said, task->comm, sizeof(ring->comm_said));
}

static void write_clock(u8 *to, const struct argtrace_ring *ring, u64 now)
{
	struct argtrace_record *record = (void *)to;
	struct argtrace_now *said = (void *)(record + 1);

	*record = (struct argtrace_record){
		.clock = now,
		.id = ARGTRACE_ID_CLOCK,
		.size = ARGTRACE_CLOCK_RECORD,
	};
	said->clock = now;
	said->ns = argtrace_clock_ns(ring->clock, now, ring->mult);
}

static struct argtrace_packet *packet_at(struct argtrace_ring *ring, u64 position)
{
	position &= ~(u64)(ring->packet_size - 1);
	return (void *)(ring->packets + (position & ring->ring_mask));
}

/* Of calls, in a packet that is closed. Never reads outside it, whatever it finds there. */
static u32 count_records(const struct argtrace_packet *packet, u32 packet_size)
{
	u32 used = min(READ_ONCE(packet->used), packet_size);
	u32 offset = sizeof(*packet), count = 0;

	while (offset + sizeof(struct argtrace_record) <= used) {
		const struct argtrace_record *record = (const void *)packet + offset;
		u32 size = READ_ONCE(record->size);

		if (size < sizeof(*record))
			break;
		count += READ_ONCE(record->id) <= ARGTRACE_ID_MAX;
		offset += size;
	}
	return count;
}

/*
 * Position before which packets may be overwritten, cut to packets by who asks.
 *
 * Stream: what the reader has released. Pairs with the release of RingReader::release()
 * (user/session/ring_reader.cpp); the overwriting stores depend on this load. Any nonsense in
 * the tail can do no more than to make the ring look full, or its reader lose what it has not
 * read.
 *
 * Flight recorder: writers that we have interrupted may be at work behind head, and in
 * the packet before head they may still have to write `used`. They keep what lies from that
 * packet on. Who is outermost interrupts nobody: head is then where it reserves, and the next
 * packet is always free.
 */
static u64 free_before(const struct argtrace_ring *ring)
{
	u64 head;

	if (!ring->flight)
		return READ_ONCE(ring->reader->tail);
	head = READ_ONCE(ring->control->head);
	return head ? (head - 1) & ~(u64)(ring->packet_size - 1) : 0;
}

/*
 * Flight recorder: the packet a ring before `start` is to be overwritten. Returns how many
 * records go with it.
 *
 * This comes before C: as soon as reserve has moved, a nested writer may write into the
 * new packet before we do. Readers that copy the old one must then see that it is gone
 * already. The barrier orders seq before C and thereby before all that any
 * writer stores in the new packet; it pairs with the acquire fence of PacketCopy::intact()
 * (user/session/packet_copy.cpp).
 *
 * A nested writer between A and here may have opened this very packet and be gone. Then it has
 * stored the same seq, our count is nonsense, and C fails.
 */
static u32 invalidate_packet(struct argtrace_ring *ring, u64 start)
{
	struct argtrace_packet *packet = packet_at(ring, start);
	u32 records = start > ring->ring_mask ? count_records(packet, ring->packet_size) : 0;

	WRITE_ONCE(packet->seq, start >> ring->packet_shift);
	smp_wmb();
	return records;
}

/* Closes the packet that ends at `old` and heads the one at `start`. */
static void switch_packet(struct argtrace_ring *ring, u64 old, u64 start, u64 now)
{
	struct argtrace_packet *packet;

	if (old) {
		u64 last = (old - 1) & ~(u64)(ring->packet_size - 1);

		packet_at(ring, last)->used = old - last;
	}
	packet = packet_at(ring, start);
	packet->magic = ARGTRACE_PACKET_MAGIC;
	packet->version = ARGTRACE_RECORD_VERSION;
	packet->header = sizeof(*packet);
	packet->size = ring->packet_size;
	/* Not packet->used: a nested writer may have filled and closed it already. */
	packet->seq = start >> ring->packet_shift;
	packet->clock = now;
	packet->lost = READ_ONCE(ring->control->lost);
	packet->cpu = ring->cpu;
	packet->format = ring->format;
	packet->clock_id = ring->clock;
	packet->mult = ring->mult;
	packet->ns = argtrace_clock_ns(ring->clock, now, ring->mult);
}

/*
 * Steps A, B and C of ring_reserve() with all that may have to stand before the
 * record: a new packet, the clock, the task. It is written behind C, into what is
 * ours alone; nobody reads it before the outermost writer publishes.
 *
 * Who has invalidated a packet opens it, even if C fails and the record would fit the packet before
 * it by now: else its records would be neither there nor counted as overwritten.
 */
void *argtrace_ring_reserve_slow(struct argtrace_ring *ring, u32 size, u64 *clock)
{
	struct argtrace_ring_control *control = ring->control;
	u64 old, now, start, invalidated = 0;
	u32 need, overwritten = 0;
	bool opens, says_task, says_clock;
	u8 *to;

	do {
		old = READ_ONCE(control->reserve);			/* A */
		start = old;
		barrier();
		ARGTRACE_HOOK(SLOW_AB);
		now = argtrace_clock_read(ring->clock);			/* B */

		says_task = argtrace_ring_task_changed(ring, current, current->pid);
		says_clock = now >> 32 != ring->clock_high;
		need = size + says_task * ARGTRACE_TASK_RECORD +
		       says_clock * ARGTRACE_CLOCK_RECORD;
		opens = !(old & (ring->packet_size - 1)) ||
			(old & (ring->packet_size - 1)) + need > ring->packet_size ||
			(invalidated && old <= invalidated);
		if (opens) {
			start = ALIGN(old, (u64)ring->packet_size);
			says_task = true;
			says_clock = false;
			need = sizeof(struct argtrace_packet) + ARGTRACE_TASK_RECORD + size;
			if (argtrace_ring_reaches(ring, start, free_before(ring))) {
				argtrace_ring_count_lost(ring);
				return NULL;
			}
			if (ring->flight) {
				overwritten = invalidate_packet(ring, start);
				invalidated = start;
			}
		}
		ARGTRACE_HOOK(SLOW_BC);
	} while (cmpxchg_local(&control->reserve, old, start + need) != old);	/* C */

	ARGTRACE_HOOK(SLOW_AFTER_C);
	to = ring->packets + (start & ring->ring_mask);
	if (opens) {
		switch_packet(ring, old, start, now);
		/* One instruction on x86: whole under interrupts. */
		if (overwritten)
			local_add(overwritten, (local_t *)&control->overwritten);
		to += sizeof(struct argtrace_packet);
	}
	if (says_clock) {
		write_clock(to, ring, now);
		to += ARGTRACE_CLOCK_RECORD;
	}
	if (opens || says_clock)
		ring->clock_high = now >> 32;
	ring->packet_end = (start & ~(u64)(ring->packet_size - 1)) + ring->packet_size;
	if (says_task) {
		write_task(to, ring, now);
		to += ARGTRACE_TASK_RECORD;
	}
	*clock = now;
	return to;
}
