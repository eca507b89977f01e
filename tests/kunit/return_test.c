// SPDX-License-Identifier: GPL-2.0-only
/* Calls whose return is followed, from the function to the record, and what becomes of those that are in flight. */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "clock.h"
#include "fixtures.h"
#include "hook.h"
#include "memory.h"
#include "ring_read.h"
#include "source/in_flight.h"
#include "source/return.h"
#include "source/return_refused.h"
#include "targets.h"

/* fprobe_test.c and kretprobe_test.c have the kernel follow the calls, in suites of their own. */
#ifndef FOLLOWED_BY
#define FOLLOWED_BY	0
#define SUITE		"argtrace_return"
#endif

/* What target_many(1, 2, ..., 10) returns, and how much more with one more as the first argument. */
#define MANY		28231640996005ull
#define MANY_STEP	26439622160671ull

/* A probe of `nr_args` words in registers, and a value of that type and size; size 0: none. */
static struct made_probe *make_return_probe(struct kunit *test, void *function, u32 nr_args, u8 type, u32 size, u32 words)
{
	struct made_probe *probe = make_probe(test, (unsigned long)function, nr_args + !!size);

	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(words) | FOLLOWED_BY;
	if (size)
		probe->args[nr_args] = (struct argtrace_arg){
			.loc = ARGTRACE_LOC_RETURN, .type = type, .size = size,
			.name = probe->args[nr_args].name, .type_name = probe->args[nr_args].type_name,
		};
	return probe;
}

static struct argtrace_session *follow_with(struct kunit *test, const struct made_probe *probe,
					    const struct argtrace_session_attr *attr)
{
	struct argtrace_session *session = make_session_like(test, attr);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

static struct argtrace_session *follow(struct kunit *test, const struct made_probe *probe, u32 format)
{
	return follow_with(test, probe, &(struct argtrace_session_attr){ .format = format });
}

static struct argtrace_return_counts return_counts(struct argtrace_session *session, u32 id)
{
	struct argtrace_return_counts counts;

	argtrace_plan_return_counts(session->catalog.by_id[id], &counts);
	return counts;
}

/* The calls of the probe, as its counts add up. */
static u64 hits(const struct argtrace_return_counts *counts)
{
	u64 sum = counts->counts.records + counts->counts.filtered + counts->counts.sampled + counts->counts.capped +
		  counts->in_flight;
	u32 i;

	for (i = 0; i < ARGTRACE_LOST_MAX; i++)
		sum += counts->counts.lost[i];
	for (i = 0; i < ARGTRACE_UNFOLLOWED_MAX; i++)
		sum += counts->unfollowed[i];
	return sum;
}

/* The caller that records must show. */
static noinline u64 call_value(u64 a, u64 b, u64 c)
{
	const u64 value = target_value(a, b, c);

	barrier();
	return value;
}

static u64 value_of(u64 a, u64 b, u64 c)
{
	return (a * 31 + b) * 31 + c;
}

static const u32 clocks[] = { ARGTRACE_CLOCK_TSC, ARGTRACE_CLOCK_MONOTONIC };

static void describe_clock(const u32 *clock, char *text)
{
	strcpy(text, *clock == ARGTRACE_CLOCK_TSC ? "tsc" : "monotonic");
}
KUNIT_ARRAY_PARAM(clock, clocks, describe_clock);

static const struct argtrace_session_attr *attr_of_clock(struct kunit *test)
{
	struct argtrace_session_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	attr->clock = *(const u32 *)test->param_value;
	if (attr->clock == ARGTRACE_CLOCK_TSC && !argtrace_clock_has_tsc())
		kunit_skip(test, "this machine's TSC is none to keep time by");
	return attr;
}

static void one_call(struct kunit *test)
{
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_session *session = follow_with(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0),
						       attr);
	struct argtrace_return_counts counts;
	u64 before, after, words[6];
	struct seen seen;

	before = argtrace_clock_read(attr->clock);
	KUNIT_EXPECT_EQ(test, call_value(0x1122334455667788, ~0ull, 3), value_of(0x1122334455667788, ~0ull, 3));
	after = argtrace_clock_read(attr->clock);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.id, 1);
	KUNIT_EXPECT_EQ(test, seen.head.tid, current->pid);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 8 + 8 + 24 + 8);
	KUNIT_EXPECT_EQ(test, context_of(&seen), 0);
	KUNIT_EXPECT_EQ(test, seen.head.preempt, 0);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_LT(test, words[0] - (unsigned long)call_value, 256ul);
	KUNIT_EXPECT_LE(test, words[1], after - before);
	/* The entry is after `before`, and the return before `after`. */
	KUNIT_EXPECT_LE(test, (u32)(seen.head.clock - words[1] - before), (u32)(after - before));
	KUNIT_EXPECT_LE(test, (u32)(after - seen.head.clock), (u32)(after - before));
	KUNIT_EXPECT_EQ(test, words[2], 0x1122334455667788);
	KUNIT_EXPECT_EQ(test, words[3], ~0ull);
	KUNIT_EXPECT_EQ(test, words[4], 3);
	KUNIT_EXPECT_EQ(test, words[5], value_of(0x1122334455667788, ~0ull, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1);
	KUNIT_EXPECT_EQ(test, counts.in_flight, 0);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
}

/* By the clock that calls are timed by: msleep() counts jiffies, which lag behind on a machine that is busy. */
static u64 sleep_for(void *ms)
{
	const unsigned long us = (unsigned long)ms * USEC_PER_MSEC;

	if (us)
		usleep_range(us, us + USEC_PER_MSEC);
	return 41;
}

static void duration(struct kunit *test)
{
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_session *session = follow_with(test, make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0),
						       attr);
	u64 before, after, words[5];
	bool most = false;
	struct seen seen;
	u32 tries;

	/* Nearly all of it is in the call, unless the machine stands still just before it or after it. */
	for (tries = 0; tries < 10 && !most; tries++) {
		before = argtrace_clock_read(attr->clock);
		KUNIT_EXPECT_EQ(test, target_calls(sleep_for, (void *)50ul), 42);
		after = argtrace_clock_read(attr->clock);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		memcpy(words, seen.data, sizeof(words));
		KUNIT_EXPECT_LE(test, words[1], after - before);
		if (attr->clock == ARGTRACE_CLOCK_MONOTONIC)
			KUNIT_EXPECT_GE(test, words[1], 50 * NSEC_PER_MSEC);
		KUNIT_EXPECT_EQ(test, words[4], 42);
		most = words[1] >= (after - before) / 2;
	}
	KUNIT_EXPECT_TRUE(test, most);
}

struct value_case {
	const char *name;
	void *function;
	u8 type;
	u8 size;
	u8 expected[18];
	u8 length;
};

