// SPDX-License-Identifier: GPL-2.0-only
/* End to end: calls functions in the kernel and reads their records from the ring. */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/trace_recursion.h>

#include "base/clock.h"
#include "fixtures.h"
#include "base/recursion.h"
#include "ring_read.h"
#include "targets.h"

static struct argtrace_session *trace_with(struct kunit *test, void *function, u32 nr_args,
					   const struct argtrace_session_attr *attr)
{
	struct argtrace_session *session = make_session_like(test, attr);
	struct made_probe *probe = make_probe(test, (unsigned long)function, nr_args);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

static struct argtrace_session *trace(struct kunit *test, void *function, u32 nr_args, u32 format)
{
	return trace_with(test, function, nr_args,
			  &(struct argtrace_session_attr){ .format = format });
}

/* The caller that records must show. */
static noinline void call_three(u64 a, u64 b, u64 c)
{
	target_three(a, b, c);
	barrier();
}

static void one_call(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct seen seen;
	u64 words[4];

	call_three(0x1122334455667788, ~0ull, 3);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.id, 1);
	KUNIT_EXPECT_EQ(test, seen.head.tid, current->pid);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 8 + 24);
	KUNIT_EXPECT_EQ(test, context_of(&seen), 0);
	KUNIT_EXPECT_EQ(test, seen.head.preempt, 0);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_TRUE(test, is_in_function(words[0], call_three));
	KUNIT_EXPECT_EQ(test, words[1], 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, words[2], ~0ull);
	KUNIT_EXPECT_EQ(test, words[3], 3);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
}

static void without_the_caller(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, ARGTRACE_FORMAT_NO_CALLER);
	struct seen seen;
	u64 words[3] = { 5, 6, 7 };

	call_three(5, 6, 7);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 24);
	KUNIT_EXPECT_MEMEQ(test, seen.data, (u8 *)words, sizeof(words));
}

static void with_names(struct kunit *test)
{
	static const u8 data[] = {
		'a', '0', 0, ARGTRACE_TYPE_U64, 5, 0, 0, 0, 0, 0, 0, 0,
		'a', '1', 0, ARGTRACE_TYPE_U64, 6, 0, 0, 0, 0, 0, 0, 0,
		0, ARGTRACE_TYPE_END,
		0, 0, 0, 0, 0, 0, /* padding */
	};
	struct argtrace_session *session = trace(test, target_three, 2, ARGTRACE_FORMAT_NAMED);
	struct seen seen;

	call_three(5, 6, 7);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 8 + sizeof(data));
	KUNIT_EXPECT_MEMEQ(test, seen.data + 8, data, sizeof(data));
}

static void arguments_on_the_stack(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", ARGTRACE_FORMAT_NO_CALLER);
	struct made_probe *probe = make_probe(test, (unsigned long)target_many, 3);
	const u64 words[] = { 6, 0x7777777777777777, 0x8888888888888888 };
	struct seen seen;

	probe->args[0].index = 5;
	probe->args[1] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_STACK, .type = ARGTRACE_TYPE_U64, .size = 8, .offset = ARGTRACE_FIRST_STACK_WORD,
		.name = probe->args[1].name, .type_name = probe->args[1].type_name,
	};
	probe->args[2] = probe->args[1];
	probe->args[2].offset = ARGTRACE_FIRST_STACK_WORD + 8;
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	/* The seventh or the ninth is the first one there. */
	target_many(1, 2, 3, 4, 5, 6, words[1], words[2], words[1], words[2]);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_MEMEQ(test, seen.data, (const u8 *)words, sizeof(words));
}

static void call_in_interrupt(struct irq_work *work)
{
	call_three(4, 0, 0);
}

static void call_in_softirq(struct tasklet_struct *tasklet)
{
	call_three(5, 0, 0);
}

/* For each clock there is a separate function for calls whose context is not plain. */
KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

