// SPDX-License-Identifier: GPL-2.0-only
/* Sessions: their lifetime, their attributes, and concurrent use. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "arm/arm.h"
#include "fixtures.h"
#include "base/hook.h"
#include "base/limits.h"
#include "base/memory.h"
#include "targets.h"

struct attr_case {
	const char *name;
	u32 flags, format, clock, packet_size, nr_packets;
	int ret;
};

static const struct attr_case attr_cases[] = {
	{ "defaults", 0, 0, 0, 0, 0, 0 },
	{ "smallest", 0, 0, 0, ARGTRACE_PACKET_SIZE_MIN, 2, 0 },
	{ "named encoding", 0, ARGTRACE_FORMAT_NAMED, 0, 4096, 2, 0 },
	{ "flight recorder", ARGTRACE_SESSION_FLIGHT, 0, 0, 4096, 2, 0 },
	{ "no caller", 0, ARGTRACE_FORMAT_NO_CALLER, 0, 4096, 2, 0 },
	{ "a format there is not", 0, 1u << 31, 0, 4096, 2, -EINVAL },
	{ "a clock there is not", 0, 0, 77, 4096, 2, -EINVAL },
	{ "packets too small", 0, 0, 0, ARGTRACE_PACKET_SIZE_MIN / 2, 2, -EINVAL },
	{ "packets too large", 0, 0, 0, ARGTRACE_PACKET_SIZE_MAX * 2, 2, -EINVAL },
	{ "packets of 12 KiB", 0, 0, 0, 12288, 2, -EINVAL },
	{ "one packet", 0, 0, 0, 4096, 1, -EINVAL },
	{ "three packets", 0, 0, 0, 4096, 3, -EINVAL },
	{ "too many packets", 0, 0, 0, 4096, ARGTRACE_NR_PACKETS_MAX * 2, -EINVAL },
	{ "more than there is memory", 0, 0, 0, ARGTRACE_PACKET_SIZE_MAX, ARGTRACE_NR_PACKETS_MAX, -ENOSPC },
};

static void describe_attr(const struct attr_case *attr, char *text)
{
	strscpy(text, attr->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(attr, attr_cases, describe_attr);

struct cpus_case {
	u32 cpus, nr_packets;
};

static const struct cpus_case cpus_cases[] = {
	{ 1, 64 }, { 32, 64 }, { 33, 32 }, { 64, 32 }, { 65, 16 }, { 256, 8 }, { 1000, 2 }, { 8192, 2 },
};

static void describe_cpus(const struct cpus_case *wanted, char *text)
{
	snprintf(text, KUNIT_PARAM_DESC_SIZE, "%u CPUs", wanted->cpus);
}
KUNIT_ARRAY_PARAM(cpus, cpus_cases, describe_cpus);

/* However many CPUs there are, the rings of a session take 128 MiB, as long as that is two packets for each of them. */
static void default_size(struct kunit *test)
{
	const struct cpus_case *wanted = test->param_value;
	const u32 nr_packets = argtrace_default_nr_packets(wanted->cpus);

	KUNIT_EXPECT_EQ(test, nr_packets, wanted->nr_packets);
	if (nr_packets > 2)
		KUNIT_EXPECT_LE(test, (u64)wanted->cpus * nr_packets * ARGTRACE_PACKET_SIZE, 128ull << 20);
}

static void attributes(struct kunit *test)
{
	const struct attr_case *wanted = test->param_value;
	struct argtrace_session_attr attr = {
		.size = sizeof(attr),
		.flags = wanted->flags,
		.format = wanted->format,
		.clock = wanted->clock,
		.packet_size = wanted->packet_size,
		.nr_packets = wanted->nr_packets,
	};
	const u64 before = argtrace_memory_used();
	struct argtrace_session *session = argtrace_session_get(&attr);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(session), wanted->ret);
	if (!IS_ERR(session)) {
		u64 ring = attr.packet_size * attr.nr_packets;

		KUNIT_EXPECT_EQ(test, attr.packet_size, wanted->packet_size ?: ARGTRACE_PACKET_SIZE);
		KUNIT_EXPECT_EQ(test, attr.nr_packets, wanted->nr_packets ?: ARGTRACE_NR_PACKETS);
		KUNIT_EXPECT_EQ(test, attr.nr_cpus, nr_cpu_ids);
		KUNIT_EXPECT_EQ(test, attr.format, wanted->format);
		KUNIT_EXPECT_EQ(test, attr.flags, wanted->flags);
		KUNIT_EXPECT_EQ(test, session->flight, wanted->flags == ARGTRACE_SESSION_FLIGHT);
		KUNIT_EXPECT_GE(test, argtrace_memory_used() - before, ring * num_present_cpus());
		argtrace_session_put(session);
	}
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 0);
}