static const struct value_case value_cases[] = {
	{ "nothing", target_none, 0, 0, { }, 0 },
	{ "s32", target_narrow, ARGTRACE_TYPE_S32, 4, { 0xfb, 0xff, 0xff, 0xff }, 4 },
	{ "s16 of it", target_narrow, ARGTRACE_TYPE_S16, 2, { 0xfb, 0xff }, 2 },
	{ "bool of it", target_narrow, ARGTRACE_TYPE_BOOL, 1, { 0xfb }, 1 },
	{ "u64", target_value, ARGTRACE_TYPE_U64, 8, { 0xc5, 0x12 }, 8 }, /* 5 * 961 */
	{ "s128", target_wide, ARGTRACE_TYPE_S128, 16, { 0, 0, 0, 0, 0, 0, 0, 0, 5 }, 16 },
	{ "struct", target_pair, ARGTRACE_TYPE_BYTES, 12, { 12, 0, 6, 0, 0, 0, 0, 0, 0, 0, 1 }, 14 },
	{ "small struct", target_value, ARGTRACE_TYPE_BYTES, 5, { 5, 0, 0xc5, 0x12 }, 7 },
};

static void describe_value(const struct value_case *one, char *text)
{
	strcpy(text, one->name);
}
KUNIT_ARRAY_PARAM(value, value_cases, describe_value);

static void values(struct kunit *test)
{
	const struct value_case *one = test->param_value;
	/* One argument of 4 bytes, so that the value is not aligned, and one without it. */
	struct made_probe *probe = make_return_probe(test, one->function, 1, one->type, one->size, 0);
	struct argtrace_session *session;
	struct seen seen;

	probe->args[0].type = ARGTRACE_TYPE_U32;
	probe->args[0].size = 4;
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	((void (*)(u64, u64, u64))one->function)(5, 0, 0);
	((void (*)(u64, u64, u64))one->function)(5, 0, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 2);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + 4 + one->length, 8));
	KUNIT_EXPECT_EQ(test, *(u32 *)(seen.data + 8), 5);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 12, one->expected, one->length);
}

static void returned_by_memory(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_by_memory, 2, ARGTRACE_TYPE_PTR, 8, 0),
						  ARGTRACE_FORMAT_NO_CALLER);
	struct target_large large;
	struct seen seen;
	u64 words[4];

	large = target_by_memory(7);
	KUNIT_EXPECT_EQ(test, large.words[0], 7);
	KUNIT_EXPECT_EQ(test, large.words[2], 9);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	/* Where it is to be is the hidden first argument, and is returned. */
	KUNIT_EXPECT_EQ(test, words[1], words[3]);
	KUNIT_EXPECT_EQ(test, words[2], 7);
}

static void arguments_on_the_stack(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_many, 3, ARGTRACE_TYPE_U64, 8, 4);
	const struct target_large large = { { 1, 2, 3 } };
	struct argtrace_session *session;
	struct seen seen;
	u64 words[5];

	probe->args[1] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_STACK, .type = ARGTRACE_TYPE_U64, .size = 8, .offset = 8,
		.name = probe->args[1].name, .type_name = probe->args[1].type_name,
	};
	probe->args[2] = probe->args[1];
	probe->args[2].offset = 32;
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_by_value, 0, ARGTRACE_TYPE_U64, 8, 3)), 0);
	KUNIT_EXPECT_EQ(test, target_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), MANY);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[1], 1);
	KUNIT_EXPECT_EQ(test, words[2], 7);
	KUNIT_EXPECT_EQ(test, words[3], 10);
	KUNIT_EXPECT_EQ(test, words[4], MANY);
	KUNIT_EXPECT_EQ(test, target_by_value(large, 4), ((1 * 31 + 2) * 31 + 3) * 31 + 4);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[1], ((1 * 31 + 2) * 31 + 3) * 31 + 4);
}

static void inside_each_other(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_recursive, 1, ARGTRACE_TYPE_U64, 8, 0),
						  ARGTRACE_FORMAT_NO_CALLER);
	struct seen *seen = kunit_kcalloc(test, 21, sizeof(*seen), GFP_KERNEL);
	u64 value = 7, outer = 0;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	target_recursive(20);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 21), 21);
	/* They return in the opposite order, and each takes longer than the one that it has called. */
	for (i = 0; i <= 20; i++) {
		u64 words[3];

		memcpy(words, seen[i].data, sizeof(words));
		value = i ? value * 31 + i : 7;
		KUNIT_EXPECT_EQ(test, words[1], i);
		KUNIT_EXPECT_EQ(test, words[2], value);
		KUNIT_EXPECT_GE(test, words[0], outer);
		outer = words[0];
	}
}

static void call_in_interrupt(struct irq_work *work)
{
	call_value(4, 0, 0);
}

static void call_in_softirq(struct tasklet_struct *tasklet)
{
	call_value(5, 0, 0);
}

static u64 with_interrupts_off(void *unused)
{
	local_irq_disable();
	return 1;
}

static void context_at_entry(struct kunit *test)
{
	static const struct { u8 context; int preempt; } expected[] = {
		{ ARGTRACE_CTX_IRQS_OFF, 0 },
		{ 0, 2 },
		{ ARGTRACE_CTX_BH_OFF, 0 },
		{ ARGTRACE_CTX_IRQS_OFF | ARGTRACE_CTX_HARDIRQ, -1 },
		{ ARGTRACE_CTX_SOFTIRQ, -1 },
		{ 0, 0 },
	};
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_session *session = follow_with(test, make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, 8, 0),
						       attr);
	struct irq_work work = IRQ_WORK_INIT_HARD(call_in_interrupt);
	struct seen *seen = kunit_kcalloc(test, 6, sizeof(*seen), GFP_KERNEL);
	struct argtrace_return_counts counts;
	struct tasklet_struct tasklet;
	unsigned long flags;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_calls, 1, 0, 0, 0)), 0);
	tasklet_setup(&tasklet, call_in_softirq);
	local_irq_save(flags);
	call_value(1, 0, 0);
	local_irq_restore(flags);
	preempt_disable();
	preempt_disable();
	call_value(2, 0, 0);
	preempt_enable();
	preempt_enable();
	local_bh_disable();
	call_value(3, 0, 0);
	local_bh_enable();
	irq_work_queue(&work);
	irq_work_sync(&work);
	tasklet_schedule(&tasklet);
	tasklet_kill(&tasklet);
	target_calls(with_interrupts_off, NULL);
	local_irq_enable();

	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 6), 6);
	for (i = 0; i < 6; i++) {
		u64 words[4];

		memcpy(words, seen[i].data, sizeof(words));
		if (i < 5) {
			KUNIT_EXPECT_EQ(test, words[2], i + 1);
			KUNIT_EXPECT_EQ(test, words[3], (i + 1) * 961);
		}
		KUNIT_EXPECT_EQ_MSG(test, context_of(&seen[i]), expected[i].context, "call %u", i + 1);
		if (expected[i].preempt >= 0)
			KUNIT_EXPECT_EQ_MSG(test, seen[i].head.preempt, expected[i].preempt, "call %u", i + 1);
	}
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 5);
	KUNIT_EXPECT_EQ(test, this_cpu_read(argtrace_return_depth), 0);
}

static void nest_in_interrupt(struct irq_work *work)
{
	target_recursive(39);
}