static void context_of_the_caller(struct kunit *test)
{
	struct argtrace_session_attr attr = *attr_of_clock(test);
	/* -1: any depth, since an interrupt may come at any. */
	static const struct { u8 context; int preempt; } expected[] = {
		{ ARGTRACE_CTX_IRQS_OFF, 0 },
		{ 0, 2 },
		{ ARGTRACE_CTX_BH_OFF, 0 },
		{ ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ, -1 },
		{ ARGTRACE_CTX_SOFTIRQ, -1 },
	};
	struct irq_work work = IRQ_WORK_INIT_HARD(call_in_interrupt);
	struct tasklet_struct tasklet;
	struct seen *seen = kunit_kcalloc(test, 5, sizeof(*seen), GFP_KERNEL);
	struct argtrace_session *session;
	unsigned long flags;
	u32 i;

	attr.format = ARGTRACE_FORMAT_NO_CALLER;
	KUNIT_ASSERT_NOT_NULL(test, seen);
	session = trace_with(test, target_three, 1, &attr);
	tasklet_setup(&tasklet, call_in_softirq);
	local_irq_save(flags);
	call_three(1, 0, 0);
	local_irq_restore(flags);
	preempt_disable();
	preempt_disable();
	call_three(2, 0, 0);
	preempt_enable();
	preempt_enable();
	local_bh_disable();
	call_three(3, 0, 0);
	local_bh_enable();
	irq_work_queue(&work);
	irq_work_sync(&work);
	tasklet_schedule(&tasklet);
	tasklet_kill(&tasklet);

	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 5), 5);
	for (i = 0; i < 5; i++) {
		const u64 number = i + 1;

		KUNIT_EXPECT_MEMEQ(test, seen[i].data, (const u8 *)&number, sizeof(number));
		KUNIT_EXPECT_EQ_MSG(test, context_of(&seen[i]), expected[i].context,
				    "call %u", i + 1);
		if (expected[i].preempt >= 0)
			KUNIT_EXPECT_EQ_MSG(test, seen[i].head.preempt, expected[i].preempt,
					    "call %u", i + 1);
	}
}

static void the_excluded_process(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct argtrace_counts counts;
	int file;

	KUNIT_ASSERT_EQ(test, argtrace_session_set_reader(session, &file, true), 0);
	call_three(1, 2, 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.filtered, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 0);
	argtrace_session_drop_reader(session, &file);
	call_three(1, 2, 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.filtered, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 1);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 1);
}

/* Another tracer holds ftrace's recursion guard, which is not ours: calls from inside it are recorded like any other. */
static void inside_another_tracer(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct argtrace_counts counts;
	int bit = ftrace_test_recursion_trylock(_THIS_IP_, _RET_IP_);

	KUNIT_ASSERT_GE(test, bit, 0);
	call_three(1, 2, 3);
	ftrace_test_recursion_unlock(bit);

	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_RECURSION], 0);
	KUNIT_EXPECT_EQ(test, counts.records, 1);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 1);
}

/* The first call has to open a packet, which must not happen while one is being opened. */
static void inside_a_rare_part_of_ours(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct argtrace_counts counts;
	bool entered;

	preempt_disable();
	entered = argtrace_recursion_enter();
	call_three(1, 2, 3);
	if (entered)
		argtrace_recursion_leave();
	preempt_enable();

	KUNIT_EXPECT_TRUE(test, entered);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_RECURSION], 1);
	KUNIT_EXPECT_EQ(test, counts.records, 0);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 0);
	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
}

static void on_a_cpu_without_a_ring(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct argtrace_ring *ring = ring_of(session);
	u8 *packets = ring->packets;

	/* No packet is open yet, so the fast path finds no room. */
	preempt_disable();
	WRITE_ONCE(ring->packets, NULL);
	call_three(1, 2, 3);
	WRITE_ONCE(ring->packets, packets);
	preempt_enable();
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).lost[ARGTRACE_LOST_NO_BUFFER], 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 0);
}

static void every_call_is_recorded_or_lost(struct kunit *test)
{
	const u32 calls = 2000;
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct argtrace_counts counts;
	u32 i, round, read;
	u64 recorded = 0;

	for (round = 1; round <= 5; round++) {
		for (i = 0; i < calls; i++)
			call_three(i, i, i);
		counts = counts_of(session, 1);
		KUNIT_EXPECT_EQ(test, counts.records + counts.lost[ARGTRACE_LOST_FULL],
				(u64)round * calls);
		read = read_records(test, session, NULL, 0);
		/* The ring now holds exactly what was counted as recorded. */
		KUNIT_EXPECT_EQ(test, counts.records - recorded, read);
		KUNIT_EXPECT_GT(test, read, 100);
		recorded = counts.records;
	}
	KUNIT_EXPECT_EQ(test, ring_of(session)->control->lost, counts.lost[ARGTRACE_LOST_FULL]);
}

