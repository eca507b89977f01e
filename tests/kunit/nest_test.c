// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers nested in writers, between any two instructions: a kprobe on each instruction of the
 * callback and of what it calls makes further calls there, once, as an NMI would. Each of these
 * interruptions is tried in a ring that is in the middle of a packet, about to open
 * the next one, or about to be full; the ring must always be whole afterwards.
 */
#include <kunit/test.h>
#include <linux/ftrace_regs.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>

#include "make.h"
#include "read.h"
#include "targets.h"

#define RECORD		24
#define OUTER_CALL	(1ull << 32)

/* In which the way of a call lies; those that the compiler has made a part of others are not there. */
static const char *const functions[] = {
	"argtrace_callback",
	"argtrace_ring_reserve_slow",
};

struct nest {
	struct argtrace_session *session;
	struct kprobe *kprobes;
	u32 nr_kprobes;
	struct kprobe *here;		/* where the next call is interrupted */
	u32 nested;			/* by how many calls */
	u64 number;			/* of the next nested call */
	bool interrupted;
};

/* What the kprobes work on; one test at a time. */
static struct nest nest;

static noinline void call(struct argtrace_session *session, u64 number)
{
	struct __arch_ftrace_regs regs = { .regs.di = number };

	regs.regs.sp = (unsigned long)&regs;
	session->ops.func((unsigned long)target_three, 0, &session->ops, (struct ftrace_regs *)&regs);
}

static int interrupt(struct kprobe *kprobe, struct pt_regs *regs)
{
	u32 i;

	if (READ_ONCE(nest.here) != kprobe)
		return 0;
	/* The same instruction once more, in what is called here, does not bring us here again. */
	WRITE_ONCE(nest.here, NULL);
	nest.interrupted = true;
	for (i = 0; i < nest.nested; i++)
		call(nest.session, nest.number++);
	return 0;
}

/* With one, a kprobe is never made a jump, which would skip the instructions behind it. */
static void behind(struct kprobe *kprobe, struct pt_regs *regs, unsigned long flags)
{
}

/* How long the function is, as the kernel's own symbols say: "name+0x0/0x123 [module]". */
static u32 size_of_function(const void *function)
{
	char text[KSYM_SYMBOL_LEN];
	const char *slash;
	u32 size = 0;

	sprint_symbol(text, (unsigned long)function);
	slash = strchr(text, '/');
	if (!slash || sscanf(slash, "/0x%x", &size) != 1)
		return 0;
	return size;
}

static void *address_of(const char *name)
{
	struct kprobe finder = { .symbol_name = name };
	void *address;

	if (register_kprobe(&finder))
		return NULL;
	address = finder.addr;
	unregister_kprobe(&finder);
	return address;
}

/* One kprobe on each instruction that takes one: not on those that the kernel itself patches. */
static void add_kprobes(struct kunit *test, const u8 *function)
{
	const u32 size = size_of_function(function);
	u32 offset;

	KUNIT_ASSERT_GT_MSG(test, size, 0, "%ps", function);
	for (offset = 0; offset < size && nest.nr_kprobes < 2000; offset++) {
		struct kprobe *kprobe = &nest.kprobes[nest.nr_kprobes];

		memset(kprobe, 0, sizeof(*kprobe));
		kprobe->addr = (void *)(function + offset);
		kprobe->pre_handler = interrupt;
		kprobe->post_handler = behind;
		if (!register_kprobe(kprobe))
			nest.nr_kprobes++;
	}
}

static void remove_kprobes(void *unused)
{
	struct kprobe **all = kvmalloc_array(nest.nr_kprobes, sizeof(*all), GFP_KERNEL);
	u32 i;

	for (i = 0; i < nest.nr_kprobes; i++) {
		if (all)
			all[i] = &nest.kprobes[i];
		else
			unregister_kprobe(&nest.kprobes[i]);
	}
	if (all)
		unregister_kprobes(all, nest.nr_kprobes);
	kvfree(all);
	kvfree(nest.kprobes);
	nest.kprobes = NULL;
}

