// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/math.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "ring_read.h"

int stay_on_this_cpu(struct kunit *test)
{
	return set_cpus_allowed_ptr(current, cpumask_of(raw_smp_processor_id()));
}

struct argtrace_ring *ring_of(struct argtrace_session *session)
{
	return per_cpu_ptr(session->rings, raw_smp_processor_id());
}

/* Position of the first packet that may be read. */
static u64 first_position(const struct argtrace_ring *ring, u64 head)
{
	const u64 bytes = ring->ring_mask + 1, end = ALIGN(head, (u64)ring->packet_size);

	if (ring->reader)
		return ring->reader->tail;
	return end > bytes ? end - bytes : 0;
}

u32 read_records(struct kunit *test, struct argtrace_session *session, struct seen *to, u32 max)
{
	struct argtrace_ring *ring = ring_of(session);
	const u64 head = smp_load_acquire(&ring->control->head);
	u64 at = first_position(ring, head);
	u32 count = 0;

	KUNIT_EXPECT_EQ(test, ring->control->active, 0);
	KUNIT_EXPECT_EQ(test, ring->control->reserve, head);
	/* Positions may be near the end of 64 bits: compare distances. */
	while ((s64)(head - at) > 0) {
		const u64 start = round_down(at, (u64)ring->packet_size);
		const u8 *bytes = ring->packets + (start & ring->ring_mask);
		const struct argtrace_packet *packet = (const void *)bytes;
		const bool newest = head - start <= ring->packet_size;
		const u32 used = newest ? head - start : packet->used;
		u32 offset = max_t(u32, at - start, packet->header);

		KUNIT_ASSERT_EQ(test, packet->magic, ARGTRACE_PACKET_MAGIC);
		KUNIT_ASSERT_EQ(test, packet->size, ring->packet_size);
		KUNIT_ASSERT_EQ(test, packet->seq, start >> ring->packet_shift);
		KUNIT_ASSERT_LE(test, used, ring->packet_size);
		KUNIT_EXPECT_EQ(test, packet->cpu, raw_smp_processor_id());
		while (offset < used) {
			const struct argtrace_record *record = (const void *)(bytes + offset);

			KUNIT_ASSERT_GE(test, record->size, sizeof(*record));
			KUNIT_ASSERT_EQ(test, record->size % 8, 0);
			KUNIT_ASSERT_LE(test, offset + record->size, used);
			offset += record->size;
			if (!argtrace_record_probe(record->id))
				continue;
			if (count < max)
				memcpy(&to[count], record, min_t(u32, record->size, sizeof(*to)));
			count++;
		}
		at = newest ? head : start + ring->packet_size;
	}
	if (ring->reader)
		smp_store_release(&ring->reader->tail, at);
	return count;
}

struct argtrace_counts counts_of(struct argtrace_session *session, u32 id)
{
	struct argtrace_counts counts;

	argtrace_plan_counts(session->catalog.by_id[id], &counts);
	return counts;
}