static void two_sessions(struct kunit *test)
{
	struct argtrace_session *one = trace(test, target_three, 3, 0);
	struct argtrace_session *two = trace(test, target_three, 1, ARGTRACE_FORMAT_NAMED);
	struct seen seen[2];

	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, one, &seen[0], 1), 1);
	KUNIT_EXPECT_EQ(test, read_records(test, two, &seen[1], 1), 1);
	/* ftrace's list function adds a preemption level of its own. */
	KUNIT_EXPECT_EQ(test, seen[0].head.preempt, 0);
	KUNIT_EXPECT_EQ(test, seen[1].head.preempt, 0);
	session_remove_all(one);
	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, one, seen, 1), 0);
	KUNIT_EXPECT_EQ(test, read_records(test, two, seen, 1), 1);
}

static void removed_and_back(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct seen seen;

	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EEXIST);
	KUNIT_ASSERT_EQ(test, session_remove(session, (unsigned long)target_three), 0);
	KUNIT_EXPECT_EQ(test, session_remove(session, (unsigned long)target_three), -ENOENT);
	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 0);
	call_three(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.id, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
}

/* The counts of a probe that comes back start at zero, those of lost and filtered calls included. */
static void back_after_loss(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_counts counts;
	int file;

	KUNIT_ASSERT_EQ(test, argtrace_session_set_reader(session, &file, true), 0);
	call_three(1, 2, 3);
	argtrace_session_drop_reader(session, &file);
	do {
		call_three(1, 2, 3);
		counts = counts_of(session, 1);
	} while (!counts.lost[ARGTRACE_LOST_FULL] && counts.records < 10000);
	KUNIT_EXPECT_EQ(test, counts.filtered, 1);
	KUNIT_ASSERT_EQ(test, counts.lost[ARGTRACE_LOST_FULL], 1);

	KUNIT_ASSERT_EQ(test, session_remove(session, (unsigned long)target_three), 0);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_FULL], 1);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 0);
	KUNIT_EXPECT_EQ(test, counts.filtered, 0);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_FULL], 0);
	call_three(1, 2, 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 0);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_FULL], 1);
}

/* The last packet is filled to its end before a call is lost. */
static void a_ring_holds_what_fits(struct kunit *test)
{
	struct argtrace_session *session = trace(test, target_three, 3, 0);
	const struct argtrace_ring *ring = ring_of(session);
	const u32 record = session->catalog.by_id[1]->record_size;
	const u32 fits = (ring->packet_size - sizeof(struct argtrace_packet) - ARGTRACE_TASK_RECORD) /
			 record * ((ring->ring_mask + 1) / ring->packet_size);
	struct argtrace_counts counts;
	u32 i;

	for (i = 0; i < fits + 3; i++)
		call_three(1, 2, 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, fits);
	KUNIT_EXPECT_EQ(test, counts.lost[ARGTRACE_LOST_FULL], 3);
}

static void where_no_function_begins(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	unsigned long inside = (unsigned long)target_three;
	unsigned long wild[] = { 0, (unsigned long)&wild, 0x1234, ~0ul, 1ul << 63 };
	u32 i;

	/* Hide the address from objtool, which warns of pointers into a function. */
	OPTIMIZER_HIDE_VAR(inside);
	wild[0] = inside + 9;
	for (i = 0; i < ARRAY_SIZE(wild); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    session_add(test, session, make_probe(test, wild[i], 0)),
				    "%lx", wild[i]);
	KUNIT_EXPECT_FALSE(test, argtrace_lanes_armed(session));
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
}

static struct kunit_case trace_cases[] = {
	KUNIT_CASE(one_call),
	KUNIT_CASE(without_the_caller),
	KUNIT_CASE(with_names),
	KUNIT_CASE(arguments_on_the_stack),
	KUNIT_CASE_PARAM(context_of_the_caller, clock_gen_params),
	KUNIT_CASE(the_excluded_process),
	KUNIT_CASE(inside_another_tracer),
	KUNIT_CASE(inside_a_rare_part_of_ours),
	KUNIT_CASE(on_a_cpu_without_a_ring),
	KUNIT_CASE(every_call_is_recorded_or_lost),
	KUNIT_CASE(two_sessions),
	KUNIT_CASE(removed_and_back),
	KUNIT_CASE(back_after_loss),
	KUNIT_CASE(a_ring_holds_what_fits),
	KUNIT_CASE(where_no_function_begins),
	{ }
};

static struct kunit_suite trace_suite = {
	.name = "argtrace_trace",
	.init = stay_on_this_cpu,
	.test_cases = trace_cases,
};
kunit_test_suite(trace_suite);
