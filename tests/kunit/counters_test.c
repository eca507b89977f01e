// SPDX-License-Identifier: GPL-2.0-only
/* The counters of many probes share allocations and stay independent. */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "fixtures.h"
#include "base/memory.h"
#include "probe/counters.h"
#include "probe/probe.h"

/* More than one block holds, and not a multiple of that. */
#define PLANS	1000
#define ADDR	0xffffffff81000000UL

static struct argtrace_plan **make_plans(struct kunit *test)
{
	struct argtrace_plan **plans = kunit_kcalloc(test, PLANS, sizeof(*plans), GFP_KERNEL);
	struct argtrace_plan *first = make_plan(test, make_probe(test, ADDR, 2));
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, plans);
	for (i = 0; i < PLANS; i++) {
		plans[i] = argtrace_plan_create_at(first, ADDR + 16 * i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, plans[i]);
	}
	argtrace_plan_free(first);
	return plans;
}

static void each_probe_has_its_own(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_plan **plans = make_plans(test);
	const u64 without = argtrace_memory_used();
	struct argtrace_counters sum;
	int cpu;
	u32 i;

	KUNIT_ASSERT_EQ(test, argtrace_plans_alloc_counters(plans, PLANS), 0);
	KUNIT_EXPECT_NE(test, (ulong)plans[0]->counters_block, (ulong)plans[PLANS - 1]->counters_block);
	KUNIT_EXPECT_GE(test, argtrace_memory_used() - without,
			(u64)PLANS * sizeof(struct argtrace_counters) * num_online_cpus());
	for (i = 0; i < PLANS; i++) {
		for_each_online_cpu(cpu) {
			argtrace_counters_of(plans[i]->counters, cpu)->records += i + cpu;
			argtrace_counters_of(plans[i]->counters, cpu)->lost[ARGTRACE_LOST_NO_BUFFER] += i;
		}
	}
	for (i = 0; i < PLANS; i++) {
		u64 records = 0;

		for_each_online_cpu(cpu)
			records += i + cpu;
		sum = argtrace_counters_sum(&plans[i]->counters);
		KUNIT_ASSERT_EQ_MSG(test, sum.records, records, "probe %u", i);
		KUNIT_ASSERT_EQ_MSG(test, sum.filtered, 0, "probe %u", i);
		KUNIT_ASSERT_EQ_MSG(test, sum.lost[ARGTRACE_LOST_NO_BUFFER], i * num_online_cpus(),
				    "probe %u", i);
	}

	/* Whichever goes first, the others keep theirs; the last one frees the block. */
	for (i = 0; i < PLANS; i += 2)
		argtrace_plan_free(plans[i]);
	sum = argtrace_counters_sum(&plans[PLANS - 1]->counters);
	KUNIT_EXPECT_EQ(test, sum.lost[ARGTRACE_LOST_NO_BUFFER], (PLANS - 1) * num_online_cpus());
	for (i = 1; i < PLANS; i += 2)
		argtrace_plan_free(plans[i]);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

/* What a call counts is counted on the CPU where it is made. */
static void a_call_counts_on_its_cpu(struct kunit *test)
{
	struct argtrace_plan *plan = make_plan(test, make_probe(test, ADDR, 0));
	const struct argtrace_counters *here;
	int cpu, other;

	KUNIT_ASSERT_EQ(test, argtrace_plans_alloc_counters(&plan, 1), 0);
	preempt_disable();
	cpu = smp_processor_id();
	here = argtrace_counters_here(plan->counters);
	argtrace_count_here(plan->counters, filtered);
	preempt_enable();
	KUNIT_EXPECT_PTR_EQ(test, here, argtrace_counters_of(plan->counters, cpu));
	for_each_online_cpu(other)
		KUNIT_EXPECT_EQ(test, argtrace_counters_of(plan->counters, other)->filtered, other == cpu);
	argtrace_plan_free(plan);
}

/* A machine that has made provision for CPUs does not pay for them. */
static void absent_cpus_take_no_memory(struct kunit *test)
{
	struct argtrace_counters_block *block;
	const u64 before = argtrace_memory_used();
	unsigned int cpu, own = 0;

	block = argtrace_counters_block_create();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, block);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		own += block->pages[cpu] != block->pages[nr_cpu_ids - 1];
	/* Unless they are all there. */
	if (num_online_cpus() == nr_cpu_ids)
		own++;
	KUNIT_EXPECT_EQ(test, own, num_online_cpus());
	KUNIT_EXPECT_LT(test, argtrace_memory_used() - before, (own + 1) * PAGE_SIZE);
	argtrace_counters_block_free(block);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void without_memory_for_all(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_plan **plans = make_plans(test);
	struct argtrace_counters_block *block;
	u64 left, taken;
	u32 i;

	/* One block fits, the second does not. */
	left = argtrace_memory_used();
	block = argtrace_counters_block_create();
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, block);
	left = (argtrace_memory_used() - left) * 3 / 2;
	argtrace_counters_block_free(block);
	taken = argtrace_memory_limit() - argtrace_memory_used() - left;
	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(taken), 0);
	KUNIT_EXPECT_EQ(test, argtrace_plans_alloc_counters(plans, PLANS), -ENOSPC);
	KUNIT_EXPECT_NOT_NULL(test, plans[0]->counters);
	KUNIT_EXPECT_NULL(test, plans[PLANS - 1]->counters);
	argtrace_memory_uncharge(taken);
	for (i = 0; i < PLANS; i++)
		argtrace_plan_free(plans[i]);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static struct kunit_case counters_cases[] = {
	KUNIT_CASE(each_probe_has_its_own),
	KUNIT_CASE(a_call_counts_on_its_cpu),
	KUNIT_CASE(absent_cpus_take_no_memory),
	KUNIT_CASE(without_memory_for_all),
	{ }
};

static struct kunit_suite counters_suite = {
	.name = "argtrace_counters",
	.test_cases = counters_cases,
};
kunit_test_suite(counters_suite);