static void prepare(struct kunit *test, u32 flags)
{
	u32 i;

	memset(&nest, 0, sizeof(nest));
	nest.session = make_session_of(test, "", ARGTRACE_FORMAT_NO_CALLER, flags);
	KUNIT_ASSERT_EQ(test, 0, session_add(test, nest.session,
					     make_probe(test, (unsigned long)target_three, 1)));
	nest.kprobes = kvcalloc(2000, sizeof(*nest.kprobes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, nest.kprobes);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, remove_kprobes, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		const void *function = address_of(functions[i]);

		if (function)
			add_kprobes(test, function);
	}
	/* More than a few dozen there must be, or this shows nothing. */
	KUNIT_ASSERT_GT(test, nest.nr_kprobes, 100);
}

/* Empties the ring and writes until so many bytes are left in the newest packet. */
static void fill(struct kunit *test, u32 left)
{
	const struct argtrace_ring *ring = ring_of(nest.session);

	read_records(test, nest.session, NULL, 0);
	while (-ring->control->reserve % ring->packet_size >= left + RECORD)
		call(nest.session, 0);
	read_records(test, nest.session, NULL, 0);
}

/* One call, interrupted at that instruction: all that was called is there or counted as lost. */
static void interrupt_at(struct kunit *test, u32 index, struct seen *seen, u32 max)
{
	const struct argtrace_counts before = counts_of(nest.session, 1);
	const u64 first = nest.number;
	struct argtrace_counts after;
	u64 recorded, next = first;
	u32 i, read, outer = 0;

	nest.interrupted = false;
	WRITE_ONCE(nest.here, &nest.kprobes[index]);
	call(nest.session, OUTER_CALL);
	WRITE_ONCE(nest.here, NULL);

	after = counts_of(nest.session, 1);
	recorded = after.records - before.records;
	KUNIT_ASSERT_EQ(test, nest.number - first + 1,
			recorded + after.lost[ARGTRACE_LOST_FULL] - before.lost[ARGTRACE_LOST_FULL] +
			after.lost[ARGTRACE_LOST_RECURSION] - before.lost[ARGTRACE_LOST_RECURSION]);
	read = read_records(test, nest.session, seen, max);
	KUNIT_ASSERT_EQ_MSG(test, read, recorded, "interrupted at %pS", nest.kprobes[index].addr);
	for (i = 0; i < read; i++) {
		u64 number;

		memcpy(&number, seen[i].data, sizeof(number));
		if (number == OUTER_CALL) {
			outer++;
			continue;
		}
		/* The nested ones in their order, though some may be lost. */
		KUNIT_ASSERT_GE(test, number, next);
		KUNIT_ASSERT_LT(test, number, nest.number);
		next = number + 1;
	}
	KUNIT_EXPECT_LE(test, outer, 1);
}

struct nest_case {
	const char *name;
	u32 left;		/* bytes in the packet before the call */
	u32 nested;
};

static const struct nest_case nest_cases[] = {
	{ "in the middle of a packet", 1000, 1 },
	{ "the outer record fits no more", RECORD - 8, 1 },
	{ "the nested record fits no more", RECORD, 1 },
	{ "both just fit", 2 * RECORD, 1 },
	{ "nested ones open the next packet", 3 * RECORD, 20 },
	{ "nested ones fill the ring", 1000, 800 },
};

static void describe_nest(const struct nest_case *wanted, char *text)
{
	strscpy(text, wanted->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(nest, nest_cases, describe_nest);

static void every_instruction(struct kunit *test)
{
	const struct nest_case *wanted = test->param_value;
	struct seen *seen = kunit_kcalloc(test, 1000, sizeof(*seen), GFP_KERNEL);
	u32 i, interrupted = 0;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	prepare(test, 0);
	for (i = 0; i < nest.nr_kprobes; i++) {
		nest.nested = wanted->nested;
		fill(test, wanted->left);
		interrupt_at(test, i, seen, 1000);
		interrupted += nest.interrupted;
		cond_resched();
	}
	kunit_info(test, "%u of %u instructions lay on the way", interrupted, nest.nr_kprobes);
	/* Of the callback at least. */
	KUNIT_EXPECT_GT(test, interrupted, 40);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM_ATTR(every_instruction, nest_gen_params, { .speed = KUNIT_SPEED_SLOW }),
	{ }
};

static struct kunit_suite nest_suite = {
	.name = "argtrace_nest",
	.init = stay_on_this_cpu,
	.test_cases = cases,
};
kunit_test_suite(nest_suite);
