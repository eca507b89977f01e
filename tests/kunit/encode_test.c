// SPDX-License-Identifier: GPL-2.0-only
/* The encoder against the golden records, which the tool's decoder is tested with as well. */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/vmalloc.h>

#include "fixtures.h"
#include "machine.h"
#include "sink/encode.h"

#include "golden_records.h"

#define ADDR	0xffffffff81234560ul

static void describe_golden(const struct golden_record *golden, char *text)
{
	strscpy(text, golden->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(golden, golden_records, describe_golden);

KUNIT_DEFINE_ACTION_WRAPPER(free_page_later, vfree, const void *);

static struct argtrace_regs *golden_regs(struct kunit *test, const struct golden_record *golden)
{
	const u32 size = golden->stack_words ? 8 * golden->stack_words : sizeof(golden_stack);
	struct argtrace_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);
	/* It ends with the page, and there is none after it. */
	u8 *page = vmalloc(PAGE_SIZE), *stack = page + PAGE_SIZE - size;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_page_later, page), 0);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	memcpy(stack, golden_stack, size);
	for (i = 0; i < ARRAY_SIZE(golden_registers); i++)
		machine_set_argument(regs, i, golden_registers[i]);
	machine_set_stack(regs, stack);
	return regs;
}

static struct argtrace_plan *golden_plan(struct kunit *test, const struct golden_record *golden,
					 u32 session_format)
{
	const struct argtrace_plan_format format = { session_format, .max_record = 4096 };
	struct made_probe *probe = make_probe(test, ADDR, 0);
	struct argtrace_plan *plan;
	u64 length;
	u32 i;

	probe->head.nr_args = golden->nr_args;
	for (i = 0; i < golden->nr_args; i++) {
		const struct golden_arg *arg = &golden->args[i];

		probe->args[i] = (struct argtrace_arg){
			.loc = arg->loc,
			.index = arg->index,
			.type = arg->type,
			.size = arg->size,
			.offset = arg->offset,
			.name = made_probe_string(probe, arg->name),
		};
	}
	made_probe_seal(probe);
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, plan);
	free_plan_later(test, plan);
	return plan;
}

/* Untouched bytes on both sides of a record, whose arguments begin at DATA. */
#define GUARD	64
#define DATA	(sizeof(struct argtrace_record) + sizeof(u64))
#define ROOM	(GUARD + DATA + GOLDEN_MAX_BYTES + GUARD)
#define CALLER	0x1234567890abcdefull

/* The arguments are `bytes`, the caller is still there, and nothing is written outside the record. */
static void expect_record(struct kunit *test, const struct argtrace_plan *plan, const u8 *room,
			  const u8 *bytes, u32 size)
{
	const u8 *record = room + GUARD, *end = record + plan->record_size;
	u64 caller;

	memcpy(&caller, record + plan->layout.caller_at, sizeof(caller));
	KUNIT_EXPECT_EQ(test, caller, CALLER);
	KUNIT_EXPECT_EQ(test, plan->layout.caller_at, sizeof(struct argtrace_record));
	KUNIT_EXPECT_EQ(test, plan->record_size, ALIGN(DATA + size, 8));
	KUNIT_EXPECT_MEMEQ(test, record + DATA, bytes, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(room, 0x55, GUARD));
	KUNIT_EXPECT_NULL(test, memchr_inv(end, 0x55, room + ROOM - end));
}

/* Begins the record as the callback does. */
static u8 *begin_record(u8 *room, const struct argtrace_plan *plan, const struct argtrace_regs *regs)
{
	u8 *record = room + GUARD;

	memset(room, 0x55, ROOM);
	*(u64 *)(record + plan->layout.caller_at) = CALLER;
	argtrace_encode_registers(record, &plan->layout, regs);
	return record;
}