/* Stacks of interrupts are smaller, and a call that is not followed returns all the same. */
static void deep_in_an_interrupt(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_recursive, 1, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct irq_work work = IRQ_WORK_INIT_HARD(nest_in_interrupt);
	struct argtrace_return_counts counts;

	irq_work_queue(&work);
	irq_work_sync(&work);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 40);
	KUNIT_EXPECT_EQ(test, counts.counts.records + counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], 40);
	KUNIT_EXPECT_GE(test, counts.counts.records, 6);
	KUNIT_EXPECT_EQ(test, this_cpu_read(argtrace_return_depth), 0);
}

/* Leaves no more than this of the stack before it calls. */
static noinline u64 call_with_stack_left_for(unsigned long left, u64 a)
{
	volatile u8 used[256];

	used[0] = 0;
	if ((unsigned long)used - (unsigned long)task_stack_page(current) > left)
		return call_with_stack_left_for(left, a) + used[0];
	return call_value(a, 2, 3) + used[0];
}

static u64 call_with_stack_left(unsigned long left)
{
	return call_with_stack_left_for(left, 1);
}

static void low_stack(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct argtrace_return_counts counts;

	KUNIT_EXPECT_EQ(test, call_with_stack_left(THREAD_SIZE / 2 - 512), value_of(1, 2, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
	KUNIT_EXPECT_EQ(test, call_with_stack_left(THREAD_SIZE / 2 + 1024), value_of(1, 2, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 2);
}

static void the_excluded_process(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct argtrace_return_counts counts;
	int file;

	KUNIT_ASSERT_EQ(test, argtrace_session_set_reader(session, &file, true), 0);
	call_value(1, 2, 3);
	argtrace_session_drop_reader(session, &file);
	call_value(1, 2, 3);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 2);
}

static void every_call_is_recorded_or_lost(struct kunit *test)
{
	struct argtrace_session *session = follow(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0), 0);
	struct argtrace_return_counts counts;
	u32 i;

	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, call_value(i, 2, 3), value_of(i, 2, 3));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_GT(test, counts.counts.lost[ARGTRACE_LOST_FULL], 0);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1000);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), counts.counts.records);
}

static void in_a_flight_recorder(struct kunit *test)
{
	struct argtrace_session *session = follow_with(test, make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0),
						       &(struct argtrace_session_attr){ .flags = ARGTRACE_SESSION_FLIGHT });
	struct argtrace_return_counts counts;
	struct seen *seen = kunit_kcalloc(test, 1000, sizeof(*seen), GFP_KERNEL);
	u32 i, count;
	u64 words[6];

	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < 1000; i++)
		call_value(i, 2, 3);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1000);
	count = read_records(test, session, seen, 1000);
	KUNIT_ASSERT_GT(test, count, 0);
	memcpy(words, seen[count - 1].data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[2], 999);
	KUNIT_EXPECT_EQ(test, words[5], value_of(999, 2, 3));
}

static void do_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/* ftrace calls all of them from a list then, and has all registers for us if one has asked for them. */
static void beside_another_tracer(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct ftrace_ops ops;
	u32 i, before;

	for (i = 0; i < 4; i++) {
		before = i & 1;
		ops = (struct ftrace_ops){ .func = do_nothing, .flags = flags[i / 2] };
		session = make_session(test, "", 0);
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)target_many, 0, 1), 0);
		if (before)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_many, 1, ARGTRACE_TYPE_U64, 8, 4)), 0);
		if (!before)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, target_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), MANY);
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, 1, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 1, "%u", i);
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
		session_remove_all(session);
	}
}

/* With and without another tracer, which comes first, second or last, and has all registers or not. */
static void two_sessions_beside_another_tracer(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS };
	struct argtrace_session *sessions[2];
	struct argtrace_return_counts counts[2];
	struct ftrace_ops ops;
	u32 i, j, place;

	for (i = 0; i < 6; i++) {
		place = i % 3;
		ops = (struct ftrace_ops){ .func = do_nothing, .flags = flags[i / 3] };
		KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)target_many, 0, 1), 0);
		for (j = 0; j < 2; j++) {
			if (place == j)
				KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
			sessions[j] = make_session(test, "", 0);
			KUNIT_ASSERT_EQ(test, session_add(test, sessions[j],
							  make_return_probe(test, target_many, 1, ARGTRACE_TYPE_U64, 8, 4)), 0);
		}
		if (place == 2)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, target_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), MANY);
		for (j = 0; j < 2; j++) {
			counts[j] = return_counts(sessions[j], 1);
			KUNIT_EXPECT_EQ_MSG(test, hits(&counts[j]), 1, "%u", i);
		}
		KUNIT_EXPECT_EQ_MSG(test, counts[0].counts.records + counts[1].counts.records, 1, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts[0].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] +
					  counts[1].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], 1, "%u", i);
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
		for (j = 0; j < 2; j++)
			session_remove_all(sessions[j]);
	}
}

static void two_sessions(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct argtrace_session *sessions[] = { follow(test, probe, 0), follow(test, probe, 0) };
	struct argtrace_return_counts counts[2];
	u32 i;

	KUNIT_EXPECT_EQ(test, call_value(1, 2, 3), value_of(1, 2, 3));
	for (i = 0; i < 2; i++) {
		counts[i] = return_counts(sessions[i], 1);
		KUNIT_EXPECT_EQ(test, hits(&counts[i]), 1);
	}
	/* One of them has it, and the other says so. */
	KUNIT_EXPECT_EQ(test, counts[0].counts.records + counts[1].counts.records, 1);
	KUNIT_EXPECT_EQ(test, counts[0].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN] +
			      counts[1].unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], 1);
	session_remove_all(sessions[counts[0].counts.records ? 0 : 1]);
	call_value(1, 2, 3);
	i = counts[0].counts.records ? 1 : 0;
	counts[i] = return_counts(sessions[i], 1);
	KUNIT_EXPECT_EQ(test, counts[i].counts.records, 1);
}

static u64 save_stack(void *entries)
{
	return stack_trace_save(entries, 32, 0);
}

static noinline u64 call_save_stack(unsigned long *entries)
{
	const u64 count = target_calls(save_stack, entries);

	barrier();
	return count;
}

/* The place of the function among those that have called; -1: it is not there. */
static int place_on_stack(const unsigned long *entries, u64 count, const void *function)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (entries[i] - (unsigned long)function < 256)
			return i;
	}
	return -1;
}

/* Whoever looks at the stack of the task sees the function, its caller, and all above. */
static void the_stack_is_whole(struct kunit *test)
{
	unsigned long plain[32], followed[32];
	const u64 nr_plain = call_save_stack(plain) - 1;
	struct argtrace_session *session = follow(test, make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0), 0);
	const u64 nr_followed = call_save_stack(followed) - 1;
	const int at_plain = place_on_stack(plain, nr_plain, call_save_stack);
	const int at_followed = place_on_stack(followed, nr_followed, call_save_stack);

	KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
	KUNIT_ASSERT_GE(test, at_plain, 0);
	KUNIT_ASSERT_GT(test, at_followed, at_plain);
	KUNIT_EXPECT_LT(test, place_on_stack(followed, nr_followed, target_calls), at_followed);
	/* Above the caller both are the same; the caller of that is this function, at two places. */
	KUNIT_EXPECT_EQ(test, nr_followed - at_followed, nr_plain - at_plain);
	KUNIT_EXPECT_MEMEQ(test, (const u8 *)&followed[at_followed + 2], (const u8 *)&plain[at_plain + 2],
			   (nr_plain - at_plain - 2) * sizeof(*plain));
}

