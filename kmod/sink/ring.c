// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "base/memory.h"
#include "base/region.h"
#include "sink/notice.h"
#include "sink/ring.h"

static_assert(sizeof(local_t) == sizeof_field(struct argtrace_ring_control, lost));
static_assert(sizeof(local_t) == sizeof_field(struct argtrace_ring_control, overwritten));
static_assert(sizeof(struct argtrace_ring_control) <= PAGE_SIZE);
static_assert(ARGTRACE_COMM_LEN == TASK_COMM_LEN);

/* Dummy control page for CPUs without a ring: the fast path finds no room and needs no check. */
static struct argtrace_ring_control no_ring;

static unsigned int packet_pages(const struct argtrace_ring_set *set)
{
	return ((u64)set->packet_size * set->nr_packets) >> PAGE_SHIFT;
}

static struct argtrace_ring_set *rings_of(const struct argtrace_percpu *percpu)
{
	return container_of(percpu, struct argtrace_ring_set, percpu);
}

static u64 ring_charge(const struct argtrace_percpu *percpu)
{
	const struct argtrace_ring_set *set = rings_of(percpu);
	u64 charge = argtrace_region_charge(1 + packet_pages(set));

	return charge + (set->flight ? argtrace_kvmalloc_size(set->nr_packets * sizeof(local_t)) :
				       argtrace_region_charge(1));
}

static bool ring_exists(const struct argtrace_percpu *percpu, unsigned int cpu)
{
	return argtrace_ring_exists(per_cpu_ptr(rings_of(percpu)->rings, cpu));
}

static int ring_create(struct argtrace_percpu *percpu, unsigned int cpu)
{
	struct argtrace_ring_set *set = rings_of(percpu);
	struct argtrace_ring *ring = per_cpu_ptr(set->rings, cpu);
	const int node = cpu_to_node(cpu);
	struct argtrace_ring_control *control;
	struct argtrace_ring_reader *reader = NULL;
	local_t *records_in = NULL;

	control = argtrace_region_alloc(1 + packet_pages(set), node);
	if (set->flight)
		records_in = argtrace_kvzalloc_node(set->nr_packets * sizeof(*records_in), node);
	else
		reader = argtrace_region_alloc(1, node);
	if (!control || (!reader && !records_in)) {
		vfree(control);
		vfree(reader);
		kvfree(records_in);
		return -ENOMEM;
	}
	ring->control = control;
	ring->reader = reader;
	ring->records_in = records_in;
	ring->packet_size = set->packet_size;
	ring->packet_shift = ilog2(set->packet_size);
	ring->ring_mask = (u64)set->packet_size * set->nr_packets - 1;
	ring->format = set->format;
	ring->cpu = cpu;
	ring->flight = set->flight;
	/* Pairs with argtrace_ring_exists(). */
	smp_store_release(&ring->packets, (u8 *)control + PAGE_SIZE);
	return 0;
}

static void ring_came(struct argtrace_percpu *percpu)
{
	argtrace_notice_change(rings_of(percpu)->notice);
}

static const struct argtrace_percpu_kind ring_kind = {
	.charge = ring_charge,
	.exists = ring_exists,
	.create = ring_create,
	.came = ring_came,
};

static void ring_free(struct argtrace_ring *ring)
{
	if (ring->control != &no_ring)
		vfree(ring->control);
	vfree(ring->reader);
	kvfree(ring->records_in);
}

static void free_rings(struct argtrace_ring_set *set)
{
	int cpu;

	for_each_possible_cpu(cpu)
		ring_free(per_cpu_ptr(set->rings, cpu));
	free_percpu(set->rings);
	argtrace_memory_uncharge(set->percpu.charged);
}

int argtrace_rings_create(struct argtrace_ring_set *set)
{
	const u64 charge = argtrace_percpu_size(sizeof(struct argtrace_ring));
	int cpu, ret;

	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	set->rings = alloc_percpu_gfp(struct argtrace_ring, ARGTRACE_GFP);
	if (!set->rings) {
		argtrace_memory_uncharge(charge);
		return -ENOMEM;
	}
	set->percpu.charged = charge;
	set->mult = argtrace_clock_mult(set->clock);
	for_each_possible_cpu(cpu) {
		struct argtrace_ring *ring = per_cpu_ptr(set->rings, cpu);

		ring->control = &no_ring;
		ring->notice = set->notice;
		/*
		 * Also for durations that go to a map or decide whether a call is recorded, for
		 * which a CPU needs no ring.
		 */
		ring->clock = set->clock;
		ring->mult = set->mult;
	}
	ret = argtrace_percpu_provide(&set->percpu, &ring_kind);
	if (ret)
		free_rings(set);
	return ret;
}

