// SPDX-License-Identifier: GPL-2.0-only
/* Stacks: what is walked, against stack_trace_save(), and the tables. What other contexts have is compared by the VM tests. */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "read/scratch.h"
#include "fixtures.h"
#include "base/hook.h"
#include "base/memory.h"
#include "base/recursion.h"
#include "machine.h"
#include "stack/table.h"
#include "targets.h"

#define WORDS	200

static struct argtrace_stack_room room;
static unsigned long truth[WORDS];

static struct argtrace_stack_set *make_set(struct kunit *test, u32 entries, u32 words, u32 depth)
{
	const struct argtrace_stacks wanted = { .entries = entries, .words = words, .depth = depth };
	struct argtrace_stack_set *set = argtrace_stacks_create(&wanted, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(set));
	return set;
}

/* What the kernel says of the stack of this function from its caller on, and what a walk does. */
static noinline u32 walk_both(u32 max, struct argtrace_walked *walked)
{
	OWN_STACK(start);
	u32 count;

	count = stack_trace_save(truth, WORDS, 0) - 1;
	memmove(truth, truth + 1, count * sizeof(*truth));
	preempt_disable();
	argtrace_stack_walk(&start, &room, max, walked);
	preempt_enable();
	return count;
}

static noinline u32 walk_from(unsigned int depth, u32 max, struct argtrace_walked *walked)
{
	u32 count;

	if (!depth)
		return walk_both(max, walked);
	count = walk_from(depth - 1, max, walked);
	barrier();
	return count;
}

static void expect_equal(struct kunit *test, u32 count, const struct argtrace_walked *walked)
{
	u32 i;

	KUNIT_ASSERT_LE(test, walked->count, count);
	for (i = 0; i < walked->count; i++)
		KUNIT_EXPECT_EQ(test, room.frames[i], (u64)truth[i]);
}

static void walks_like_the_kernel(struct kunit *test)
{
	static const unsigned int depths[] = { 0, 1, 5, 60 };
	struct argtrace_walked walked;
	u32 i, count;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		count = walk_from(depths[i], ARGTRACE_STACK_DEPTH_MAX, &walked);
		KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_WALK_WHOLE);
		KUNIT_EXPECT_EQ(test, walked.count, count);
		expect_equal(test, count, &walked);
	}
	argtrace_frames_put();
}

static void cuts_what_is_too_deep(struct kunit *test)
{
	struct argtrace_walked walked, whole;
	u32 count;

	KUNIT_ASSERT_EQ(test, argtrace_frames_get(), 0);
	count = walk_from(150, ARGTRACE_STACK_DEPTH_MAX, &walked);
	KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_WALK_CUT);
	KUNIT_EXPECT_EQ(test, walked.count, (u32)ARGTRACE_STACK_DEPTH_MAX);
	expect_equal(test, count, &walked);

	/* One that ends where it would be cut is whole. */
	count = walk_from(3, ARGTRACE_STACK_DEPTH_MAX, &whole);
	walk_from(3, count, &walked);
	KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_WALK_WHOLE);
	walk_from(3, count - 1, &walked);
	KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_WALK_CUT);
	KUNIT_EXPECT_EQ(test, walked.count, count - 1);
	argtrace_frames_put();
}

static noinline u64 id_here(const struct argtrace_stack_set *set)
{
	OWN_STACK(start);
	u64 id = 0;

	preempt_disable();
	if (argtrace_scratch_enter()) {
		id = argtrace_stack_id(set, start.sp, start.bp);
		argtrace_scratch_leave();
	}
	preempt_enable();
	return id;
}

static noinline u64 id_from(const struct argtrace_stack_set *set, unsigned int depth)
{
	u64 id = depth ? id_from(set, depth - 1) : id_here(set);

	barrier();
	return id;
}