/* A thread that sleeps in target_calls() until it is told to go on. */
struct sleeper {
	struct completion begun, may_end;
	struct task_struct *task;
	u64 result;
};

static u64 wait_inside(void *data)
{
	struct sleeper *sleeper = data;

	complete(&sleeper->begun);
	wait_for_completion(&sleeper->may_end);
	return 41;
}

static int sleep_in_call(void *data)
{
	struct sleeper *sleeper = data;

	sleeper->result = target_calls(wait_inside, sleeper);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void begin_sleeper(struct kunit *test, struct sleeper *sleeper)
{
	*sleeper = (struct sleeper){ };
	init_completion(&sleeper->begun);
	init_completion(&sleeper->may_end);
	sleeper->task = kthread_create(sleep_in_call, sleeper, "argtrace_sleeper");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sleeper->task);
	kthread_bind(sleeper->task, raw_smp_processor_id());
	wake_up_process(sleeper->task);
	wait_for_completion(&sleeper->begun);
}

static void end_sleeper(struct kunit *test, struct sleeper *sleeper)
{
	complete(&sleeper->may_end);
	kthread_stop(sleeper->task);
	KUNIT_EXPECT_EQ(test, sleeper->result, 42);
}

static struct made_probe *sleeper_probe(struct kunit *test)
{
	return make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
}

static void in_flight(struct kunit *test)
{
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	struct argtrace_return_counts counts;
	struct sleeper sleepers[3];
	u32 i;

	for (i = 0; i < 3; i++)
		begin_sleeper(test, &sleepers[i]);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.in_flight, 3);
	KUNIT_EXPECT_EQ(test, hits(&counts), 3);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 0);
	for (i = 0; i < 3; i++) {
		end_sleeper(test, &sleepers[i]);
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ(test, counts.in_flight, 2 - i);
		KUNIT_EXPECT_EQ(test, counts.counts.records, i + 1);
	}
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 3);
}

/* The call of a sleeper in a list; NULL. */
static const struct argtrace_in_flight_call *call_of(const struct argtrace_in_flight_search *search, const struct sleeper *sleeper)
{
	const struct argtrace_in_flight_call *found = NULL;
	u32 i;

	for (i = 0; i < min(search->found, search->room); i++) {
		if (search->calls[i].tid != sleeper->task->pid)
			continue;
		if (found)
			return NULL;	/* twice */
		found = &search->calls[i];
	}
	return found;
}

static void found_on_the_stacks_of_sleepers(struct kunit *test)
{
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	const struct argtrace_return *wanted = session->catalog.by_id[1]->returns;
	struct argtrace_in_flight_call calls[4];
	struct argtrace_in_flight_search search = { .wanted = &wanted, .nr_wanted = 1, .calls = calls, .room = ARRAY_SIZE(calls) };
	const u64 before = argtrace_clock_read(session->clock);
	struct sleeper sleepers[3];
	char text[64];
	u32 i;

	KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
	KUNIT_EXPECT_EQ(test, search.found, 0);
	argtrace_in_flight_name_tasks(wanted, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, text, "");
	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		begin_sleeper(test, &sleepers[i]);
	KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
	KUNIT_EXPECT_EQ(test, search.found, 3);
	KUNIT_EXPECT_EQ(test, search.missed, 0);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++) {
		const struct argtrace_in_flight_call *call = call_of(&search, &sleepers[i]);

		KUNIT_ASSERT_NOT_NULL(test, call);
		KUNIT_EXPECT_EQ(test, call->id, 1);
		KUNIT_EXPECT_EQ(test, call->tgid, sleepers[i].task->tgid);
		KUNIT_EXPECT_EQ(test, call->regs[0], (unsigned long)wait_inside);
		KUNIT_EXPECT_EQ(test, call->regs[1], (unsigned long)&sleepers[i]);
		KUNIT_EXPECT_EQ(test, call->context, 0);
		KUNIT_EXPECT_EQ(test, call->preempt, 0);
		KUNIT_EXPECT_GT(test, call->clock, before);
		KUNIT_EXPECT_LT(test, call->clock, argtrace_clock_read(session->clock));
		KUNIT_EXPECT_LT(test, call->caller - (unsigned long)sleep_in_call, 256);
		KUNIT_EXPECT_STREQ(test, call->comm, "argtrace_sleepe");
	}
	/* There is no room for all of them; what is behind it stays as it is. */
	search.room = 1;
	calls[1].tid = ~0u;
	KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
	KUNIT_EXPECT_EQ(test, search.found, 3);
	KUNIT_EXPECT_EQ(test, calls[1].tid, ~0u);
	argtrace_in_flight_name_tasks(wanted, text, sizeof(text));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, " (in argtrace_sleepe "));
	/* The calls of another plan are not found. */
	search.room = ARRAY_SIZE(calls);
	wanted = &argtrace_return_given_up;
	KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
	KUNIT_EXPECT_EQ(test, search.found, 0);
	for (i = 0; i < ARRAY_SIZE(sleepers); i++)
		end_sleeper(test, &sleepers[i]);
	wanted = session->catalog.by_id[1]->returns;
	KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
	KUNIT_EXPECT_EQ(test, search.found, 0);
}

static u64 spin_inside(void *data)
{
	struct sleeper *sleeper = data;

	complete(&sleeper->begun);
	while (!try_wait_for_completion(&sleeper->may_end))
		cpu_relax();
	return 41;
}

static u64 call_again(void *data)
{
	struct sleeper *sleeper = data;

	return target_calls(spin_inside, sleeper);
}

static int spin_in_nested_calls(void *data)
{
	struct sleeper *sleeper = data;

	sleeper->result = target_calls(call_again, sleeper);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* The other CPU is asked, and the innermost comes first. */
static void found_on_the_stack_of_a_running_task(struct kunit *test)
{
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	const struct argtrace_return *wanted = session->catalog.by_id[1]->returns;
	struct argtrace_in_flight_call calls[4];
	struct argtrace_in_flight_search search = { .wanted = &wanted, .nr_wanted = 1, .calls = calls, .room = ARRAY_SIZE(calls) };
	struct sleeper spinner = { };
	u32 i;

	init_completion(&spinner.begun);
	init_completion(&spinner.may_end);
	spinner.task = kthread_run(spin_in_nested_calls, &spinner, "argtrace_spinner");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, spinner.task);
	wait_for_completion(&spinner.begun);
	/* It runs, or waits for its CPU: one of many attempts finds it standing still for long enough. */
	for (i = 0; i < 1000; i++) {
		KUNIT_ASSERT_EQ(test, argtrace_in_flight_find(&search), 0);
		if (search.found)
			break;
		msleep(1);
	}
	KUNIT_EXPECT_EQ(test, search.found, 2);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, calls[i].tid, spinner.task->pid);
		KUNIT_EXPECT_EQ(test, calls[i].regs[1], (unsigned long)&spinner);
	}
	KUNIT_EXPECT_EQ(test, calls[0].regs[0], (unsigned long)spin_inside);
	KUNIT_EXPECT_GT(test, calls[0].clock, calls[1].clock);
	complete(&spinner.may_end);
	kthread_stop(spinner.task);
	KUNIT_EXPECT_EQ(test, spinner.result, 43);
}

