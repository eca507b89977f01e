// SPDX-License-Identifier: GPL-2.0-only
/* What programs compute, and their tests of numbers. */
#include <kunit/test.h>
#include <linux/ftrace.h>
#include <linux/prandom.h>

#include "machine.h"
#include "program/exec.h"
#include "program_fixtures.h"
#include "ring_read.h"

/* What include/uapi/argtrace_program.h says of a TEST. */
static bool test_holds(const struct argtrace_insn *insn, u64 value)
{
	value <<= insn->shl;
	value = insn->flags & ARGTRACE_INSN_SIGNED ? (u64)((s64)value >> insn->shr) : value >> insn->shr;
	return (value & insn->mask) - insn->base <= insn->span;
}

/* A number with few bits that are unlike their neighbours, so that ranges begin and end near each other and near the ends. */
static u64 random_number(struct rnd_state *random)
{
	const u32 bits = prandom_u32_state(random);
	const u64 number = (bits >> 8 & 7) << (bits & 63);

	return bits & 128 ? ~number : number;
}

/*
 * Tests are prepared so that signs need not be extended and narrow loads not be narrow: that changes none of them.
 * They test a register, memory that it points to, and the task.
 */
static void quick_tests_are_exact(struct kunit *test)
{
	static const u8 widths[] = { 1, 2, 4, 8 };
	static struct { struct argtrace_probe head; struct argtrace_program program; struct argtrace_insn insn; } __packed schema;
	static struct { struct argtrace_code code; struct argtrace_op ops[ARGTRACE_OPS_EXTRA + 1]; } prepared;
	u32 round, quick = 0, held = 0, kinds = 0;
	struct argtrace_run run = { .code = &prepared.code };
	struct argtrace_insn *insn = &schema.insn;
	struct rnd_state random;

	prandom_seed_state(&random, 1123);
	schema.head = (struct argtrace_probe){ .size = sizeof(schema), .program = sizeof(schema.program) + sizeof(schema.insn) };
	schema.program = (struct argtrace_program){ .nr_insns = 1, .nr_filter = 1 };
	for (round = 0; round < 100000; round++) {
		const u32 bits = prandom_u32_state(&random);
		u64 stored = random_number(&random), value = stored;
		struct argtrace_regs regs = { };
		const struct argtrace_op *op;
		bool expected, fault = false;

		machine_set_argument(&regs, 0, bits & 1 ? stored : (u64)&stored);
		*insn = (struct argtrace_insn){
			.source = ARGTRACE_SOURCE_REG, .loads = !(bits & 1), .mask = bits & 2 ? ALL : random_number(&random),
			.shl = bits >> 8 & 63, .shr = bits & 4 ? bits >> 8 & 63 : bits >> 14 & 63,
			.flags = bits & 8 ? ARGTRACE_INSN_SIGNED : 0,
			.base = random_number(&random), .span = random_number(&random),
			.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
		};
		if (insn->loads) {
			insn->width = widths[bits >> 20 & 3];
			if (bits & 16) {
				insn->source = ARGTRACE_SOURCE_TASK;
				insn->offset[0] = offsetof(struct task_struct, comm) + (bits >> 22 & 7);
				memcpy(&value, current->comm + (bits >> 22 & 7), 8);
			}
			value &= GENMASK_ULL(insn->width * 8 - 1, 0);
		}
		KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL, NULL), 0);
		run.fregs = (void *)&regs;
		expected = test_holds(insn, value);
		held += expected;
		op = prepared.code.filter;
		if (argtrace_op_is_quick(op)) {
			preempt_disable();
			fault = !argtrace_op_quickly(op, run.fregs, &value);
			preempt_enable();
			/* What looks like a failure is left to the slow way, which is asked below. */
			if (!fault)
				KUNIT_ASSERT_EQ_MSG(test, argtrace_op_test(op, value) == ARGTRACE_OP_ACCEPT, expected,
						    "round %u", round);
			quick += !fault;
			kinds |= BIT(op->kind);
		}
		preempt_disable();
		KUNIT_ASSERT_EQ_MSG(test, argtrace_run_filter(&run, run.code->filter), expected ? ARGTRACE_VERDICT_ACCEPT : ARGTRACE_VERDICT_REJECT,
				    "round %u", round);
		preempt_enable();
	}
	/* Enough of each for the test to say something. */
	KUNIT_EXPECT_GT(test, quick, 20000);
	KUNIT_EXPECT_GT(test, held, 10000);
	KUNIT_EXPECT_LT(test, held, 90000);
	KUNIT_EXPECT_EQ(test, kinds, BIT(ARGTRACE_OP_REG) | BIT(ARGTRACE_OP_TASK) | BIT(ARGTRACE_OP_LOAD_1));
}