static struct argtrace_session *get_named(const char *name, u32 flags)
{
	struct argtrace_session_attr attr = {
		.size = sizeof(attr),
		.flags = flags,
		.packet_size = 4096,
		.nr_packets = 2,
	};

	strscpy(attr.name, name, sizeof(attr.name));
	return argtrace_session_get(&attr);
}

static void a_name_keeps_it(struct kunit *test)
{
	struct argtrace_session *one, *other;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(get_named("kept", 0)), -ENOENT);
	one = get_named("kept", ARGTRACE_SESSION_CREATE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, one);
	argtrace_session_put(one);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 1);

	other = get_named("kept", 0);
	KUNIT_EXPECT_PTR_EQ(test, other, one);
	argtrace_session_put(other);
	KUNIT_EXPECT_EQ(test, argtrace_session_remove("other"), -ENOENT);
	KUNIT_EXPECT_EQ(test, argtrace_session_remove("kept"), 0);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 0);
	KUNIT_EXPECT_EQ(test, argtrace_session_remove("kept"), -ENOENT);
}

/* A session removed while in use is disarmed, has no name and refuses probes; another one can take the name. */
static void removed_while_in_use(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *held = make_session(test, "used", 0), *next;

	KUNIT_ASSERT_EQ(test, session_add(test, held, probe), 0);
	KUNIT_EXPECT_TRUE(test, argtrace_lanes_armed(held));
	KUNIT_EXPECT_EQ(test, argtrace_session_remove("used"), 0);
	KUNIT_EXPECT_FALSE(test, argtrace_lanes_armed(held));
	KUNIT_EXPECT_TRUE(test, held->removed);
	KUNIT_EXPECT_EQ(test, session_add(test, held, probe), -ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(get_named("used", 0)), -ENOENT);

	next = get_named("used", ARGTRACE_SESSION_CREATE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, next);
	KUNIT_EXPECT_PTR_NE(test, next, held);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 2);
	KUNIT_EXPECT_EQ(test, argtrace_session_remove("used"), 0);
	argtrace_session_put(next);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 1);
}

static void one_reader(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	int one, other;

	KUNIT_EXPECT_EQ(test, argtrace_session_set_reader(session, &one, true), 0);
	KUNIT_EXPECT_EQ(test, session->lanes[ARGTRACE_LANE_PLAIN].excluded_tgid, current->tgid);
	KUNIT_EXPECT_EQ(test, argtrace_session_set_reader(session, &other, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, session->lanes[ARGTRACE_LANE_PLAIN].excluded_tgid, current->tgid);
	argtrace_session_drop_reader(session, &other);
	KUNIT_EXPECT_EQ(test, argtrace_session_set_reader(session, &other, false), -EBUSY);
	KUNIT_EXPECT_EQ(test, argtrace_session_set_reader(session, &one, false), 0);
	KUNIT_EXPECT_EQ(test, session->lanes[ARGTRACE_LANE_PLAIN].excluded_tgid, -1);
	argtrace_session_drop_reader(session, &one);
	KUNIT_EXPECT_EQ(test, argtrace_session_set_reader(session, &other, false), 0);
}

struct sleeper {
	struct wait_queue_entry entry;
	struct completion woken;
};

static int sleeper_woken(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	complete(&container_of(entry, struct sleeper, entry)->woken);
	return 0;
}

/*
 * A callback on another CPU may publish a record before it sees that a reader waits, while the reader has not seen the
 * record yet. Even if no further call ever comes, the reader is woken.
 */
static void a_wakeup_that_was_missed(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session = make_session(test, "", 0);
	struct sleeper sleeper;
	bool woken;
	int cpu;

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	init_completion(&sleeper.woken);
	init_waitqueue_func_entry(&sleeper.entry, sleeper_woken);
	add_wait_queue(&session->notice.wait, &sleeper.entry);
	argtrace_notice_await(&session->notice);
	/* What a callback sees that looks before the stores above reach its CPU. */
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(session->rings, cpu)->waiting, false);
	target_three(1, 2, 3);
	woken = wait_for_completion_timeout(&sleeper.woken, 60 * HZ);
	remove_wait_queue(&session->notice.wait, &sleeper.entry);
	KUNIT_EXPECT_TRUE(test, woken);
}