/* Nothing is recorded of it any more, and it keeps its plan and the module until it has returned. */
static void removed_in_flight(struct kunit *test)
{
	const int references = module_refcount(THIS_MODULE);
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	struct argtrace_return_counts counts;
	struct sleeper sleeper;

	begin_sleeper(test, &sleeper);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references + 1);
	KUNIT_ASSERT_EQ(test, session_remove(session, (unsigned long)target_calls), 0);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 1);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references + 1);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.in_flight, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
	/* The same probe again is another one, while that call is in flight. */
	KUNIT_ASSERT_EQ(test, session_add(test, session, sleeper_probe(test)), 0);
	KUNIT_ASSERT_EQ(test, session->catalog.nr_ids, 3);
	end_sleeper(test, &sleeper);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_REMOVED], 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
	counts = return_counts(session, 2);
	KUNIT_EXPECT_EQ(test, hits(&counts), 0);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 0);

	session_remove_all(session);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
	/* Now that none is in flight the same probe comes back to life. */
	KUNIT_ASSERT_EQ(test, session_add(test, session, sleeper_probe(test)), 0);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 3);
	KUNIT_EXPECT_EQ(test, target_calls(sleep_for, NULL), 42);
	counts = return_counts(session, 2);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
}

static atomic_t nr_waits;

static void count_waits(enum argtrace_hook at)
{
	if (at == ARGTRACE_HOOK_WAIT_FOR_TRAMPOLINES)
		atomic_inc(&nr_waits);
}

/* While a call sleeps nobody waits for others, which takes all CPUs: not whoever removes probes, and not we from time to time. */
static void sleepers_disturb_nobody(struct kunit *test)
{
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0), *other = make_session(test, "", 0);
	struct sleeper sleeper;

	begin_sleeper(test, &sleeper);
	session_remove_all(session);
	argtrace_returns_flush();
	atomic_set(&nr_waits, 0);
	WRITE_ONCE(argtrace_kunit_hook, count_waits);
	KUNIT_EXPECT_EQ(test, session_add(test, other, make_probe(test, (unsigned long)target_three, 3)), 0);
	session_remove_all(other);
	argtrace_returns_flush();
	msleep(2500);
	KUNIT_EXPECT_EQ(test, atomic_read(&nr_waits), 0);
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 1);
	end_sleeper(test, &sleeper);
	argtrace_returns_flush();
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_GT(test, atomic_read(&nr_waits), 0);
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 0);
}

/* The log is told of each that has been leaving for long, and not only of those that were the first to. */
static void the_log_is_told_of_each(struct kunit *test)
{
	struct argtrace_session *sessions[2];
	struct sleeper sleepers[2];
	u32 i, tries;

	for (i = 0; i < 2; i++) {
		struct argtrace_return *returns;

		sessions[i] = follow(test, sleeper_probe(test), 0);
		begin_sleeper(test, &sleepers[i]);
		returns = sessions[i]->catalog.by_id[1]->returns;
		session_remove_all(sessions[i]);
		KUNIT_EXPECT_FALSE(test, READ_ONCE(returns->told));
		/* As if it had been then. */
		WRITE_ONCE(returns->stopped_at, jiffies - 60 * HZ);
		for (tries = 0; tries < 600 && !READ_ONCE(returns->told); tries++)
			msleep(100);
		KUNIT_EXPECT_TRUE_MSG(test, READ_ONCE(returns->told), "%u", i);
	}
	for (i = 0; i < 2; i++)
		end_sleeper(test, &sleepers[i]);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 0);
}

static void session_gone_in_flight(struct kunit *test)
{
	struct argtrace_session_attr attr = { .size = sizeof(attr), .packet_size = 4096, .nr_packets = 2 };
	const int references = module_refcount(THIS_MODULE);
	const u64 memory = argtrace_memory_used();
	struct argtrace_session *session = argtrace_session_get(&attr);
	struct sleeper sleeper;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	KUNIT_ASSERT_EQ(test, session_add(test, session, sleeper_probe(test)), 0);
	begin_sleeper(test, &sleeper);
	argtrace_session_put(session);
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 1);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references + 1);
	KUNIT_EXPECT_GT(test, argtrace_memory_used(), memory);
	end_sleeper(test, &sleeper);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), memory);
}

static u64 end_thread(void *done)
{
	kthread_complete_and_exit(done, 0);
	return 0;
}

static int end_in_call(void *done)
{
	return target_calls(end_thread, done);
}

static void ends_within(struct kunit *test)
{
	const int references = module_refcount(THIS_MODULE);
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	DECLARE_COMPLETION_ONSTACK(done);
	struct argtrace_return_counts counts;
	struct task_struct *task = kthread_create(end_in_call, &done, "argtrace_ends");
	u32 i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&done);
	for (i = 0; i < 1000 && !READ_ONCE(task->exit_state); i++)
		msleep(1);
	put_task_struct(task);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_EXITED], 1);
	KUNIT_EXPECT_EQ(test, counts.in_flight, 0);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
	session_remove_all(session);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
}

/* Many come and go while the probe is removed and added. */
static int call_until_stopped(void *wrong)
{
	u64 i = 0;

	while (!kthread_should_stop()) {
		if (target_many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10) != MANY + (i - 1) * MANY_STEP)
			atomic_inc(wrong);
		/* Those that are removed wait for it. */
		if (!(++i % 64))
			cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void added_and_removed_under_load(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct task_struct *tasks[4];
	atomic_t wrong = ATOMIC_INIT(0);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(call_until_stopped, &wrong, "argtrace_load");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, tasks[i]);
	}
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, session_add(test, session, make_return_probe(test, target_many, 6, ARGTRACE_TYPE_U64, 8, 4)), 0);
		msleep(5);
		session_remove_all(session);
	}
	for (i = 0; i < ARRAY_SIZE(tasks); i++)
		kthread_stop(tasks[i]);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, argtrace_returns_in_flight(), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&wrong), 0);
	for (i = 1; i < session->catalog.nr_ids; i++)
		KUNIT_EXPECT_EQ(test, return_counts(session, i).in_flight, 0);
}

static void functions_that_are_refused(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	const int references = module_refcount(THIS_MODULE);

	KUNIT_EXPECT_EQ(test, session_add(test, session, make_return_probe(test, kthread_complete_and_exit, 2, 0, 0, 0)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
	/* Its entry can be traced. */
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)kthread_complete_and_exit, 2)), 0);
}