static const struct argtrace_stack_entry *find_entry(const struct argtrace_stack_set *set, u64 id, unsigned int *cpu,
						     u32 *found)
{
	const struct argtrace_stack_entry *entry = NULL;
	u32 i;

	*found = 0;
	for_each_online_cpu(*cpu) {
		const struct argtrace_stack_table *table = per_cpu_ptr(set->tables, *cpu);

		for (i = 0; i < set->entries; i++) {
			if (table->entries[i].id == id) {
				entry = &table->entries[i];
				++*found;
			}
		}
		if (entry)
			return entry;
	}
	return NULL;
}

static void writes_a_stack_once(struct kunit *test)
{
	struct argtrace_stack_set *set = make_set(test, 64, 0, 0);
	const struct argtrace_stack_entry *entry;
	u64 first, other = 0, words;
	unsigned int cpu;
	u32 i, found;

	migrate_disable();
	for (i = 0, first = 0; i < 3; i++) {
		const u64 id = id_from(set, 4);

		KUNIT_EXPECT_TRUE(test, !first || id == first);
		first = id;
	}
	words = this_cpu_ptr(set->tables)->control->words;
	other = id_from(set, 5);
	KUNIT_EXPECT_NE(test, other, first);
	KUNIT_EXPECT_GT(test, this_cpu_ptr(set->tables)->control->words, words);
	migrate_enable();
	entry = find_entry(set, first, &cpu, &found);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, found, 1u);
	KUNIT_EXPECT_EQ(test, entry->where >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK, words);
	argtrace_stacks_free(set);
}

/* Wherever its number has its home: of as many stacks as there are entries, some share theirs. */
static void finds_every_stack(struct kunit *test)
{
	struct argtrace_stack_set *set = make_set(test, 64, 0, 100);
	u64 *ids = kunit_kcalloc(test, 64, sizeof(*ids), GFP_KERNEL);
	u32 i, found;
	unsigned int cpu;

	KUNIT_ASSERT_NOT_NULL(test, ids);
	migrate_disable();
	for (i = 0; i < 30; i++)
		ids[i] = id_from(set, i);
	migrate_enable();
	for (i = 0; i < 30; i++) {
		const struct argtrace_stack_entry *entry = find_entry(set, ids[i], &cpu, &found);
		const u64 *words;
		u32 at, count;
		u64 hash = 0;

		KUNIT_EXPECT_NE(test, ids[i], 0ull);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, found, 1u);
		words = per_cpu_ptr(set->tables, cpu)->words + (u32)entry->where;
		count = entry->where >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK;
		for (at = 0; at < count; at++)
			hash = argtrace_stack_hash(hash, words[at]);
		/* What a whole stack has for a number. */
		KUNIT_EXPECT_EQ(test, hash, ids[i]);
		KUNIT_EXPECT_EQ(test, entry->where & ARGTRACE_STACK_CUT, 0ull);
	}
	argtrace_stacks_free(set);
}

/* One that is too deep says so, and has not the number of a whole stack of these addresses. */
static void marks_what_is_cut(struct kunit *test)
{
	struct argtrace_stack_set *set = make_set(test, 64, 0, 6);
	const struct argtrace_stack_entry *entry;
	unsigned int cpu;
	u64 id, hash = 0;
	u32 found, at;

	migrate_disable();
	id = id_from(set, 20);
	migrate_enable();
	entry = find_entry(set, id, &cpu, &found);
	KUNIT_ASSERT_NOT_NULL(test, entry);
	KUNIT_EXPECT_EQ(test, entry->where >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK, 6ull);
	KUNIT_EXPECT_NE(test, entry->where & ARGTRACE_STACK_CUT, 0ull);
	for (at = 0; at < 6; at++)
		hash = argtrace_stack_hash(hash, per_cpu_ptr(set->tables, cpu)->words[(u32)entry->where + at]);
	KUNIT_EXPECT_NE(test, hash, id);
	argtrace_stacks_free(set);
}

