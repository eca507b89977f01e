// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's unwinder has said of return addresses is kept, and forgotten in time. */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "arch/walk.h"
#include "base/hook.h"
#include "machine.h"

static struct argtrace_stack_room room;

static noinline void walk_here(struct argtrace_walked *walked)
{
	OWN_STACK(start);

	preempt_disable();
	argtrace_stack_walk(&start, &room, ARGTRACE_STACK_DEPTH_MAX, walked);
	preempt_enable();
}

static noinline void walk_from(unsigned int depth, struct argtrace_walked *walked)
{
	if (depth)
		walk_from(depth - 1, walked);
	else
		walk_here(walked);
	barrier();
}

static unsigned int learned;

static void count_learned(enum argtrace_hook at)
{
	learned += at == ARGTRACE_HOOK_FRAME_LEARNED;
}

static void what_is_known_is_not_asked_again(struct kunit *test)
{
	static const unsigned int depths[] = { 0, 1, 5, 60 };
	struct argtrace_walked walked;
	u32 i, before;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	learned = 0;
	argtrace_kunit_hook = count_learned;
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		walk_from(depths[i], &walked);
		KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_WALK_WHOLE);
		before = learned;
		walk_from(depths[i], &walked);
		KUNIT_EXPECT_LE(test, learned, before + 1);
	}
	KUNIT_EXPECT_GT(test, learned, 3u);
	argtrace_kunit_hook = NULL;
	argtrace_frames_put();
}

static void forgets_modules(struct kunit *test)
{
	struct argtrace_walked walked;
	u32 before;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	walk_from(2, &walked);
	argtrace_kunit_hook = count_learned;
	before = learned;
	argtrace_frames_forget(THIS_MODULE, true);
	walk_from(2, &walked);
	KUNIT_EXPECT_LE(test, learned, before + 1);
	before = learned;
	/* This function, walk_from() in two places, and what calls a test. */
	argtrace_frames_forget(THIS_MODULE, false);
	walk_from(2, &walked);
	KUNIT_EXPECT_GE(test, learned, before + 2);
	argtrace_kunit_hook = NULL;
	argtrace_frames_put();
}

/* How many of these addresses, none of which is in code, have the home of address 0: enough for all places near it. */
static u32 crowd_around_zero(bool interrupted, unsigned int shift)
{
	u64 ip = __START_KERNEL_map;
	u32 found = 0;

	preempt_disable();
	while (found < 20) {
		ip += 2;
		if (argtrace_frame_home(ip, shift) != argtrace_frame_home(0, shift))
			continue;
		argtrace_frame_find(ip, interrupted, room.symbol);
		found++;
	}
	preempt_enable();
	return found;
}

/* A function that is called through a NULL pointer is no frame that returns to itself, however full the tables are. */
static void nothing_is_at_address_0(struct kunit *test)
{
	u64 frame;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	frame = argtrace_frame_at_home(argtrace_frames, 0);
	KUNIT_EXPECT_NE(test, frame, 0);
	KUNIT_EXPECT_TRUE(test, argtrace_frame_is_of(frame, 0));
	crowd_around_zero(false, ARGTRACE_FRAMES_SHIFT);
	crowd_around_zero(true, ARGTRACE_FRAMES_INTERRUPTED_SHIFT);
	KUNIT_EXPECT_EQ(test, argtrace_frame_at_home(argtrace_frames, 0), frame);
	argtrace_frames_forget(THIS_MODULE, false);
	preempt_disable();
	KUNIT_EXPECT_EQ(test, argtrace_frame_find(0, false, room.symbol), frame);
	KUNIT_EXPECT_EQ(test, argtrace_frame_find(0, true, room.symbol), frame);
	preempt_enable();
	argtrace_frames_put();
}

static bool module_is_forgotten;

static void forget_module(struct work_struct *work)
{
	argtrace_frames_forget(THIS_MODULE, false);
	smp_store_release(&module_is_forgotten, true);
}
static DECLARE_WORK(forget_work, forget_module);

/* The module goes, on another CPU, while the unwinder is asked about an address in it. */
static void forget_while_asked(enum argtrace_hook at)
{
	if (at != ARGTRACE_HOOK_FRAME_LEARNED)
		return;
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	queue_work_on(cpumask_any_but(cpu_online_mask, smp_processor_id()), system_highpri_wq, &forget_work);
	while (!smp_load_acquire(&module_is_forgotten))
		cpu_relax();
}

static void an_answer_that_comes_too_late(struct kunit *test)
{
	const u64 ip = (u64)forget_module + 16;
	u64 frame;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	module_is_forgotten = false;
	learned = 0;
	preempt_disable();
	WRITE_ONCE(argtrace_kunit_hook, forget_while_asked);
	frame = argtrace_frame_find(ip, false, room.symbol);
	KUNIT_EXPECT_TRUE(test, module_is_forgotten);
	WRITE_ONCE(argtrace_kunit_hook, count_learned);
	KUNIT_EXPECT_EQ(test, argtrace_frame_find(ip, false, room.symbol), frame);
	KUNIT_EXPECT_EQ(test, learned, 1);
	KUNIT_EXPECT_EQ(test, argtrace_frame_find(ip, false, room.symbol), frame);
	KUNIT_EXPECT_EQ(test, learned, 1);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	preempt_enable();
	flush_work(&forget_work);
	argtrace_frames_put();
}

static struct kunit_case cases[] = {
	KUNIT_CASE(what_is_known_is_not_asked_again),
	KUNIT_CASE(forgets_modules),
	KUNIT_CASE(nothing_is_at_address_0),
	KUNIT_CASE(an_answer_that_comes_too_late),
	{ },
};

static struct kunit_suite suite = {
	.name = "argtrace_frame",
	.test_cases = cases,
};
kunit_test_suite(suite);