/* Work that several threads do at once, each for a number of rounds. */
struct worker {
	void (*work)(struct worker *worker);
	struct argtrace_session *session;
	struct argtrace_plan **plans;
	unsigned long addr;
	u32 rounds;
	u32 errors;
	u32 *busy;		/* how many others are still at it */
	struct completion done;
};

static int worker_thread(void *data)
{
	struct worker *worker = data;

	worker->work(worker);
	complete(&worker->done);
	return 0;
}

static void start(struct kunit *test, struct worker *worker)
{
	struct task_struct *task;

	init_completion(&worker->done);
	task = kthread_run(worker_thread, worker, "argtrace_worker");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
}

static void add_and_remove(struct worker *worker)
{
	u32 i;

	for (i = 0; i < worker->rounds; i++) {
		unsigned long failed;
		int ret;

		mutex_lock(&worker->session->lock);
		ret = argtrace_arm_add(worker->session, &worker->plans[i], 1, &failed);
		mutex_unlock(&worker->session->lock);
		worker->errors += ret != 0;
		worker->errors += session_remove(worker->session, worker->addr) != 0;
	}
}

static void call_targets(struct worker *worker)
{
	while (READ_ONCE(*worker->busy)) {
		target_none();
		target_three(1, 2, 3);
		target_six(1, 2, 3, 4, 5, 6);
		cond_resched_tasks_rcu_qs();
	}
}

static void adding_and_removing_at_once(struct kunit *test)
{
	static void *const targets[] = { target_none, target_three, target_six };
	const u32 rounds = 4;
	struct argtrace_session *session = make_session(test, "", 0);
	struct worker *workers = kunit_kcalloc(test, 4, sizeof(*workers), GFP_KERNEL);
	u32 busy = ARRAY_SIZE(targets), i, j;

	KUNIT_ASSERT_NOT_NULL(test, workers);
	for (i = 0; i < ARRAY_SIZE(targets); i++) {
		struct made_probe *probe = make_probe(test, (unsigned long)targets[i], i);

		workers[i] = (struct worker){
			.work = add_and_remove,
			.session = session,
			.addr = (unsigned long)targets[i],
			.rounds = rounds,
			.plans = kunit_kcalloc(test, rounds, sizeof(void *), GFP_KERNEL),
		};
		KUNIT_ASSERT_NOT_NULL(test, workers[i].plans);
		for (j = 0; j < rounds; j++)
			workers[i].plans[j] = make_plan(test, probe);
	}
	workers[3] = (struct worker){ .work = call_targets, .busy = &busy };
	for (i = 0; i < 4; i++)
		start(test, &workers[i]);
	for (i = 0; i < 3; i++) {
		wait_for_completion(&workers[i].done);
		WRITE_ONCE(busy, busy - 1);
		KUNIT_EXPECT_EQ(test, workers[i].errors, 0);
	}
	wait_for_completion(&workers[3].done);

	KUNIT_EXPECT_FALSE(test, argtrace_lanes_armed(session));
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 0);
	KUNIT_EXPECT_EQ(test, session->catalog.generation, 2 * 3 * rounds);
	/* Each round has brought the same probe back to life. */
	KUNIT_EXPECT_EQ(test, session->catalog.nr_addrs, 3);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 4);
	for (i = 1; i < 4; i++) {
		const struct argtrace_counters sum =
			argtrace_counters_sum(&session->catalog.by_id[i]->counters);

		KUNIT_EXPECT_EQ(test, sum.filtered, 0);
		KUNIT_EXPECT_EQ(test, sum.lost[ARGTRACE_LOST_NO_BUFFER], 0);
	}
}

static atomic_t calls_without_a_probe;

static void count_call_without_a_probe(enum argtrace_hook at)
{
	if (at == ARGTRACE_HOOK_NO_PROBE)
		atomic_inc(&calls_without_a_probe);
}

/* The table has the new function before ftrace calls us for it; otherwise calls would be in no count. */
static void no_call_is_missed_while_functions_are_added(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *first = make_probe(test, (unsigned long)target_eight, 3);
	struct made_probe *second = make_probe(test, (unsigned long)target_six, 3);
	struct worker *worker = kunit_kzalloc(test, sizeof(*worker), GFP_KERNEL);
	u32 busy = 1, round;

	KUNIT_ASSERT_NOT_NULL(test, worker);
	*worker = (struct worker){ .work = call_targets, .busy = &busy };
	start(test, worker);
	KUNIT_EXPECT_EQ(test, session_add(test, session, first), 0);
	atomic_set(&calls_without_a_probe, 0);
	WRITE_ONCE(argtrace_kunit_hook, count_call_without_a_probe);
	for (round = 0; round < 5; round++) {
		KUNIT_EXPECT_EQ(test, session_add(test, session, second), 0);
		KUNIT_EXPECT_EQ(test, session_remove(session, (unsigned long)target_six), 0);
	}
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	WRITE_ONCE(busy, 0);
	wait_for_completion(&worker->done);
	KUNIT_EXPECT_EQ(test, atomic_read(&calls_without_a_probe), 0);
}