static void their_list_is_sorted(struct kunit *test)
{
#define NAME(function, why)	#function,
	static const char *const names[] = { ARGTRACE_RETURN_REFUSED(NAME) };
	u32 i;

	for (i = 1; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_LT_MSG(test, strcmp(names[i - 1], names[i]), 0, "%s", names[i]);
}

static void probes_that_are_refused(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0), *named = make_session(test, "", ARGTRACE_FORMAT_NAMED);
	struct made_probe *probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, 8, 0);

	KUNIT_EXPECT_EQ(test, session_add(test, named, probe), -EINVAL);
	probe->head.flags = 0;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a value without RETURN");
	probe->head.flags = ARGTRACE_PROBE_WORDS(1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "words without RETURN");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(ARGTRACE_RETURN_WORDS_MAX + 1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "too many words");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_REMOVED;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | 1u << 16;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->head.flags = ARGTRACE_PROBE_RETURN;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "an unknown number of words");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
	probe->args[0].loc = ARGTRACE_LOC_RETURN;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "two values");
	probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_BYTES, 17, 0);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "too large");
	probe->args[1].size = 16;
	probe->args[1].index = 1;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->args[1].index = 0;
	probe->args[1].offset = 8;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	probe->args[1].offset = 0;
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(ARGTRACE_RETURN_WORDS_MAX);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), 0);
	/* As an entry it would be another probe at the same address. */
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_value, 1)), -EEXIST);
}

static bool may_not(void)
{
	return false;
}

static void who_may_not_follow(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 4096, .may_follow = may_not };
	const struct made_probe *probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, 8, 0);
	u64 length = probe->head.size;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make_plan_from(test, probe, &length, &format)), -EPERM);
}

/* A probe whose entry is traced does not come back as one that is followed, nor one with another number of words. */
static void another_probe_of_the_function(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);

	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_value, 1)), 0);
	session_remove_all(session);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_value, 1, 0, 0, 0)), 0);
	session_remove_all(session);
	argtrace_returns_flush();
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_value, 1, 0, 0, 1)), 0);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 4);
	KUNIT_EXPECT_EQ(test, session->catalog.by_id[2]->schema->flags,
			ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_REMOVED | FOLLOWED_BY);
	KUNIT_EXPECT_EQ(test, session->catalog.by_id[3]->schema->flags,
			ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(1) | FOLLOWED_BY);
	KUNIT_EXPECT_EQ(test, call_value(1, 2, 3), value_of(1, 2, 3));
	KUNIT_EXPECT_EQ(test, return_counts(session, 3).counts.records, 1);
}

#define ALL	(~0ull)
#define ACCEPT_IF(from, to) \
	.action = ARGTRACE_DO_TEST, .base = (from), .span = (to) - (u64)(from), \
	.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT
#define RETURN_S32	.source = ARGTRACE_SOURCE_RETURN, .shl = 32, .shr = 32, .flags = ARGTRACE_INSN_SIGNED, .mask = ALL
#define OUT(bytes)	.action = ARGTRACE_DO_OUT, .arg = (bytes)

#define AT_RETURN	.flags = ARGTRACE_INSN_RETURN

/* Gives the probe a program with filters at entry and at return. */
static void set_filters(struct made_probe *probe, const struct argtrace_insn *insns, u32 nr_insns, u32 nr_filter, u32 nr_return)
{
	set_program(probe, insns, nr_insns, nr_filter, NULL);
	((struct argtrace_program *)probe->program)->nr_return = nr_return;
}

static void filters(struct kunit *test)
{
	/* 10 <= a <= 20 && ret < -12 */
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .mask = 0xffffffff, ACCEPT_IF(10, 20) },
		{ RETURN_S32, ACCEPT_IF((u64)S32_MIN, (u64)-13) },
	};
	struct made_probe *probe = make_return_probe(test, target_narrow, 1, ARGTRACE_TYPE_S32, 4, 0);
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;
	u64 words[3];
	s32 a;

	set_filters(probe, insns, 2, 1, 1);
	session = follow_with(test, probe, attr);
	for (a = -5; a < 30; a++)
		KUNIT_ASSERT_EQ(test, target_narrow(a), -a);
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 8);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, 27);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 0);
	KUNIT_EXPECT_EQ(test, hits(&counts), 35);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 8);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, (u32)words[2], 13);
	KUNIT_EXPECT_EQ(test, context_of(&seen), 0);
}

static void filter_on_the_duration(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, ACCEPT_IF(20 * NSEC_PER_MSEC, 20 * NSEC_PER_SEC) },
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, OUT(8), AT_RETURN },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
	const struct argtrace_session_attr *attr = attr_of_clock(test);
	struct argtrace_return_counts counts;
	struct argtrace_session *session;
	u64 before, after, long_ones, words[7];
	struct seen seen;
	u32 calls = 0;

	set_filters(probe, insns, 2, 0, 1);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	session = follow_with(test, probe, attr);
	/* Where the machine stands still meanwhile, any call is a long one: the last of these is none. */
	do {
		before = ktime_get_mono_fast_ns();
		KUNIT_EXPECT_EQ(test, target_calls(sleep_for, NULL), 42);
		after = ktime_get_mono_fast_ns();
	} while (++calls < 10 && after - before >= 20 * NSEC_PER_MSEC);
	counts = return_counts(session, 1);
	long_ones = counts.counts.records;
	KUNIT_EXPECT_LT(test, long_ones, calls);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, calls - long_ones);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), long_ones);
	before = ktime_get_mono_fast_ns();
	KUNIT_EXPECT_EQ(test, target_calls(sleep_for, (void *)50ul), 42);
	after = ktime_get_mono_fast_ns();
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.records, long_ones + 1);
	KUNIT_EXPECT_EQ(test, counts.counts.filtered, calls - long_ones);
	KUNIT_EXPECT_EQ(test, hits(&counts), calls + 1);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[3], 50);
	KUNIT_EXPECT_EQ(test, words[4], 42);
	KUNIT_EXPECT_EQ(test, words[5], 0);
	KUNIT_EXPECT_GE(test, words[6], 49 * NSEC_PER_MSEC);
	/* To a few parts per million, where the clock is not the same. */
	KUNIT_EXPECT_LE(test, words[6], (after - before) + (after - before) / 1000);
}

static u64 write_seven(void *to)
{
	*(u64 *)to = 7;
	strcpy((char *)to + 8, "after");
	return 1;
}

