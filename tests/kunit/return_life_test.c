// SPDX-License-Identifier: GPL-2.0-only
/* Calls that are in flight: how they are found, and what becomes of them when the probe, the session or the task goes. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/string.h>

#include "base/clock.h"
#include "base/hook.h"
#include "base/memory.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "source/returns/in_flight.h"
#include "source/returns/returns.h"
#include "targets.h"

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
	static struct argtrace_in_flight_call calls[4];
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
		KUNIT_EXPECT_EQ(test, without_reschedule(call->context), 0);
		KUNIT_EXPECT_EQ(test, call->preempt, 0);
		KUNIT_EXPECT_GT(test, call->clock, before);
		KUNIT_EXPECT_LT(test, call->clock, argtrace_clock_read(session->clock));
		KUNIT_EXPECT_TRUE(test, is_in_function(call->caller, sleep_in_call));
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

static struct argtrace_in_flight_search *watched;
static struct task_struct *watched_task;

/* As if the task had run while its stack was walked, once. */
static void run_while_walked(enum argtrace_hook at)
{
	if (at != ARGTRACE_HOOK_TASK_WALKED || !watched || !watched->found)
		return;
	watched = NULL;
	watched_task->nvcsw++;
}

/* What was found then does not count: it is walked again. */
static void found_once_when_it_has_run_meanwhile(struct kunit *test)
{
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);
	const struct argtrace_return *wanted = session->catalog.by_id[1]->returns;
	static struct argtrace_in_flight_call calls[4];
	struct argtrace_in_flight_search search = { .wanted = &wanted, .nr_wanted = 1, .calls = calls, .room = ARRAY_SIZE(calls) };
	struct sleeper sleeper;
	int ret;

	begin_sleeper(test, &sleeper);
	watched_task = sleeper.task;
	watched = &search;
	WRITE_ONCE(argtrace_kunit_hook, run_while_walked);
	ret = argtrace_in_flight_find(&search);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_NULL(test, watched);
	KUNIT_EXPECT_EQ(test, search.found, 1);
	KUNIT_EXPECT_EQ(test, search.missed, 0);
	KUNIT_EXPECT_NOT_NULL(test, call_of(&search, &sleeper));
	end_sleeper(test, &sleeper);
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
	static struct argtrace_in_flight_call calls[4];
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

static const struct argtrace_return *removing;
static u32 nr_lanes_removed_from;
static bool was_idle;

/* As whoever asks for ARGTRACE_IOC_INFO has those that are leaving looked at. The lanes follow in their order. */
static void look_while_it_is_called(enum argtrace_hook at)
{
	if (at != ARGTRACE_HOOK_LANE_REMOVAL || nr_lanes_removed_from++ > ARGTRACE_LANE_RETURN)
		return;
	argtrace_returns_in_flight();
	argtrace_returns_flush();
	if (READ_ONCE(removing->life) == ARGTRACE_RETURN_IDLE)
		was_idle = true;
}

/* Nothing is in flight, but its lane still calls it. What is idle may be freed, and the module unloaded. */
static void not_idle_before_its_lane_has_let_go(struct kunit *test)
{
	const int references = module_refcount(THIS_MODULE);
	struct argtrace_session *session = follow(test, sleeper_probe(test), 0);

	removing = session->catalog.by_id[1]->returns;
	nr_lanes_removed_from = 0;
	was_idle = false;
	WRITE_ONCE(argtrace_kunit_hook, look_while_it_is_called);
	KUNIT_EXPECT_EQ(test, session_remove(session, (unsigned long)target_calls), 0);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_EQ(test, nr_lanes_removed_from, ARGTRACE_LANES);
	KUNIT_EXPECT_FALSE(test, was_idle);
	argtrace_returns_flush();
	KUNIT_EXPECT_EQ(test, removing->life, ARGTRACE_RETURN_IDLE);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
}

/* A probe that comes back to life leaves as it did before: calls are waited for before it is looked at, and again before it goes. */
static void a_second_life_is_waited_for(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	u32 life;

	for (life = 0; life < 2; life++) {
		KUNIT_ASSERT_EQ(test, session_add(test, session, sleeper_probe(test)), 0);
		KUNIT_ASSERT_EQ(test, session->catalog.nr_ids, 2);
		atomic_set(&nr_waits, 0);
		WRITE_ONCE(argtrace_kunit_hook, count_waits);
		session_remove_all(session);
		argtrace_returns_flush();
		WRITE_ONCE(argtrace_kunit_hook, NULL);
		KUNIT_EXPECT_EQ_MSG(test, atomic_read(&nr_waits), 2, "%u", life);
	}
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
		KUNIT_EXPECT_FALSE(test, READ_ONCE(returns->logged));
		/* As if it had been then. */
		WRITE_ONCE(returns->stopped_at, jiffies - 60 * HZ);
		for (tries = 0; tries < 600 && !READ_ONCE(returns->logged); tries++)
			msleep(100);
		KUNIT_EXPECT_TRUE_MSG(test, READ_ONCE(returns->logged), "%u", i);
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

static struct kunit_case return_life_cases[] = {
	KUNIT_CASE(found_on_the_stacks_of_sleepers),
	KUNIT_CASE(found_once_when_it_has_run_meanwhile),
	KUNIT_CASE(found_on_the_stack_of_a_running_task),
	KUNIT_CASE(removed_in_flight),
	KUNIT_CASE(sleepers_disturb_nobody),
	KUNIT_CASE(not_idle_before_its_lane_has_let_go),
	KUNIT_CASE(a_second_life_is_waited_for),
	KUNIT_CASE(the_log_is_told_of_each),
	KUNIT_CASE(session_gone_in_flight),
	KUNIT_CASE(ends_within),
	{ }
};

static struct kunit_suite return_life_suite = {
	.name = "argtrace_return_life",
	.init = stay_on_this_cpu,
	.test_cases = return_life_cases,
};
kunit_test_suite(return_life_suite);
