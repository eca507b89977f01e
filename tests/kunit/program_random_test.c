// SPDX-License-Identifier: GPL-2.0-only
/* No program and no pointer can do harm. */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>

#include "machine.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "program_fixtures.h"
#include "ring_read.h"

#define RANDOM_INSNS	12

static void random_insn(struct rnd_state *random, struct argtrace_insn *insn, u32 at, bool filter)
{
	static const u8 outputs[] = { ARGTRACE_DO_OUT, ARGTRACE_DO_STR, ARGTRACE_DO_BUF, ARGTRACE_DO_MEM, ARGTRACE_DO_STRS,
				      ARGTRACE_DO_WORDS };
	const u32 bits = prandom_u32_state(random), spaces = prandom_u32_state(random);
	bool is_number;

	*insn = (struct argtrace_insn){
		.source = 1 + bits % 7, .loads = bits >> 4 & 3, .mask = ALL, .shl = bits >> 6 & 63, .shr = bits >> 12 & 63,
		.flags = bits >> 18 & 3,
	};
	insn->index = insn->source == ARGTRACE_SOURCE_REG ? bits >> 20 & 3 :
		      insn->source == ARGTRACE_SOURCE_SLOT ? bits >> 20 & 1 : 0;
	insn->width = insn->loads ? 1 << (bits >> 22 & 3) : 0;
	insn->span = prandom_u32_state(random);
	insn->base = bits >> 24 & 1;
	if (spaces & 8)
		insn->flags |= (spaces & (BIT(insn->loads) - 1)) * ARGTRACE_INSN_USER(0);
	if (filter) {
		insn->action = ARGTRACE_DO_TEST;
		insn->then = bits >> 25 & 1 ? ARGTRACE_ACCEPT : at + 1;
		insn->other = bits >> 26 & 1 ? ARGTRACE_REJECT : at + 1;
	} else if (bits >> 25 & 3) {
		insn->action = bits >> 25 & 1 ? ARGTRACE_DO_SET : ARGTRACE_DO_ALU;
		insn->arg = bits >> 27 & 1;
		if (insn->action == ARGTRACE_DO_ALU)
			insn->then = bits >> 28 & 15, insn->other = 8;
	} else {
		insn->action = outputs[(bits >> 27 & 3) + (spaces >> 5 & 1) + (spaces >> 8 & 1)];
		insn->arg = insn->action == ARGTRACE_DO_OUT ? 8 : 1 + (bits >> 29) * 9;
		is_number = insn->action == ARGTRACE_DO_OUT || insn->action == ARGTRACE_DO_WORDS;
		if (!is_number && spaces & 16)
			insn->flags |= ARGTRACE_INSN_USER_DATA;
		if (!is_number && spaces & 64)
			insn->then = ARGTRACE_OUT_NULL;
		if (insn->action == ARGTRACE_DO_STRS)
			insn->other = spaces & 128 ? 4 : 8, insn->base = 0;
	}
}

/* A pointer to something, or to nothing. */
static u64 random_pointer(struct rnd_state *random, const u8 *page)
{
	const u32 bits = prandom_u32_state(random);

	switch (bits & 7) {
	case 0:
		return (u64)prandom_u32_state(random) << 32 | prandom_u32_state(random);
	case 1:
		return bits >> 3;
	case 2:
		return -(u64)(bits >> 3 & 0xfff);
	case 3:
		return (u64)page + PAGE_SIZE - (bits >> 3 & 31);
	case 4:
		return (u64)current->mm ? current->mm->start_stack - (bits >> 3 & 0xffff) : 1;
	default:
		return (u64)page + (bits >> 3 & (PAGE_SIZE - 1));
	}
}

