// SPDX-License-Identifier: GPL-2.0-only
/* The encoder against the golden records, which the tool's decoder is tested with as well. */
#include <kunit/test.h>
#include <linux/ftrace_regs.h>

#include "make.h"

#include "golden_records.h"

#define ADDR	0xffffffff81234560ul

static void describe_golden(const struct golden_record *golden, char *text)
{
	strscpy(text, golden->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(golden, golden_records, describe_golden);

static struct ftrace_regs *golden_regs(struct kunit *test)
{
	struct __arch_ftrace_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
	regs->regs.di = golden_registers[0];
	regs->regs.si = golden_registers[1];
	regs->regs.dx = golden_registers[2];
	regs->regs.cx = golden_registers[3];
	regs->regs.r8 = golden_registers[4];
	regs->regs.r9 = golden_registers[5];
	regs->regs.sp = (unsigned long)golden_stack;
	return (struct ftrace_regs *)regs;
}

static struct argtrace_plan *golden_plan(struct kunit *test, const struct golden_record *golden)
{
	struct made_probe *probe = make_probe(test, ADDR, 0);
	struct argtrace_plan *plan;
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
	plan = make_plan(test, probe);
	free_plan_later(test, plan);
	return plan;
}

/* `bytes` are what was written between `to` and `end`, and not a byte more. */
static void expect_bytes(struct kunit *test, const u8 *to, const u8 *end, const u8 *bytes, u32 size)
{
	KUNIT_EXPECT_EQ(test, (u32)(end - to), size);
	KUNIT_EXPECT_MEMEQ(test, to, bytes, size);
	KUNIT_EXPECT_NULL(test, memchr_inv(to + size, 0x55, 2 * GOLDEN_MAX_BYTES - size));
}

static void compact(struct kunit *test)
{
	const struct golden_record *golden = test->param_value;
	struct argtrace_plan *plan = golden_plan(test, golden);
	u8 to[2 * GOLDEN_MAX_BYTES], *end;

	memset(to, 0x55, sizeof(to));
	end = argtrace_encode_compact(to, plan->steps, plan->nr_steps, golden_regs(test));
	expect_bytes(test, to, end, golden->compact, golden->compact_size);
	KUNIT_EXPECT_EQ(test, argtrace_encoded_size(plan->steps, plan->nr_steps, false),
			golden->compact_size);
}

static void named(struct kunit *test)
{
	const struct golden_record *golden = test->param_value;
	struct argtrace_plan *plan = golden_plan(test, golden);
	u8 to[2 * GOLDEN_MAX_BYTES], *end;

	memset(to, 0x55, sizeof(to));
	end = argtrace_encode_named(to, plan->steps, plan->nr_steps, plan->strings,
				    golden_regs(test));
	expect_bytes(test, to, end, golden->named, golden->named_size);
	KUNIT_EXPECT_EQ(test, argtrace_encoded_size(plan->steps, plan->nr_steps, true),
			golden->named_size);
}

static struct kunit_case encode_cases[] = {
	KUNIT_CASE_PARAM(compact, golden_gen_params),
	KUNIT_CASE_PARAM(named, golden_gen_params),
	{ }
};

static struct kunit_suite encode_suite = {
	.name = "argtrace_encode",
	.test_cases = encode_cases,
};
kunit_test_suite(encode_suite);