void argtrace_rings_free(struct argtrace_ring_set *set)
{
	argtrace_percpu_stop(&set->percpu);
	free_rings(set);
}

static bool has_data(const struct argtrace_ring *ring)
{
	if (!argtrace_ring_exists(ring) || !ring->reader)
		return false;
	/* Pairs with the release of argtrace_ring_end(), step E. */
	return smp_load_acquire(&ring->control->head) != READ_ONCE(ring->reader->tail);
}

bool argtrace_rings_have_data(const struct argtrace_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (has_data(per_cpu_ptr(rings, cpu)))
			return true;
	}
	return false;
}

bool argtrace_ring_repair_tail(struct argtrace_ring *ring)
{
	u64 reserve, tail, end, oldest = 0;

	if (!argtrace_ring_exists(ring) || !ring->reader)
		return false;
	tail = READ_ONCE(ring->reader->tail);
	reserve = READ_ONCE(ring->control->reserve);
	/* The oldest whole packet begins one ring size before the end of the newest. */
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

	/* From the record, as the task's name may have changed since. */
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

/*
 * Position before which packets may be overwritten; the caller rounds it down to a packet.
 *
 * Stream: what the reader has released. Pairs with the release of RingReader::release()
 * (user/session/ring_reader.cpp); the overwriting stores depend on this load. Nonsense in
 * the tail can do no more than make the ring look full, or make its reader lose what it has not
 * read.
 *
 * Flight recorder: writers that we have interrupted may be at work after head, and in
 * the packet before head they may still have to write `used`. Everything from that packet on is
 * kept, and an interrupt that fills the whole ring loses the rest of its records. The outermost
 * writer has interrupted no other: it always finds room.
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
 * Flight recorder: marks the packet that is to be overwritten by the one at `start` as gone, and
 * returns how many records go with it. All their writers have ended (free_before()), and none has
 * counted a record there since.
 *
 * This precedes C: as soon as the position has moved, a nested writer may write into the
 * new packet before we do. Readers that copy the old one must then see that it is gone
 * already. The barrier orders seq before C and thereby before everything that any
 * writer stores in the new packet; it pairs with the acquire fence of PacketCopy::intact()
 * (user/session/packet_copy.cpp).
 *
 * A nested writer between A and here may have opened this very packet and ended. It has then
 * stored the same seq, our count is of its records, and C fails.
 */
static long invalidate_packet(struct argtrace_ring *ring, u64 start)
{
	const long records = local_read(argtrace_ring_records_in(ring, start));

	WRITE_ONCE(packet_at(ring, start)->seq, start >> ring->packet_shift);
	/* Pairs with the acquire fence of PacketCopy::intact(): see above. */
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
 * Steps A, B and C of argtrace_ring_reserve() with everything that may have to precede the
 * record: a new packet, the clock, the task. It is written after C, into what is
 * ours alone; nobody reads it before the outermost writer publishes.
 *
 * A writer that invalidated a packet must open it, even if C fails and the record would now fit the
 * previous one; otherwise its records would be neither present nor counted as overwritten.
 */
void *argtrace_ring_reserve_slow(struct argtrace_ring *ring, u32 size, u64 *clock)
{
	struct argtrace_ring_control *control = ring->control;
	u64 old, now, start, invalidated = 0;
	long overwritten = 0;
	u32 need;
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
		if (ring->flight) {
			/* Nested writers may have counted theirs in the new packet already. */
			local_sub(overwritten, argtrace_ring_records_in(ring, start));
			local_add(overwritten, (local_t *)&control->overwritten);
		}
		to += sizeof(struct argtrace_packet);
	}
	if (ring->flight)
		local_inc(argtrace_ring_records_in(ring, start));
	if (says_clock) {
		write_clock(to, ring, now);
		to += ARGTRACE_CLOCK_RECORD;
	}
	if (opens || says_clock)
		ring->clock_high = now >> 32;
	ring->packet_end = (start & ~(u64)(ring->packet_size - 1)) + ring->packet_size;
	if (!ring->flight && ring->clock == ARGTRACE_CLOCK_TSC)
		ring->quick_end = ring->packet_end;
	if (says_task) {
		write_task(to, ring, now);
		to += ARGTRACE_TASK_RECORD;
	}
	*clock = now;
	return to;
}