static void get_and_put(struct worker *worker)
{
	u32 i;

	for (i = 0; i < worker->rounds; i++) {
		struct argtrace_session *session = get_named("raced", ARGTRACE_SESSION_CREATE);

		if (IS_ERR(session)) {
			worker->errors++;
			continue;
		}
		/* We hold a reference, so it can be used whether or not it has lost its name. */
		mutex_lock(&session->lock);
		worker->errors += session->catalog.nr_live[ARGTRACE_LANE_PLAIN] != 0;
		mutex_unlock(&session->lock);
		cond_resched_tasks_rcu_qs();
		argtrace_session_put(session);
	}
}

static void remove_by_name(struct worker *worker)
{
	while (READ_ONCE(*worker->busy)) {
		argtrace_session_remove("raced");
		cond_resched_tasks_rcu_qs();
	}
}

static void making_and_removing_at_once(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct worker *workers = kunit_kcalloc(test, 4, sizeof(*workers), GFP_KERNEL);
	u32 busy = 1, i;

	KUNIT_ASSERT_NOT_NULL(test, workers);
	for (i = 0; i < 3; i++)
		workers[i] = (struct worker){ .work = get_and_put, .rounds = 100 };
	workers[3] = (struct worker){ .work = remove_by_name, .busy = &busy };
	for (i = 0; i < 4; i++)
		start(test, &workers[i]);
	for (i = 0; i < 3; i++) {
		wait_for_completion(&workers[i].done);
		KUNIT_EXPECT_EQ(test, workers[i].errors, 0);
	}
	WRITE_ONCE(busy, 0);
	wait_for_completion(&workers[3].done);
	argtrace_session_remove("raced");
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 0);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void all_removed_at_once(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session;
	char name[8];
	u32 i;

	for (i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "s%u", i);
		session = get_named(name, ARGTRACE_SESSION_CREATE);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
		KUNIT_EXPECT_EQ(test, session_add(test, session, probe), 0);
		argtrace_session_put(session);
	}
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 5);
	argtrace_sessions_remove_all();
	KUNIT_EXPECT_FALSE(test, argtrace_sessions_leaked());
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 0);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

/* A session without a name is not the list's to put: whoever holds it does, be that after the module was told to go. */
static void the_nameless_are_left_to_their_holders(struct kunit *test)
{
	struct argtrace_session *session = get_named("", 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	argtrace_sessions_remove_all();
	KUNIT_EXPECT_FALSE(test, session->removed);
	KUNIT_EXPECT_EQ(test, kref_read(&session->ref), 1);
	argtrace_session_put(session);
	KUNIT_EXPECT_EQ(test, argtrace_sessions_count(), 0);
}

static void ids_of_maps_that_were_dropped_are_given_away_again(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	const struct argtrace_map description = {
		.size = sizeof(description),
		.key_words = 1,
		.slots = ARGTRACE_MAP_SLOTS_MIN,
	};
	struct argtrace_map_set *maps[2], *again;
	u32 ids[2], id;

	for (id = 0; id < 2; id++) {
		maps[id] = argtrace_session_make_map(session, &description, &ids[id]);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, maps[id]);
		KUNIT_EXPECT_EQ(test, ids[id], id);
	}
	argtrace_session_drop_map(session, ids[0], maps[0]);
	argtrace_session_drop_map(session, ids[1], maps[1]);
	again = argtrace_session_make_map(session, &description, &id);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, again);
	KUNIT_EXPECT_EQ(test, id, 0);
	argtrace_session_drop_map(session, id, again);
}

struct other_thread {
	struct completion done;
	struct argtrace_session *session;
	int ret;
};

static struct other_thread *run_thread(struct kunit *test, int (*function)(void *data), struct argtrace_session *session)
{
	struct other_thread *thread = kunit_kzalloc(test, sizeof(*thread), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, thread);
	init_completion(&thread->done);
	thread->session = session;
	KUNIT_EXPECT_FALSE(test, IS_ERR(kthread_run(function, thread, "session_test")));
	return thread;
}

