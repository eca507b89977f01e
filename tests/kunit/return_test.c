// SPDX-License-Identifier: GPL-2.0-only
/* Calls whose return is followed, from the function to the record. */
#include <kunit/test.h>
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>

#include "base/clock.h"
#include "base/fprobe.h"
#include "base/memory.h"
#include "machine.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "source/fallback.h"
#include "source/returns/returns.h"
#include "targets.h"

/* fprobe_test.c and kretprobe_test.c have the kernel follow the calls, in suites of their own. */
#ifndef SUITE
#define SUITE	"argtrace_return"
#endif

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

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
	KUNIT_EXPECT_TRUE(test, is_in_function(words[0], call_value));
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
	struct made_probe *probe = make_return_probe(test, target_by_memory, 2, ARGTRACE_TYPE_PTR, 8, 0);
	struct argtrace_session *session;
	struct target_large large;
	struct seen seen;
	u64 words[4];

	if (ARGTRACE_RESULT_HAS_REGISTER)
		probe->head.flags |= ARGTRACE_PROBE_IN_MEMORY;
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	large = target_by_memory(7);
	KUNIT_EXPECT_EQ(test, large.words[0], 7);
	KUNIT_EXPECT_EQ(test, large.words[2], 9);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_TRUE(test, object_is_on_stack((void *)words[3]));
	if (ARGTRACE_RESULT_HAS_REGISTER) {
		KUNIT_EXPECT_EQ(test, words[1], 7);
	} else {
		/* Where it is to be is the hidden first argument, and is returned. */
		KUNIT_EXPECT_EQ(test, words[1], words[3]);
		KUNIT_EXPECT_EQ(test, words[2], 7);
	}
}

static void arguments_on_the_stack(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_many, 3, ARGTRACE_TYPE_U64, 8, 4);
	const struct target_large large = { { 1, 2, 3 } };
	struct argtrace_session *session;
	struct seen seen;
	u64 words[5];

	probe->args[1] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_STACK, .type = ARGTRACE_TYPE_U64, .size = 8, .offset = ARGTRACE_FIRST_STACK_WORD,
		.name = probe->args[1].name, .type_name = probe->args[1].type_name,
	};
	probe->args[2] = probe->args[1];
	probe->args[2].offset = ARGTRACE_FIRST_STACK_WORD + 8 * (10 - 1 - ARGTRACE_REG_COUNT);
	session = follow(test, probe, ARGTRACE_FORMAT_NO_CALLER);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_return_probe(test, target_by_value, 0, ARGTRACE_TYPE_U64, 8, 3)), 0);
	KUNIT_EXPECT_EQ(test, target_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10), MANY);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[1], 1);
	KUNIT_EXPECT_EQ(test, words[2], ARGTRACE_REG_COUNT + 1);
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

/* ftrace calls all of them from a list then, and has all registers for us, where it saves them, if one has asked for them. */
static void beside_another_tracer(struct kunit *test)
{
	static const unsigned long flags[] = { 0, FTRACE_OPS_FL_SAVE_REGS_IF_SUPPORTED };
	const bool is_followed = FOLLOWED_BY || MACHINE_FOLLOWS_BESIDE_OTHERS;
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
		KUNIT_EXPECT_EQ_MSG(test, counts.counts.records, is_followed, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, counts.unfollowed[ARGTRACE_UNFOLLOWED_TAKEN], !is_followed, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, hits(&counts), 1, "%u", i);
		unregister_ftrace_function(&ops);
		ftrace_free_filter(&ops);
		session_remove_all(session);
	}
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

/* What the kernel's own means take at once for the calls that may be in flight; ours are on the stacks of tasks. */
static u64 taken_by_the_kernel(void)
{
	if (FOLLOWED_BY == ARGTRACE_PROBE_BY_KRETPROBE)
		return 64 * sizeof(struct kretprobe_instance);
	return FOLLOWED_BY == ARGTRACE_PROBE_BY_FPROBE ? 64 * ARGTRACE_FPROBE_INSTANCE : 0;
}

static void memory_of_the_kernel_is_charged(struct kunit *test)
{
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct argtrace_session *session = follow(test, probe, 0);
	const u64 with = argtrace_memory_used();
	u64 without, left;

	KUNIT_ASSERT_EQ(test, session_remove(session, (unsigned long)target_value), 0);
	argtrace_returns_flush();
	without = argtrace_memory_used();
	if (!taken_by_the_kernel()) {
		KUNIT_EXPECT_LT(test, with - without, 1000);
		return;
	}
	KUNIT_ASSERT_GE(test, with - without, taken_by_the_kernel());

	/* The limit is reached by what the kernel would take, not by what we do. */
	left = argtrace_memory_limit() - without - (with - without) / 2;
	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(left), 0);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -ENOSPC);
	argtrace_memory_uncharge(left);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), without);
	call_value(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 0);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	KUNIT_EXPECT_GE(test, argtrace_memory_used() - without, taken_by_the_kernel());
	call_value(1, 2, 3);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 1);
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
	KUNIT_CASE(another_probe_of_the_function),
	KUNIT_CASE(memory_of_the_kernel_is_charged),
	{ }
};

static struct kunit_suite return_suite = {
	.name = SUITE,
	.init = begin_following,
	.test_cases = return_cases,
};
kunit_test_suite(return_suite);