/* A stack that nobody knows, and one that takes the unwinder while that is at work. */
static void says_why_there_is_none(struct kunit *test)
{
	struct argtrace_stack_set *set = make_set(test, 64, 0, 0);
	const struct argtrace_stack_start asking = machine_asks_kernel();
	const u64 nothing[4] = { };
	const u64 *lost;
	u64 unknown = 1, nested = 1;

	migrate_disable();
	preempt_disable();
	lost = this_cpu_ptr(set->tables)->control->lost;
	if (argtrace_scratch_enter()) {
		unknown = argtrace_stack_id(set, nothing, 0);
		if (argtrace_recursion_enter()) {
			nested = argtrace_stack_id(set, asking.sp, asking.bp);
			argtrace_recursion_leave();
		}
		argtrace_scratch_leave();
	}
	preempt_enable();
	migrate_enable();
	KUNIT_EXPECT_EQ(test, unknown, 0ull);
	KUNIT_EXPECT_EQ(test, nested, 0ull);
	KUNIT_EXPECT_EQ(test, lost[ARGTRACE_STACK_LOST_UNKNOWN], 1ull);
	KUNIT_EXPECT_EQ(test, lost[ARGTRACE_STACK_LOST_RECURSION], 1ull);
	KUNIT_EXPECT_EQ(test, lost[ARGTRACE_STACK_LOST_FULL], 0ull);
	argtrace_stacks_free(set);
}

static void counts_what_has_no_room(struct kunit *test)
{
	struct argtrace_stack_set *set = make_set(test, 64, 0, 0);
	u64 ids = 0;
	u32 i, least, words;

	migrate_disable();
	id_from(set, 0);
	least = this_cpu_ptr(set->tables)->control->words;
	argtrace_stacks_free(set);
	/* For the three of the least depth, and not for another. */
	words = 3 * least + 5;
	set = make_set(test, 64, words, 0);
	for (i = 0; i < 20; i++)
		ids += !!id_from(set, i);
	KUNIT_EXPECT_EQ(test, ids, 3ull);
	KUNIT_EXPECT_EQ(test, this_cpu_ptr(set->tables)->control->lost[ARGTRACE_STACK_LOST_FULL], 17ull);
	KUNIT_EXPECT_EQ(test, this_cpu_ptr(set->tables)->control->words, words - 2ull);
	migrate_enable();
	argtrace_stacks_free(set);
}

static const struct argtrace_stack_set *nested_set;
static enum argtrace_hook nested_at;
static u64 nested_ids[2];
/* Not known to the compiler, which would make two calls of a loop: a stack has one address for each. */
static u32 twice = 2;

static unsigned int nested_depth;

/* An interrupt that comes there: one that has the same stack, or another. */
static void nest(enum argtrace_hook at)
{
	const struct argtrace_stack_set *set = nested_set;
	u32 i;

	if (at != nested_at || !set)
		return;
	nested_set = NULL;
	for (i = 0; i < READ_ONCE(twice); i++)
		nested_ids[i] = id_from(set, nested_depth);
}

static void interrupts_between_the_steps(struct kunit *test)
{
	static const enum argtrace_hook places[] = { ARGTRACE_HOOK_STACK_AB, ARGTRACE_HOOK_STACK_BC };
	u32 i, found;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct argtrace_stack_set *set = make_set(test, 64, 0, 0);
		const struct argtrace_stack_entry *entry;
		unsigned int cpu, times;
		u64 id = 0, ids[2];

		migrate_disable();
		nested_at = places[i];
		nested_depth = 2;
		nested_set = set;
		argtrace_kunit_hook = nest;
		/* In one place, from which the second one finds what the first has written. */
		for (times = 0; times < READ_ONCE(twice); times++)
			ids[times] = id_from(set, 7);
		argtrace_kunit_hook = NULL;
		id = ids[0];
		KUNIT_EXPECT_NE(test, id, 0ull);
		KUNIT_EXPECT_NE(test, nested_ids[0], 0ull);
		KUNIT_EXPECT_NE(test, nested_ids[0], id);
		KUNIT_EXPECT_EQ(test, nested_ids[0], nested_ids[1]);
		KUNIT_EXPECT_EQ(test, ids[1], id);
		migrate_enable();
		entry = find_entry(set, id, &cpu, &found);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, found, 1u);
		KUNIT_EXPECT_NE(test, entry->where, 0ull);
		argtrace_stacks_free(set);
	}
}