/* Every ALU operation, in four widths, beside what the compiler makes of it. */
static u64 alu(struct kunit *test, u8 op, u8 width, bool is_signed, u64 a, u64 b, u64 *unreadable)
{
	const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_SET, .arg = 2 },
		{ ARGUMENT(1), .action = ARGTRACE_DO_ALU, .arg = 2, .then = op, .other = width,
		  .flags = is_signed ? ARGTRACE_INSN_SIGNED : 0 },
		{ .source = ARGTRACE_SOURCE_SLOT, .index = 2, .mask = ALL, OUT(8) },
	};
	static struct { struct argtrace_probe head; struct argtrace_arg arg; struct argtrace_program program;
			struct argtrace_insn insns[3]; } __packed schema;
	static struct { struct argtrace_code code; struct argtrace_op ops[ARGTRACE_OPS_EXTRA + 3]; } prepared;
	struct argtrace_regs regs = { };
	struct argtrace_run run = { .code = &prepared.code, .fregs = (void *)&regs };
	u64 out;

	schema.head = (struct argtrace_probe){ .size = sizeof(schema), .nr_args = 1,
					       .program = sizeof(schema.program) + sizeof(schema.insns) };
	schema.arg = (struct argtrace_arg){ .loc = ARGTRACE_LOC_PROGRAM, .type = ARGTRACE_TYPE_U64, .size = 8 };
	schema.program = (struct argtrace_program){ .nr_insns = 3 };
	memcpy(schema.insns, insns, sizeof(insns));
	machine_set_argument(&regs, 0, a);
	machine_set_argument(&regs, 1, b);
	KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL, NULL), 0);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_run_values(&run, (u8 *)&out), (u8 *)(&out + 1));
	*unreadable = run.unreadable;
	return out;
}

#define EXPECT_ALU(type, width, is_signed, op, expression)						\
do {													\
	const type a = x, b = y;									\
	KUNIT_EXPECT_EQ_MSG(test, (type)alu(test, ARGTRACE_ALU_##op, width, is_signed, x, y, &unreadable),	\
			    (type)(expression), #type " " #op " %llx %llx", x, y);				\
	KUNIT_EXPECT_EQ(test, unreadable, 0);								\
} while (0)

#define EXPECT_ALL(type, width, is_signed)								\
do {													\
	EXPECT_ALU(type, width, is_signed, ADD, a + b);							\
	EXPECT_ALU(type, width, is_signed, SUB, a - b);							\
	EXPECT_ALU(type, width, is_signed, MUL, a * b);							\
	EXPECT_ALU(type, width, is_signed, AND, a & b);							\
	EXPECT_ALU(type, width, is_signed, OR, a | b);							\
	EXPECT_ALU(type, width, is_signed, XOR, a ^ b);							\
	EXPECT_ALU(type, width, is_signed, SHL, a << (b & ((width) * 8 - 1)));				\
	EXPECT_ALU(type, width, is_signed, SHR, a >> (b & ((width) * 8 - 1)));				\
	EXPECT_ALU(type, width, is_signed, EQ, a == b);							\
	EXPECT_ALU(type, width, is_signed, NE, a != b);							\
	EXPECT_ALU(type, width, is_signed, LT, a < b);							\
	EXPECT_ALU(type, width, is_signed, LE, a <= b);							\
	if ((type)y && (!(is_signed) || (type)y != (type)-1)) {						\
		EXPECT_ALU(type, width, is_signed, DIV, a / b);						\
		EXPECT_ALU(type, width, is_signed, MOD, a % b);						\
	}												\
} while (0)

static void arithmetic(struct kunit *test)
{
	static const u64 numbers[] = { 0, 1, 2, 7, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
				       0x7fffffffffffffff, 0x8000000000000000, ~0ull, ~0ull - 4, 0xfedcba9876543210 };
	u64 x, y, unreadable;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		for (j = 0; j < ARRAY_SIZE(numbers); j++) {
			x = numbers[i];
			y = numbers[j];
			EXPECT_ALL(u64, 8, false);
			EXPECT_ALL(s64, 8, true);
			EXPECT_ALL(u32, 4, false);
			EXPECT_ALL(s32, 4, true);
		}
	}
	KUNIT_EXPECT_EQ(test, alu(test, ARGTRACE_ALU_DIV, 8, true, 1ull << 63, -1, &unreadable), 1ull << 63);
	KUNIT_EXPECT_EQ(test, alu(test, ARGTRACE_ALU_MOD, 8, true, 1ull << 63, -1, &unreadable), 0);
	KUNIT_EXPECT_EQ(test, (s32)alu(test, ARGTRACE_ALU_DIV, 4, true, 1u << 31, -1, &unreadable), S32_MIN);
	KUNIT_EXPECT_EQ(test, unreadable, 0);
	alu(test, ARGTRACE_ALU_DIV, 4, false, 5, 1ull << 32, &unreadable);
	KUNIT_EXPECT_EQ(test, unreadable, 1);
	alu(test, ARGTRACE_ALU_MOD, 8, true, 5, 0, &unreadable);
	KUNIT_EXPECT_EQ(test, unreadable, 1);
}

static struct kunit_case program_arithmetic_cases[] = {
	KUNIT_CASE(quick_tests_are_exact),
	KUNIT_CASE(arithmetic),
	{ }
};

static struct kunit_suite program_arithmetic_suite = {
	.name = "argtrace_program_arithmetic",
	.init = stay_on_this_cpu,
	.test_cases = program_arithmetic_cases,
};
kunit_test_suite(program_arithmetic_suite);