/* Programs that nobody would write, some valid, with pointers that lead anywhere. The kernel reports what goes wrong. */
static void random_programs(struct kunit *test)
{
	struct { struct argtrace_code code; struct argtrace_op ops[ARGTRACE_OPS_EXTRA + RANDOM_INSNS]; } *prepared;
	struct { struct argtrace_probe head; struct argtrace_arg args[RANDOM_INSNS]; struct argtrace_program program;
		 struct argtrace_insn insns[RANDOM_INSNS]; } *schema;
	u8 *page = vmalloc(PAGE_SIZE), *out = kunit_kzalloc(test, ARGTRACE_OUTPUT_MAX, GFP_KERNEL);
	u32 round, i, taken = 0, faults = 0, read = 0;
	struct rnd_state random;

	prepared = kunit_kzalloc(test, sizeof(*prepared), GFP_KERNEL);
	schema = kunit_kzalloc(test, sizeof(*schema), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, page && out && prepared && schema);
	prandom_seed_state(&random, 20261123);
	for (i = 0; i < PAGE_SIZE; i += 8)
		*(u64 *)(page + i) = random_pointer(&random, page);
	for (round = 0; round < 30000; round++) {
		struct argtrace_regs regs = { };
		struct argtrace_run run = { .code = &prepared->code, .fregs = (void *)&regs };
		u32 nr_filter = prandom_u32_state(&random) & 1, nr_args = 0;
		u8 *end;

		for (i = 0; i < 4; i++)
			machine_set_argument(&regs, i, random_pointer(&random, page));
		machine_set_stack(&regs, page + 64);
		for (i = 0; i < RANDOM_INSNS; i++) {
			struct argtrace_insn *insn = &schema->insns[i];

			random_insn(&random, insn, i, i < nr_filter);
			if (i < nr_filter && i + 1 == nr_filter)
				insn->then = ARGTRACE_ACCEPT, insn->other = ARGTRACE_REJECT;
			if (i + 1 == RANDOM_INSNS)
				insn->action = ARGTRACE_DO_OUT, insn->arg = 8, insn->then = insn->other = 0;
			if (insn->action >= ARGTRACE_DO_OUT)
				schema->args[nr_args++] = (struct argtrace_arg){
					.loc = ARGTRACE_LOC_PROGRAM, .size = insn->arg,
					.type = insn->action == ARGTRACE_DO_OUT ? ARGTRACE_TYPE_U64 :
						insn->action == ARGTRACE_DO_STR ? ARGTRACE_TYPE_STR : ARGTRACE_TYPE_BYTES,
				};
		}
		schema->program = (struct argtrace_program){ .nr_insns = RANDOM_INSNS, .nr_filter = nr_filter };
		/* What is left of the arguments counts as types, which the program follows. */
		schema->head = (struct argtrace_probe){ .size = sizeof(*schema), .nr_args = nr_args,
			.types = (RANDOM_INSNS - nr_args) * sizeof(struct argtrace_arg),
			.program = sizeof(schema->program) + sizeof(schema->insns) };
		if (argtrace_code_prepare(&prepared->code, &schema->head, NULL, NULL, NULL))
			continue;
		taken++;
		preempt_disable();
		if (prepared->code.filter)
			faults += argtrace_run_filter(&run, run.code->filter) == ARGTRACE_VERDICT_FAULT;
		end = argtrace_run_values(&run, out);
		preempt_enable();
		KUNIT_ASSERT_LE(test, end - out, (long)prepared->code.output);
		faults += hweight64(run.unreadable);
		read += nr_args - hweight64(run.unreadable);
	}
	/* Enough of each for the test to say something. */
	KUNIT_EXPECT_GT(test, taken, 100);
	KUNIT_EXPECT_GT(test, faults, 100);
	KUNIT_EXPECT_GT(test, read, 100);
	vfree(page);
}

static struct kunit_case program_random_cases[] = {
	KUNIT_CASE_SLOW(random_programs),
	{ }
};

static struct kunit_suite program_random_suite = {
	.name = "argtrace_program_random",
	.init = stay_on_this_cpu,
	.test_cases = program_random_cases,
};
kunit_test_suite(program_random_suite);