static struct argtrace_stack_start same_start;
static u64 same_id;

/* An interrupt that finds the same stack: its addresses may be there twice, and its number once. */
static void nest_same(enum argtrace_hook at)
{
	const struct argtrace_stack_set *set = nested_set;

	if (at != nested_at || !set)
		return;
	nested_set = NULL;
	if (argtrace_scratch_enter()) {
		same_id = argtrace_stack_id(set, same_start.sp, same_start.bp);
		argtrace_scratch_leave();
	}
}

static noinline u64 id_of_the_same(const struct argtrace_stack_set *set)
{
	OWN_STACK(start);
	u64 id = 0;

	same_start = start;
	nested_set = set;
	argtrace_kunit_hook = nest_same;
	preempt_disable();
	if (argtrace_scratch_enter()) {
		id = argtrace_stack_id(set, start.sp, start.bp);
		argtrace_scratch_leave();
	}
	preempt_enable();
	argtrace_kunit_hook = NULL;
	return id;
}

static void an_interrupt_has_the_same_stack(struct kunit *test)
{
	static const enum argtrace_hook places[] = { ARGTRACE_HOOK_STACK_AB, ARGTRACE_HOOK_STACK_BC };
	u32 i, found;

	for (i = 0; i < ARRAY_SIZE(places); i++) {
		struct argtrace_stack_set *set = make_set(test, 64, 0, 0);
		const struct argtrace_stack_entry *entry;
		unsigned int cpu;
		u64 id;

		same_id = 0;
		nested_at = places[i];
		id = id_of_the_same(set);
		KUNIT_EXPECT_NE(test, id, 0ull);
		KUNIT_EXPECT_EQ(test, same_id, id);
		entry = find_entry(set, id, &cpu, &found);
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, found, 1u);
		KUNIT_EXPECT_NE(test, entry->where, 0ull);
		argtrace_stacks_free(set);
	}
}

/* The end of it all: what was charged has been given back. */
static void gives_back_its_memory(struct kunit *test)
{
	const u64 before = argtrace_memory_used();
	struct argtrace_stack_set *set = make_set(test, 1024, 0, 0);

	KUNIT_EXPECT_GT(test, argtrace_memory_used(), before + 1024 * (16 + 16 * 8));
	argtrace_stacks_free(set);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void refuses_odd_tables(struct kunit *test)
{
	static const struct argtrace_stacks odd[] = {
		{ .entries = 63 }, { .entries = 32 }, { .entries = ARGTRACE_STACK_ENTRIES_MAX * 2 },
		{ .words = ARGTRACE_STACK_WORDS_MAX + 1 }, { .depth = ARGTRACE_STACK_DEPTH_MAX + 1 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(odd); i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_stacks_create(&odd[i], NULL)), -EINVAL);
}

static struct argtrace_insn stack_insn(void)
{
	return (struct argtrace_insn){
		.source = ARGTRACE_SOURCE_STACK_ID, .action = ARGTRACE_DO_OUT, .arg = 8, .mask = ~0ull,
	};
}

static struct made_probe *stack_probe(struct kunit *test, const struct argtrace_insn *insn, u8 type)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);

	set_program(probe, insn, 1, 0, "");
	add_output(probe, type, 8);
	made_probe_seal(probe);
	return probe;
}