static int module_events(void *data)
{
	struct other_thread *thread = data;

	argtrace_sessions_module_coming(THIS_MODULE);
	argtrace_sessions_module_going(THIS_MODULE, true);
	argtrace_sessions_module_going(THIS_MODULE, false);
	complete(&thread->done);
	return 0;
}

static int remove_slow(void *data)
{
	struct other_thread *thread = data;

	thread->ret = argtrace_session_remove("slow");
	complete(&thread->done);
	return 0;
}

static int put_slow(void *data)
{
	struct other_thread *thread = data;

	argtrace_session_put(thread->session);
	complete(&thread->done);
	return 0;
}

static bool has_lost_its_name(const struct argtrace_session *session)
{
	return READ_ONCE(session->removed);
}

static bool has_left_the_list(const struct argtrace_session *session)
{
	return !argtrace_sessions_count();
}

/*
 * Whether modules are loaded and unloaded while `end` disarms the session, which takes as long as its lock is held. It has begun to when
 * `has_begun` is true. What `end` returned.
 */
static int end_during_module_events(struct kunit *test, struct argtrace_session *session, int (*end)(void *data),
				    bool (*has_begun)(const struct argtrace_session *session))
{
	struct other_thread *ender, *events;
	unsigned int tries;
	bool in_time;

	mutex_lock(&session->lock);
	ender = run_thread(test, end, session);
	for (tries = 0; tries < 6000 && !has_begun(session); tries++)
		msleep(10);
	KUNIT_EXPECT_TRUE(test, has_begun(session));
	events = run_thread(test, module_events, NULL);
	in_time = wait_for_completion_timeout(&events->done, 60 * HZ);
	KUNIT_EXPECT_TRUE(test, in_time);
	KUNIT_EXPECT_FALSE(test, completion_done(&ender->done));
	mutex_unlock(&session->lock);
	wait_for_completion(&ender->done);
	if (!in_time)
		wait_for_completion(&events->done);
	return ender->ret;
}

/* Modules are loaded and unloaded, however long a session that has nothing to do with them takes to disarm. Its name is free before. */
static void modules_wait_for_no_other_session(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "slow", 0);

	KUNIT_EXPECT_EQ(test, end_during_module_events(test, session, remove_slow, has_lost_its_name), 0);
}

/* The same of one without a name, which leaves the list before its probes are removed. */
static void modules_wait_for_no_session_that_ends(struct kunit *test)
{
	struct argtrace_session *session = get_named("", 0);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	end_during_module_events(test, session, put_slow, has_left_the_list);
}

/* With nothing left below the limit, probes can still be removed: one, and all. */
static void removing_takes_no_memory(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	u64 taken = 0, step;

	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_six, 6)), 0);
	KUNIT_ASSERT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_three, 3)), 0);
	for (step = 1ull << 40; step; step /= 2) {
		if (!argtrace_memory_charge(step))
			taken += step;
	}
	KUNIT_EXPECT_EQ(test, session_remove(session, (unsigned long)target_six), 0);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_live[ARGTRACE_LANE_PLAIN], 1);
	KUNIT_EXPECT_EQ(test, session_remove(session, (unsigned long)target_three), 0);
	KUNIT_EXPECT_FALSE(test, argtrace_lanes_armed(session));
	argtrace_memory_uncharge(taken);
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_six, 6)), 0);
}

static struct kunit_case session_cases[] = {
	KUNIT_CASE_PARAM(default_size, cpus_gen_params),
	KUNIT_CASE_PARAM(attributes, attr_gen_params),
	KUNIT_CASE(a_name_keeps_it),
	KUNIT_CASE(removed_while_in_use),
	KUNIT_CASE(one_reader),
	KUNIT_CASE(a_wakeup_that_was_missed),
	KUNIT_CASE(adding_and_removing_at_once),
	KUNIT_CASE(no_call_is_missed_while_functions_are_added),
	KUNIT_CASE(making_and_removing_at_once),
	KUNIT_CASE(all_removed_at_once),
	KUNIT_CASE(the_nameless_are_left_to_their_holders),
	KUNIT_CASE(ids_of_maps_that_were_dropped_are_given_away_again),
	KUNIT_CASE(modules_wait_for_no_other_session),
	KUNIT_CASE(modules_wait_for_no_session_that_ends),
	KUNIT_CASE(removing_takes_no_memory),
	{ }
};

static struct kunit_suite session_suite = {
	.name = "argtrace_session",
	.test_cases = session_cases,
};
kunit_test_suite(session_suite);