/* As the callback does where not all of the stack could be read. */
static void mark(struct kunit *test, u8 *record, const struct argtrace_plan *plan, u32 readable)
{
	const struct golden_record *golden = test->param_value;

	KUNIT_EXPECT_EQ(test, readable, golden->stack_words ?: ARGTRACE_STACK_WORDS);
	if (readable < ARGTRACE_STACK_WORDS)
		record[plan->layout.mark_at] = readable;
}

static void compact(struct kunit *test)
{
	const struct golden_record *golden = test->param_value;
	const struct argtrace_plan *plan = golden_plan(test, golden, 0);
	const struct argtrace_layout *layout = &plan->layout;
	struct argtrace_regs *regs = golden_regs(test, golden);
	u8 room[ROOM] __aligned(8), *record;
	bool straight = true;

	KUNIT_EXPECT_EQ(test, layout->has_rest,
			layout->at[ARGTRACE_REG_COUNT] || layout->many_stack ||
				layout->steps_end > layout->steps);
	record = begin_record(room, plan, regs);
	if (layout->has_rest)
		straight = argtrace_encode_stack(record, layout, regs);
	KUNIT_EXPECT_EQ(test, straight, layout->steps_end == layout->steps);
	if (straight)
		expect_record(test, plan, room, golden->compact, golden->compact_size);

	/* Whatever may be read directly can be read with fault handling as well, as at the end of a page. */
	record = begin_record(room, plan, regs);
	preempt_disable();
	mark(test, record, plan, argtrace_encode_rest(record, layout, regs));
	preempt_enable();
	expect_record(test, plan, room, golden->compact, golden->compact_size);
}

/* The plan of a function that is found later has lists of its own. */
static void by_a_copied_plan(struct kunit *test)
{
	const struct golden_record *golden = test->param_value;
	struct argtrace_plan *plan = golden_plan(test, golden, 0);
	struct argtrace_plan *copy = argtrace_plan_create_at(plan, plan->addr + 16);
	struct argtrace_regs *regs = golden_regs(test, golden);
	u8 room[ROOM] __aligned(8), *record;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, copy);
	free_plan_later(test, copy);
	KUNIT_ASSERT_EQ(test, (char *)copy->layout.steps_end - (char *)copy->layout.steps,
			(char *)plan->layout.steps_end - (char *)plan->layout.steps);
	KUNIT_ASSERT_EQ(test, (char *)copy->layout.stack_end - (char *)copy->layout.stack,
			(char *)plan->layout.stack_end - (char *)plan->layout.stack);
	KUNIT_EXPECT_PTR_NE(test, copy->layout.steps, plan->layout.steps);
	record = begin_record(room, copy, regs);
	preempt_disable();
	mark(test, record, copy, argtrace_encode_rest(record, &copy->layout, regs));
	preempt_enable();
	expect_record(test, copy, room, golden->compact, golden->compact_size);
}

static void named(struct kunit *test)
{
	const struct golden_record *golden = test->param_value;
	const struct argtrace_plan *plan = golden_plan(test, golden, ARGTRACE_FORMAT_NAMED);
	struct argtrace_regs *regs = golden_regs(test, golden);
	u8 room[ROOM] __aligned(8), *record, *end;
	unsigned int readable = ARGTRACE_STACK_WORDS;

	record = begin_record(room, plan, regs);
	preempt_disable();
	end = argtrace_encode_named(record + DATA, plan->layout.steps,
				    plan->layout.steps_end - plan->layout.steps,
				    plan->strings, regs, &readable);
	preempt_enable();
	mark(test, record, plan, readable);
	KUNIT_EXPECT_EQ(test, (u32)(end - record - DATA), golden->named_size);
	expect_record(test, plan, room, golden->named, golden->named_size);
}

static struct kunit_case encode_cases[] = {
	KUNIT_CASE_PARAM(compact, golden_gen_params),
	KUNIT_CASE_PARAM(by_a_copied_plan, golden_gen_params),
	KUNIT_CASE_PARAM(named, golden_gen_params),
	{ }
};

static struct kunit_suite encode_suite = {
	.name = "argtrace_encode",
	.test_cases = encode_cases,
};
kunit_test_suite(encode_suite);