/* Each value is what it was when it was wanted, in the order of the outputs. */
static void values_at_entry_and_return(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 1, .width = 8, .mask = ALL, OUT(8), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 1, .width = 8, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(2), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_CONST, .span = 0x10, .loads = 1, .width = 8, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .offset = { 8 }, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 16 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .offset = { 8 }, .mask = ALL, .action = ARGTRACE_DO_STR, .arg = 16,
		  AT_RETURN },
		{ .source = ARGTRACE_SOURCE_CONST, .span = 0x10, .loads = 1, .width = 8, .mask = ALL, OUT(1), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ALL, .action = ARGTRACE_DO_MEM, .arg = 3 },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 0, ARGTRACE_TYPE_U16, 2, 0);
	struct { u64 number; char text[8]; } memory = { 1, "before" };
	static const u8 expected[] = {
		2, 0,				/* what it returns */
		0x48, 0, 0, 0, 0, 0, 0, 0,	/* which outputs could not be read */
		7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0,
		6, 0, 'b', 'e', 'f', 'o', 'r', 'e', 5, 0, 'a', 'f', 't', 'e', 'r', 0, 3, 0, 1, 0, 0,
	};
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;

	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_STR, 16);
	add_output(probe, ARGTRACE_TYPE_STR, 16);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	KUNIT_EXPECT_EQ(test, target_calls(write_seven, &memory), 2);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + sizeof(expected), 8));
	KUNIT_EXPECT_MEMEQ(test, seen.data + 8, expected, sizeof(expected));
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 1);
	KUNIT_EXPECT_EQ(test, hits(&counts), 1);
}

static u64 five = 5, nine = 9;

static u64 leave_pointer(void *pointer)
{
	return 2;
}

static u64 set_pointer(void *pointer)
{
	*(u64 **)pointer = &nine;
	return 2;
}

static u64 clear_pointer(void *pointer)
{
	*(u64 **)pointer = NULL;
	return 2;
}

/* Behind a pointer that may be NULL, on the quick way from the second call on. */
static void numbers_at_entry_and_return(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(8) },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(4), AT_RETURN },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .loads = 2, .width = 8, .mask = ALL, OUT(1) },
		{ .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(2), AT_RETURN },
	};
	static const struct {
		u64 *before;
		u64 (*function)(void *pointer);
		struct { u16 value; u64 unreadable, entered; u32 returned; u8 entered_byte; u16 again; } __packed expected;
	} calls[] = {
		{ &five, leave_pointer, { 3, 0, 5, 5, 5, 3 } },
		{ NULL, set_pointer, { 3, 5, 0, 9, 0, 3 } },
		{ &five, clear_pointer, { 3, 2, 5, 0, 5, 3 } },
		{ NULL, leave_pointer, { 3, 7, 0, 0, 0, 3 } },
		{ &nine, leave_pointer, { 3, 0, 9, 9, 9, 3 } },
	};
	struct made_probe *probe = make_return_probe(test, target_calls, 0, ARGTRACE_TYPE_U16, 2, 0);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	struct seen seen;
	u64 *pointer;
	u32 i;

	set_filters(probe, insns, ARRAY_SIZE(insns), 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		pointer = calls[i].before;
		KUNIT_EXPECT_EQ(test, target_calls(calls[i].function, &pointer), 3);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 8 + sizeof(calls[i].expected), 8));
		KUNIT_EXPECT_MEMEQ(test, seen.data + 8, &calls[i].expected, sizeof(calls[i].expected));
	}
	counts = return_counts(session, 1);
	KUNIT_EXPECT_EQ(test, counts.counts.faults, 3);
	KUNIT_EXPECT_EQ(test, counts.counts.records, ARRAY_SIZE(calls));
	KUNIT_EXPECT_EQ(test, hits(&counts), ARRAY_SIZE(calls));
}

/* The same text `count` times, at entry. */
static struct made_probe *make_text_probe(struct kunit *test, void *function, u32 argument, u32 nr_args, u32 words, u32 count)
{
	struct made_probe *probe = make_return_probe(test, function, nr_args, ARGTRACE_TYPE_U64, 8, words);
	struct argtrace_insn insns[8];
	u32 i;

	for (i = 0; i < count; i++)
		insns[i] = (struct argtrace_insn){ .source = ARGTRACE_SOURCE_REG, .index = argument, .mask = ALL,
						   .action = ARGTRACE_DO_STR, .arg = 501 };
	set_filters(probe, insns, count, 0, 0);
	for (i = 0; i < count; i++)
		add_output(probe, ARGTRACE_TYPE_STR, 501);
	return probe;
}

/* Below the frame are what is kept and then the stack arguments; ftrace has called us in each of its ways. */
static void values_kept_beside_stack_arguments(struct kunit *test)
{
	static const char text[] = "some text that is kept";
	struct ftrace_ops ops = { .func = do_nothing, .flags = FTRACE_OPS_FL_SAVE_REGS };
	struct made_probe *probe = make_text_probe(test, target_many, 0, 0, 4, 1);
	struct argtrace_session *session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	struct seen seen;
	u32 i;

	KUNIT_ASSERT_EQ(test, ftrace_set_filter_ip(&ops, (unsigned long)target_many, 0, 1), 0);
	for (i = 0; i < 2; i++) {
		const u64 value = MANY + ((u64)text - 1) * MANY_STEP;

		if (i)
			KUNIT_ASSERT_EQ(test, register_ftrace_function(&ops), 0);
		KUNIT_EXPECT_EQ(test, target_many((u64)text, 2, 3, 4, 5, 6, 7, 8, 9, 10), value);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), value);
		KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 16), 0);
		KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 24), sizeof(text) - 1);
		KUNIT_EXPECT_MEMEQ(test, seen.data + 26, text, sizeof(text) - 1);
	}
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}

static char long_text[501];

/* A call whose values do not fit the upper half of the stack is not followed; one without values would be. */
static void values_on_a_low_stack(struct kunit *test)
{
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	u32 i;

	memset(long_text, 'x', sizeof(long_text));
	for (i = 0; i < 2; i++) {
		session = follow(test, make_text_probe(test, target_value, 0, 3, 0, i ? 7 : 1), 0);
		KUNIT_EXPECT_EQ(test, call_with_stack_left_for(THREAD_SIZE / 2 + 3072, (u64)long_text),
				value_of((u64)long_text, 2, 3));
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, !i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 1, "%u", i);
		session_remove_all(session);
	}
}

static void nest_with_text(struct irq_work *work)
{
	target_value((u64)long_text, 2, 3);
}

/* There they count for as much of the depth as they take of the stack. */
static void values_in_an_interrupt(struct kunit *test)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(nest_with_text);
	struct argtrace_session *session;
	struct argtrace_return_counts counts;
	u32 i;

	memset(long_text, 'x', sizeof(long_text));
	for (i = 0; i < 2; i++) {
		session = follow(test, make_text_probe(test, target_value, 0, 3, 0, i ? 7 : 2), 0);
		irq_work_queue(&work);
		irq_work_sync(&work);
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, !i, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_STACK], i, "%u", i);
		KUNIT_EXPECT_EQ(test, this_cpu_read(argtrace_return_depth), 0);
		session_remove_all(session);
	}
}

static __maybe_unused void more_than_the_kernel_keeps(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);

	KUNIT_EXPECT_EQ(test, session_add(test, session, make_text_probe(test, target_value, 0, 3, 0, 7)), -E2BIG);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
}

