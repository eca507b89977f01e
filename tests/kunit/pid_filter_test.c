// SPDX-License-Identifier: GPL-2.0-only
/* PID filters: which processes pass them, and whose calls a session with one records. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include "filter/pid_filter.h"
#include "fixtures.h"
#include "base/hook.h"
#include "base/memory.h"
#include "ring_read.h"
#include "targets.h"

#define KTHREADD	2	/* the parent of all threads of the kernel */

static struct argtrace_pid_filter *create_with(struct kunit *test, u32 number, u32 flags)
{
	u32 failed;
	struct argtrace_pid_filter *pid_filter =
		argtrace_pid_filter_create(&number, 1, flags, &failed);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pid_filter);
	return pid_filter;
}

static struct argtrace_pid_filter *create(struct kunit *test, u32 number, bool children)
{
	return create_with(test, number, children ? ARGTRACE_PROCESSES_CHILDREN : 0);
}

static void those_asked_for(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_pid_filter *pid_filter = create(test, task_tgid_vnr(current), false);
	u32 number = 0;

	KUNIT_EXPECT_TRUE(test, argtrace_pid_filter_has(pid_filter, current->tgid));
	KUNIT_EXPECT_FALSE(test, argtrace_pid_filter_has(pid_filter, 0));
	KUNIT_EXPECT_FALSE(test, argtrace_pid_filter_has(pid_filter, 1));
	KUNIT_EXPECT_FALSE(test, argtrace_pid_filter_has(pid_filter, PID_MAX_LIMIT - 1));
	argtrace_pid_filter_list(pid_filter, task_active_pid_ns(current), &number, 1);
	KUNIT_EXPECT_EQ(test, number, (u32)task_tgid_vnr(current));
	argtrace_pid_filter_list(pid_filter, &init_pid_ns, &number, 1);
	KUNIT_EXPECT_EQ(test, number, (u32)task_tgid_nr(current));
	KUNIT_EXPECT_GE(test, argtrace_memory_used() - before, (u64)PID_MAX_LIMIT / 8);
	argtrace_pid_filter_free(pid_filter);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void no_processes(struct kunit *test)
{
	static const u32 nobody[] = { 0, PID_MAX_LIMIT - 1, PID_MAX_LIMIT, S32_MAX, U32_MAX };
	const u64 before = argtrace_memory_used();
	u32 i;

	for (i = 0; i < ARRAY_SIZE(nobody); i++) {
		const u32 numbers[] = { task_tgid_vnr(current), nobody[i], 1 };
		u32 failed = 0;

		KUNIT_EXPECT_EQ_MSG(test,
				    PTR_ERR_OR_ZERO(argtrace_pid_filter_create(numbers, 3, false,
									      &failed)),
				    -ESRCH, "%u", nobody[i]);
		KUNIT_EXPECT_EQ(test, failed, 1);
	}
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static int wait_for_stop(void *data)
{
	set_current_state(TASK_INTERRUPTIBLE);
	while (!kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

/*
 * Whether a process is recorded that begins, where its parent is or is not, and whatever the filter
 * said of its PID before.
 */
static void begins(struct kunit *test, struct argtrace_pid_filter *pid_filter, bool parent,
		   bool expected)
{
	int before;

	for (before = 0; before < 2; before++) {
		struct task_struct *task;

		memset(pid_filter->bits, before ? 0xff : 0, BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long));
		assign_bit(KTHREADD, pid_filter->bits, parent);
		task = kthread_run(wait_for_stop, NULL, "argtrace_begins");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
		KUNIT_EXPECT_EQ(test, argtrace_pid_filter_has(pid_filter, task->tgid), expected);
		kthread_stop(task);
	}
}

static void children(struct kunit *test)
{
	struct argtrace_pid_filter *pid_filter = create(test, KTHREADD, true);

	begins(test, pid_filter, true, true);
	begins(test, pid_filter, false, false);
	argtrace_pid_filter_free(pid_filter);
}

static void children_of_those_not_followed(struct kunit *test)
{
	struct argtrace_pid_filter *pid_filter = create(test, KTHREADD, false);

	begins(test, pid_filter, true, false);
	argtrace_pid_filter_free(pid_filter);
}

static void those_excluded(struct kunit *test)
{
	struct argtrace_pid_filter *pid_filter =
		create_with(test, task_tgid_vnr(current), ARGTRACE_PROCESSES_EXCLUDE);

	KUNIT_EXPECT_FALSE(test, argtrace_pid_filter_has(pid_filter, current->tgid));
	KUNIT_EXPECT_TRUE(test, argtrace_pid_filter_has(pid_filter, 0));
	KUNIT_EXPECT_TRUE(test, argtrace_pid_filter_has(pid_filter, 1));
	KUNIT_EXPECT_TRUE(test, argtrace_pid_filter_has(pid_filter, PID_MAX_LIMIT - 1));
	begins(test, pid_filter, false, true);
	argtrace_pid_filter_free(pid_filter);

	pid_filter = create_with(test, task_tgid_vnr(current),
				 ARGTRACE_PROCESSES_EXCLUDE | ARGTRACE_PROCESSES_CHILDREN);
	begins(test, pid_filter, false, false);
	begins(test, pid_filter, true, true);
	argtrace_pid_filter_free(pid_filter);
}

static void expect_counts(struct kunit *test, struct argtrace_session *session, u64 records,
			  u64 filtered)
{
	struct argtrace_counts counts;

	target_three(1, 2, 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, records);
	KUNIT_EXPECT_EQ(test, counts.filtered, filtered);
}

static void whose_calls_are_recorded(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_pid_filter *own = create(test, task_tgid_vnr(current), false);
	struct argtrace_pid_filter *another = create(test, KTHREADD, false), *refused;
	int file;

	KUNIT_ASSERT_EQ(test, argtrace_lanes_set_pid_filter(session, own), 0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	expect_counts(test, session, 1, 0);
	KUNIT_ASSERT_EQ(test, argtrace_lanes_set_pid_filter(session, another), 0);
	expect_counts(test, session, 1, 1);
	KUNIT_EXPECT_EQ(test, argtrace_lanes_set_pid_filter(session, NULL), -EBUSY);
	KUNIT_ASSERT_EQ(test,
			argtrace_lanes_set_pid_filter(session, create(test, task_tgid_vnr(current), true)),
			0);
	expect_counts(test, session, 2, 1);
	KUNIT_ASSERT_EQ(test, argtrace_session_set_reader(session, &file, true), 0);
	expect_counts(test, session, 2, 2);
	argtrace_session_drop_reader(session, &file);

	session_remove_all(session);
	KUNIT_ASSERT_EQ(test, argtrace_lanes_set_pid_filter(session, NULL), 0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	refused = create(test, KTHREADD, false);
	KUNIT_EXPECT_EQ(test, argtrace_lanes_set_pid_filter(session, refused), -EBUSY);
	argtrace_pid_filter_free(refused);
}

static void whose_calls_are_excluded(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);

	KUNIT_ASSERT_EQ(test,
			argtrace_lanes_set_pid_filter(session, create_with(test, task_tgid_vnr(current),
									ARGTRACE_PROCESSES_EXCLUDE)),
			0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	expect_counts(test, session, 0, 1);
	KUNIT_ASSERT_EQ(test,
			argtrace_lanes_set_pid_filter(session, create_with(test, KTHREADD,
									ARGTRACE_PROCESSES_EXCLUDE)),
			0);
	expect_counts(test, session, 1, 1);
}

static void context_of_the_chosen(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_pid_filter *own = create(test, task_tgid_vnr(current), false);
	struct seen *seen = kunit_kcalloc(test, 3, sizeof(*seen), GFP_KERNEL);
	unsigned long flags;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	KUNIT_ASSERT_EQ(test, argtrace_lanes_set_pid_filter(session, own), 0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	target_three(1, 2, 3);
	preempt_disable();
	target_three(1, 2, 3);
	preempt_enable();
	local_irq_save(flags);
	target_three(1, 2, 3);
	local_irq_restore(flags);

	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 3), 3);
	KUNIT_EXPECT_EQ(test, context_of(&seen[0]), 0);
	KUNIT_EXPECT_EQ(test, seen[0].head.preempt, 0);
	KUNIT_EXPECT_EQ(test, context_of(&seen[1]), 0);
	KUNIT_EXPECT_EQ(test, seen[1].head.preempt, 1);
	KUNIT_EXPECT_EQ(test, context_of(&seen[2]), ARGTRACE_CTX_IRQS_OFF);
	KUNIT_EXPECT_EQ(test, seen[2].head.preempt, 0);
}

static void of_a_removed_session(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "removed", 0);
	struct argtrace_pid_filter *pid_filter = create(test, KTHREADD, false);

	KUNIT_EXPECT_EQ(test, argtrace_session_remove("removed"), 0);
	KUNIT_EXPECT_EQ(test, argtrace_lanes_set_pid_filter(session, pid_filter), -ENOENT);
	argtrace_pid_filter_free(pid_filter);
}

/* On another CPU a new process is in the middle of walking the list of PID filters. */
static struct {
	bool walking, freed, saw_freed;
} walk;

static void stay_in_the_list(enum argtrace_hook at)
{
	int ms;

	if (at != ARGTRACE_HOOK_PID_FILTERS || READ_ONCE(walk.walking))
		return;
	WRITE_ONCE(walk.walking, true);
	for (ms = 0; ms < 300 && !READ_ONCE(walk.freed); ms++)
		mdelay(1);
	walk.saw_freed = READ_ONCE(walk.freed);
}

static int begin_a_process(void *go)
{
	struct task_struct *task;

	wait_for_completion(go);
	task = kthread_run(wait_for_stop, NULL, "argtrace_begun");
	if (!IS_ERR(task))
		kthread_stop(task);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static void not_freed_while_a_process_begins(struct kunit *test)
{
	struct argtrace_pid_filter *stays = create(test, task_tgid_vnr(current), true);
	struct argtrace_pid_filter *goes = create(test, task_tgid_vnr(current), true);
	DECLARE_COMPLETION_ONSTACK(go);
	struct task_struct *task;
	int ms;

	memset(&walk, 0, sizeof(walk));
	task = kthread_run(begin_a_process, &go, "argtrace_forker");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	WRITE_ONCE(argtrace_kunit_hook, stay_in_the_list);
	complete(&go);
	for (ms = 0; ms < 20000 && !READ_ONCE(walk.walking); ms += 10)
		msleep(10);
	KUNIT_EXPECT_TRUE(test, walk.walking);
	argtrace_pid_filter_free(goes);
	WRITE_ONCE(walk.freed, true);
	kthread_stop(task);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	argtrace_pid_filter_free(stays);
	KUNIT_EXPECT_FALSE(test, walk.saw_freed);
}

static struct kunit_case processes_cases[] = {
	KUNIT_CASE(those_asked_for),
	KUNIT_CASE(no_processes),
	KUNIT_CASE(children),
	KUNIT_CASE(children_of_those_not_followed),
	KUNIT_CASE(those_excluded),
	KUNIT_CASE(whose_calls_are_excluded),
	KUNIT_CASE(whose_calls_are_recorded),
	KUNIT_CASE(context_of_the_chosen),
	KUNIT_CASE(of_a_removed_session),
	KUNIT_CASE(not_freed_while_a_process_begins),
	{ }
};

static struct kunit_suite processes_suite = {
	.name = "argtrace_pid_filter",
	.init = stay_on_this_cpu,
	.test_cases = processes_cases,
};
kunit_test_suite(processes_suite);