static void takes_tables_and_nothing_else(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	struct argtrace_stacks stacks = { };
	struct argtrace_insn insn = stack_insn(), odd;

	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &insn, ARGTRACE_TYPE_STACK)), -EINVAL);
	KUNIT_ASSERT_EQ(test, argtrace_session_make_stacks(session, &stacks), 0);
	KUNIT_EXPECT_EQ(test, stacks.depth, (u32)ARGTRACE_STACK_DEPTH_MAX);
	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &insn, ARGTRACE_TYPE_U64)), -EINVAL);
	odd = insn;
	odd.shr = 1;
	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &odd, ARGTRACE_TYPE_STACK)), -EINVAL);
	odd = insn;
	odd.mask = 1;
	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &odd, ARGTRACE_TYPE_STACK)), -EINVAL);
	odd = insn;
	odd.source = ARGTRACE_SOURCE_CALLER;
	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &odd, ARGTRACE_TYPE_STACK)), -EINVAL);
	KUNIT_EXPECT_EQ(test, session_add(test, session, stack_probe(test, &insn, ARGTRACE_TYPE_STACK)), 0);
}

static void (*called)(u64 a, u64 b, u64 c);

static noinline u32 call_from_here(void)
{
	u32 count = stack_trace_save(truth, WORDS, 0);

	called(1, 2, 3);
	barrier();
	return count;
}

/* The call is one that ftrace has handed over, and one whose return is followed. */
static void names_the_stack_of_a_call(struct kunit *test)
{
	const struct argtrace_insn insn = stack_insn();
	u32 followed;

	called = target_three;
	for (followed = 0; followed < 2; followed++) {
		struct argtrace_session *session = make_session(test, "", 0);
		struct made_probe *probe = stack_probe(test, &insn, ARGTRACE_TYPE_STACK);
		struct argtrace_stacks stacks = { .entries = 64 };
		const struct argtrace_stack_entry *entry = NULL;
		const struct argtrace_stack_table *table;
		u32 count, i, at;

		probe->head.flags = followed ? ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) : 0;
		KUNIT_ASSERT_EQ(test, argtrace_session_make_stacks(session, &stacks), 0);
		KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
		migrate_disable();
		count = call_from_here();
		table = this_cpu_ptr(session->stacks.kernel->tables);
		migrate_enable();
		for (i = 0; i < 64; i++)
			entry = table->entries[i].id ? &table->entries[i] : entry;
		KUNIT_ASSERT_NOT_NULL(test, entry);
		KUNIT_EXPECT_EQ(test, entry->where >> ARGTRACE_STACK_COUNT_SHIFT & ARGTRACE_STACK_COUNT_MASK, (u64)count);
		at = (u32)entry->where;
		/* The first one is another place in call_from_here(). */
		KUNIT_EXPECT_LT(test, table->words[at] - truth[0], 64ull);
		for (i = 1; i < count; i++)
			KUNIT_EXPECT_EQ(test, table->words[at + i], (u64)truth[i]);
		session_remove_all(session);
	}
}

static struct kunit_case cases[] = {
	KUNIT_CASE(walks_like_the_kernel),
	KUNIT_CASE(cuts_what_is_too_deep),
	KUNIT_CASE(writes_a_stack_once),
	KUNIT_CASE(finds_every_stack),
	KUNIT_CASE(marks_what_is_cut),
	KUNIT_CASE(says_why_there_is_none),
	KUNIT_CASE(counts_what_has_no_room),
	KUNIT_CASE(interrupts_between_the_steps),
	KUNIT_CASE(an_interrupt_has_the_same_stack),
	KUNIT_CASE(gives_back_its_memory),
	KUNIT_CASE(refuses_odd_tables),
	KUNIT_CASE(takes_tables_and_nothing_else),
	KUNIT_CASE(names_the_stack_of_a_call),
	{ },
};

static struct kunit_suite suite = {
	.name = "argtrace_stack",
	.test_cases = cases,
};
kunit_test_suite(suite);
