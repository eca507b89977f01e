/* SPDX-License-Identifier: GPL-2.0-only */
/* Records read out of a ring, as include/uapi/argtrace.h describes it. */
#ifndef ARGTRACE_KUNIT_RING_READ_H
#define ARGTRACE_KUNIT_RING_READ_H

#include <kunit/test.h>
#include <uapi/argtrace.h>

#include "session.h"

struct seen {
	struct argtrace_record head;
	u8 data[256];
};

/* A context without the reschedule flags, which a tick may set at any time. */
static inline u8 without_reschedule(u8 context)
{
	return context & ~(ARGTRACE_CTX_NEED_RESCHED | ARGTRACE_CTX_NEED_RESCHED_LAZY | ARGTRACE_CTX_PREEMPT_RESCHED);
}

static inline u8 context_of(const struct seen *seen)
{
	return without_reschedule(seen->head.context);
}

/* Pins the test to its CPU: the init of suites whose cases read the ring of the CPU they run on. */
int stay_on_this_cpu(struct kunit *test);

struct argtrace_ring *ring_of(struct argtrace_session *session);

/*
 * Reads the records of calls: those between tail and head, which are then free, or what a flight
 * recorder still has. Copies the first `max` and returns how many there were. The test
 * fails on anything malformed.
 */
u32 read_records(struct kunit *test, struct argtrace_session *session, struct seen *to, u32 max);

/* The outcomes of the calls of a probe. */
struct argtrace_counts counts_of(struct argtrace_session *session, u32 id);

#endif