/* Each has its own, however deep they are inside each other. */
static void values_inside_each_other(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_STACK, .loads = 1, .width = 8, .mask = ALL, OUT(8) },
		{ .source = ARGTRACE_SOURCE_REG, .mask = ALL, OUT(1) },
	};
	struct made_probe *probe = make_return_probe(test, target_recursive, 0, ARGTRACE_TYPE_U64, 8, 0);
	struct seen *seen = kunit_kcalloc(test, 21, sizeof(*seen), GFP_KERNEL);
	struct argtrace_session *session;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	set_filters(probe, insns, 2, 0, 0);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	session = follow(test, probe, 0);
	target_recursive(20);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 21), 21);
	for (i = 0; i <= 20; i++) {
		u64 words[5];

		memcpy(words, seen[i].data, sizeof(words));
		KUNIT_EXPECT_EQ_MSG(test, words[4], words[0], "the caller is what the stack pointer points to, %u", i);
		KUNIT_EXPECT_EQ(test, seen[i].data[40], i);
	}
}

static void sampled_and_capped(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct argtrace_program *head = (void *)probe->program;
	struct argtrace_return_counts counts;
	bool in_time = false;
	u32 i, tries;

	set_filters(probe, NULL, 0, 0, 0);
	head->sample = 4;
	head->max_rate = 3;
	/* All in one second, unless the machine stands still meanwhile. */
	for (tries = 0; tries < 10 && !in_time; tries++) {
		struct argtrace_session *session = follow(test, probe, 0);
		const u64 begun = get_jiffies_64();

		for (i = 0; i < 40; i++)
			call_value(i, 2, 3);
		in_time = get_jiffies_64() - begun < HZ;
		counts = return_counts(session, 1);
		session_remove_all(session);
	}
	KUNIT_ASSERT_TRUE(test, in_time);
	KUNIT_EXPECT_EQ(test, counts.counts.records, 3);
	KUNIT_EXPECT_EQ(test, counts.counts.sampled, 30);
	KUNIT_EXPECT_EQ(test, counts.counts.capped, 7);
	KUNIT_EXPECT_EQ(test, hits(&counts), 40);
}

static void faults_of_filters(struct kunit *test)
{
	static const struct argtrace_insn insn = {
		.source = ARGTRACE_SOURCE_REG, .loads = 1, .width = 8, .mask = ALL, ACCEPT_IF(0, 1)
	};
	u64 readable = 1, unwanted = 2;
	u32 i, round;

	for (i = 0; i < 2; i++) {
		struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
		struct argtrace_return_counts counts;
		struct argtrace_session *session;

		set_filters(probe, &insn, 1, !i, i);
		session = follow(test, probe, 0);
		for (round = 0; round < 3; round++) {
			call_value(0x10, 2, 3);
			call_value((u64)&readable, 2, 3);
			call_value((u64)&unwanted, 2, 3);
		}
		counts = return_counts(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, 3, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.filtered, 6, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.faults, 3, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 9, "%u", i);
		session_remove_all(session);
	}
}

static void programs_that_are_refused(struct kunit *test)
{
	struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_RETURN, .index = 1, .mask = ALL, ACCEPT_IF(0, 1) },
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, ACCEPT_IF(0, 1) },
	};
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct made_probe *other = make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
	struct made_probe *plain = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_insn late = { .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(8) };
	struct argtrace_program *head = (void *)probe->program;

	insns[0].then = 1;
	set_filters(probe, insns, 2, 2, 0);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "what is not known at entry");
	set_filters(probe, insns, 2, 0, 1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a jump out of the filter");
	head->nr_return = 3;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "more than there are");
	insns[0].index = 2;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a third register");
	insns[0].index = 1;
	insns[1].index = 1;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "another duration");
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	insns[1].index = 0;
	insns[0].flags = ARGTRACE_INSN_RETURN;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a flag of outputs");
	insns[0].flags = 0;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), 0);
	add_output(other, ARGTRACE_TYPE_U64, 8);
	set_program(other, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, other), -EINVAL, "what the function returns, at entry");
	late.flags = ARGTRACE_INSN_RETURN;
	set_program(other, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ(test, session_add(test, session, other), 0);
	late.source = ARGTRACE_SOURCE_REG;
	add_output(plain, ARGTRACE_TYPE_U64, 8);
	set_program(plain, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, plain), -EINVAL, "a return that is not followed");
}

static struct kunit_case return_cases[] = {
	KUNIT_CASE_PARAM(one_call, clock_gen_params),
	KUNIT_CASE_PARAM(duration, clock_gen_params),
	KUNIT_CASE_PARAM(values, value_gen_params),
	KUNIT_CASE(returned_by_memory),
	KUNIT_CASE(arguments_on_the_stack),
	KUNIT_CASE(inside_each_other),
	KUNIT_CASE_PARAM(context_at_entry, clock_gen_params),
	KUNIT_CASE(the_excluded_process),
	KUNIT_CASE(every_call_is_recorded_or_lost),
	KUNIT_CASE(in_a_flight_recorder),
	KUNIT_CASE(beside_another_tracer),
	KUNIT_CASE(in_flight),
	KUNIT_CASE(added_and_removed_under_load),
	KUNIT_CASE_PARAM(filters, clock_gen_params),
	KUNIT_CASE_PARAM(filter_on_the_duration, clock_gen_params),
	KUNIT_CASE(values_at_entry_and_return),
	KUNIT_CASE(numbers_at_entry_and_return),
	KUNIT_CASE(values_inside_each_other),
	KUNIT_CASE(sampled_and_capped),
	KUNIT_CASE(faults_of_filters),
	KUNIT_CASE(another_probe_of_the_function),
#if FOLLOWED_BY
	KUNIT_CASE(more_than_the_kernel_keeps),
#else
	KUNIT_CASE(values_kept_beside_stack_arguments),
	KUNIT_CASE(values_in_an_interrupt),
	KUNIT_CASE(deep_in_an_interrupt),
	KUNIT_CASE(low_stack),
	KUNIT_CASE(two_sessions),
	KUNIT_CASE(two_sessions_beside_another_tracer),
	KUNIT_CASE(the_stack_is_whole),
	KUNIT_CASE(found_on_the_stacks_of_sleepers),
	KUNIT_CASE(found_on_the_stack_of_a_running_task),
	KUNIT_CASE(removed_in_flight),
	KUNIT_CASE(sleepers_disturb_nobody),
	KUNIT_CASE(the_log_is_told_of_each),
	KUNIT_CASE(session_gone_in_flight),
	KUNIT_CASE(ends_within),
	KUNIT_CASE(values_on_a_low_stack),
	KUNIT_CASE(programs_that_are_refused),
	KUNIT_CASE(functions_that_are_refused),
	KUNIT_CASE(their_list_is_sorted),
	KUNIT_CASE(probes_that_are_refused),
	KUNIT_CASE(who_may_not_follow),
#endif
	{ }
};

static struct kunit_suite return_suite = {
	.name = SUITE,
	.init = stay_on_this_cpu,
	.test_cases = return_cases,
};
kunit_test_suite(return_suite);
