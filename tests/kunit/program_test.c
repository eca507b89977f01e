// SPDX-License-Identifier: GPL-2.0-only
/* Programs: what is refused, what they compute, and that no program and no pointer can do harm. */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/ftrace_regs.h>
#include <linux/jiffies.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>

#include "fetch/exec.h"
#include "fetch/scratch.h"
#include "fixtures.h"
#include "ring_read.h"
#include "targets.h"

#define ALL	(~0ull)

/* The value of argument `n`, whole. */
#define ARGUMENT(n)	.source = ARGTRACE_SOURCE_REG, .index = (n), .mask = ALL
#define ACCEPT_IF(from, to) \
	.action = ARGTRACE_DO_TEST, .base = (from), .span = (to) - (u64)(from), \
	.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT
#define OUT(bytes)	.action = ARGTRACE_DO_OUT, .arg = (bytes)

static struct argtrace_program *program_of(struct made_probe *probe)
{
	return (void *)probe->program;
}

static struct argtrace_session *trace_three(struct kunit *test, struct made_probe *probe)
{
	struct argtrace_session *session = make_session(test, "", 0);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

static void a_filter_on_an_argument(struct kunit *test)
{
	static const struct argtrace_insn filter = { ARGUMENT(1), ACCEPT_IF(10, 20) };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session;
	struct argtrace_counts counts;
	static struct seen seen[4];
	u64 b, words[4];

	set_program(probe, &filter, 1, 1, NULL);
	session = trace_three(test, probe);
	for (b = 9; b <= 21; b++)
		target_three(1, b, 3);
	target_three(1, -15, 3);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 4), 11);
	memcpy(words, seen[3].data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[1], 1);
	KUNIT_EXPECT_EQ(test, words[2], 13);
	KUNIT_EXPECT_EQ(test, words[3], 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 11);
	KUNIT_EXPECT_EQ(test, counts.filtered, 3);
	KUNIT_EXPECT_EQ(test, counts.faults, 0);
}

struct inner { u32 number; s16 narrow; u8 text[10]; };
struct outer { u64 pad; struct inner *inner; };

/* a->inner->number == 7, where the memory may not be there. */
static void a_filter_behind_pointers(struct kunit *test)
{
	static const struct argtrace_insn filter = {
		ARGUMENT(0), ACCEPT_IF(7, 7), .loads = 2, .width = 4,
		.offset = { offsetof(struct outer, inner), offsetof(struct inner, number) },
	};
	static const u64 nowhere[] = { 0, 0x10, 0x7fffffffe000, 0x0000800000000000, 0x8000000000000000, 0xdead000000000100,
				       (u64)-ENOMEM, 0xffffffffff600000, 0xffff000000000000 };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct inner inner = { .number = 7 };
	struct outer outer = { .inner = &inner };
	struct argtrace_session *session;
	u32 i;

	set_program(probe, &filter, 1, 1, NULL);
	session = trace_three(test, probe);
	target_three((u64)&outer, 0, 0);
	inner.number = 8;
	target_three((u64)&outer, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		target_three(nowhere[i], 0, 0);
		outer.inner = (void *)nowhere[i];
		target_three((u64)&outer, 0, 0);
		KUNIT_EXPECT_EQ_MSG(test, counts_of(session, 1).faults, 2 * (i + 1), "%llx", nowhere[i]);
	}
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1 + 2 * ARRAY_SIZE(nowhere));
}

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
		struct __arch_ftrace_regs regs = { .regs.di = bits & 1 ? stored : (u64)&stored };
		const struct argtrace_op *op;
		bool expected, fault = false;

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
		KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL), 0);
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

/* User, group and cgroup, compared and recorded, of a task that acts as another user. */
static void who_calls(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, .action = ARGTRACE_DO_TEST,
		  .base = 1234, .then = 1, .other = ARGTRACE_REJECT },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_GID, .mask = ALL, ACCEPT_IF(5678, 5678) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_GID, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_CGROUP, .mask = ALL, OUT(8) },
		/* Not quick: shifted. */
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, .shr = 4, OUT(8) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct { u64 caller, unreadable; u32 uid, gid; u64 cgroup, shifted; } __packed got;
	struct argtrace_session *session;
	const struct cred *before;
	struct cred *other;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	set_program(probe, insns, ARRAY_SIZE(insns), 2, NULL);
	session = trace_three(test, probe);

	other = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, other);
	other->uid = KUIDT_INIT(1234);
	other->gid = KGIDT_INIT(5678);
	target_three(1, 2, 3);
	before = override_creds(other);
	target_three(1, 2, 3);
	revert_creds(before);
	put_cred(other);

	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(&got, seen.data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.unreadable, 0);
	KUNIT_EXPECT_EQ(test, got.uid, 1234);
	KUNIT_EXPECT_EQ(test, got.gid, 5678);
	KUNIT_EXPECT_EQ(test, got.shifted, 1234 >> 4);
	KUNIT_EXPECT_EQ(test, got.cgroup, argtrace_current_cgroup());
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
}

/* What is read without a net is within the task, whose last member may be smaller than it says. */
static void only_what_a_task_surely_has(struct kunit *test)
{
	static struct { struct argtrace_probe head; struct argtrace_program program; struct argtrace_insn insn; } __packed schema;
	static struct { struct argtrace_code code; struct argtrace_op ops[ARGTRACE_OPS_EXTRA + 1]; } prepared;
	const s32 end = offsetof(struct task_struct, thread);
	const struct {
		s32 offset;
		u8 loads;
		u8 kind;
	} cases[] = {
		{ 0, 1, ARGTRACE_OP_TASK }, { end - 8, 1, ARGTRACE_OP_TASK }, { end - 7, 1, ARGTRACE_OP_LOAD_TASK },
		{ sizeof(struct task_struct) - 8, 1, ARGTRACE_OP_LOAD_TASK }, { S32_MAX, 1, ARGTRACE_OP_LOAD_TASK },
		{ -8, 1, ARGTRACE_OP_LOAD_TASK }, { S32_MIN, 1, ARGTRACE_OP_LOAD_TASK }, { 0, 2, ARGTRACE_OP_LOAD_TASK },
		{ 0, 0, ARGTRACE_OP_OTHER },
	};
	u32 i;

	schema.head = (struct argtrace_probe){ .size = sizeof(schema), .program = sizeof(schema.program) + sizeof(schema.insn) };
	schema.program = (struct argtrace_program){ .nr_insns = 1, .nr_filter = 1 };
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		schema.insn = (struct argtrace_insn){
			.source = ARGTRACE_SOURCE_TASK, .loads = cases[i].loads, .width = cases[i].loads ? 8 : 0,
			.offset = { cases[i].offset }, .mask = ALL, .then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
		};
		KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL), 0);
		KUNIT_EXPECT_EQ_MSG(test, prepared.code.filter->kind, cases[i].kind, "%d", cases[i].offset);
	}
}

/* The last bytes of a page with nothing behind it: read 8 at a time they would not be there. */
static void narrow_loads_at_the_end_of_a_page(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), ACCEPT_IF(0x5555, 0x5555), .loads = 1, .width = 2 },
		{ ARGUMENT(0), OUT(2), .loads = 1, .width = 2 },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	u8 *page = vmalloc(PAGE_SIZE);
	struct argtrace_session *session;
	struct seen seen;
	u16 got;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0x55, PAGE_SIZE);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	set_program(probe, insns, ARRAY_SIZE(insns), 1, NULL);
	session = trace_three(test, probe);
	for (i = 2; i <= 9; i++) {
		target_three((u64)page + PAGE_SIZE - i, 0, 0);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		memcpy(&got, seen.data + 16, sizeof(got));
		KUNIT_EXPECT_EQ(test, got, 0x5555);
	}
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	target_three((u64)page + PAGE_SIZE - 1, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	vfree(page);
}

/* Memory that holds what a failed load leaves is memory like any other. */
static void what_looks_like_a_failure(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), ACCEPT_IF((u64)-EFAULT, (u64)-EFAULT), .loads = 1, .width = 8 },
		{ ARGUMENT(0), OUT(8), .loads = 1, .width = 8 },
		{ ARGUMENT(1), OUT(4) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	u64 stored = -EFAULT, got;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	set_program(probe, insns, ARRAY_SIZE(insns), 1, NULL);
	session = trace_three(test, probe);
	target_three((u64)&stored, 0x12345678, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(&got, seen.data + 16, sizeof(got));
	KUNIT_EXPECT_EQ(test, got, (u64)-EFAULT);
	KUNIT_EXPECT_EQ(test, seen.data[8], 0);
	KUNIT_EXPECT_EQ(test, *(u32 *)(seen.data + 24), 0x12345678);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
}

/* Values after the plain arguments: signed, narrow, and one that cannot be read between others that can. */
static void values(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), OUT(4), .loads = 2, .width = 4,
		  .offset = { offsetof(struct outer, inner), offsetof(struct inner, number) } },
		{ ARGUMENT(1), OUT(2), .loads = 1, .width = 2 },
		{ ARGUMENT(0), OUT(8), .loads = 2, .width = 2, .shl = 48, .shr = 48, .flags = ARGTRACE_INSN_SIGNED,
		  .offset = { offsetof(struct outer, inner), offsetof(struct inner, narrow) } },
		{ .source = ARGTRACE_SOURCE_CONST, .mask = ALL, .span = 0x1234, OUT(2) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
	struct inner inner = { .number = 0xfeedbeef, .narrow = -2 };
	struct outer outer = { .inner = &inner };
	struct argtrace_session *session;
	struct {
		u64 caller, a0, unreadable;
		u32 number;
		u16 nothing;
		s64 narrow;
		u16 constant;
	} __packed got;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	add_output(probe, ARGTRACE_TYPE_S64, 8);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_three(test, probe);
	target_three((u64)&outer, 0x40, 3);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + sizeof(got), 8));
	memcpy(&got, seen.data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.a0, (u64)&outer);
	KUNIT_EXPECT_EQ(test, got.unreadable, 2);
	KUNIT_EXPECT_EQ(test, got.number, 0xfeedbeef);
	KUNIT_EXPECT_EQ(test, got.nothing, 0);
	KUNIT_EXPECT_EQ(test, got.narrow, -2);
	KUNIT_EXPECT_EQ(test, got.constant, 0x1234);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
}

/* Text: whole, cut, up to the end of what is there, and not there; a counted buffer. */
static void text_and_buffers(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 12 },
		{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 3 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_BUF, .arg = 6, .base = 3 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_MEM, .arg = 3 },
	};
	static const struct { const char *text; u16 length; } cases[] = {
		{ "", 0 }, { "a", 1 }, { "eightch", 7 }, { "eight ch", 8 }, { "twelve chars", 12 },
		{ "thirteen char", 12 | ARGTRACE_TEXT_CUT },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	u8 *page = vmalloc(PAGE_SIZE);
	struct argtrace_session *session;
	struct seen seen;
	u16 length;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	add_output(probe, ARGTRACE_TYPE_STR, 12);
	add_output(probe, ARGTRACE_TYPE_BYTES, 6);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_three(test, probe);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* The text ends where the page ends, and there is none after it. */
		u8 *text = page + PAGE_SIZE - max(strlen(cases[i].text) + 1, 7ul), *at;
		const u16 text_length = cases[i].length & ~ARGTRACE_TEXT_CUT;

		memset(text, 0, 7);
		strcpy(text, cases[i].text);
		target_three((u64)text, i, 0);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		memcpy(&length, seen.data + 16, 2);
		KUNIT_EXPECT_EQ_MSG(test, length, cases[i].length, "%s", cases[i].text);
		KUNIT_EXPECT_MEMEQ(test, seen.data + 18, cases[i].text, text_length);
		at = seen.data + 18 + text_length;
		memcpy(&length, at, 2);
		KUNIT_EXPECT_EQ(test, length, i);
		KUNIT_EXPECT_MEMEQ(test, at + 2, text, i);
		at += 2 + i;
		memcpy(&length, at, 2);
		KUNIT_EXPECT_EQ(test, length, 3);
		KUNIT_EXPECT_MEMEQ(test, at + 2, text, 3);
		KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + 2 + text_length + 2 + i + 2 + 3, 8));
	}
	target_three(0xffff000000000000, 9, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 16 + 8);
	KUNIT_EXPECT_EQ(test, seen.data[8], 7);
	KUNIT_EXPECT_NULL(test, memchr_inv(seen.data + 9, 0, 7 + 6));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	vfree(page);
}

static void texts_in_filters(struct kunit *test)
{
	static const struct {
		const char *text, *literal;
		u8 how;
		bool matches;
	} cases[] = {
		{ "read", "read", ARGTRACE_MATCH_WHOLE, true }, { "reader", "read", ARGTRACE_MATCH_WHOLE, false },
		{ "rea", "read", ARGTRACE_MATCH_WHOLE, false }, { "reader", "read", ARGTRACE_MATCH_PREFIX, true },
		{ "rea", "read", ARGTRACE_MATCH_PREFIX, false }, { "proofread", "read", ARGTRACE_MATCH_SUFFIX, true },
		{ "proofreader", "read", ARGTRACE_MATCH_SUFFIX, false }, { "ad", "read", ARGTRACE_MATCH_SUFFIX, false },
		{ "proofreader", "read", ARGTRACE_MATCH_CONTAINS, true }, { "read", "read", ARGTRACE_MATCH_CONTAINS, true },
		{ "proof", "read", ARGTRACE_MATCH_CONTAINS, false }, { "vfs_read", "v*_r[de]?d", ARGTRACE_MATCH_GLOB, true },
		{ "vfs_road", "v*_r[de]?d", ARGTRACE_MATCH_GLOB, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct argtrace_insn filter = {
			ARGUMENT(0), .action = ARGTRACE_DO_TEXT, .arg = 64,
			.span = (u64)cases[i].how << 32 | strlen(cases[i].literal),
			.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
		};
		struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
		struct argtrace_session *session;
		struct argtrace_counts counts;

		set_program(probe, &filter, 1, 1, cases[i].literal);
		session = trace_three(test, probe);
		target_three((u64)cases[i].text, 0, 0);
		target_three(0x20, 0, 0);
		counts = counts_of(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.records, cases[i].matches, "%s, %s, %u", cases[i].text,
				    cases[i].literal, cases[i].how);
		KUNIT_EXPECT_EQ(test, counts.faults, 1);
		session_remove_all(session);
	}
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
	struct __arch_ftrace_regs regs = { .regs = { .di = a, .si = b } };
	struct argtrace_run run = { .code = &prepared.code, .fregs = (void *)&regs };
	u64 out;

	schema.head = (struct argtrace_probe){ .size = sizeof(schema), .nr_args = 1,
					       .program = sizeof(schema.program) + sizeof(schema.insns) };
	schema.arg = (struct argtrace_arg){ .loc = ARGTRACE_LOC_PROGRAM, .type = ARGTRACE_TYPE_U64, .size = 8 };
	schema.program = (struct argtrace_program){ .nr_insns = 3 };
	memcpy(schema.insns, insns, sizeof(insns));
	KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL), 0);
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

static void one_in_three(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session;
	u32 i;

	set_program(probe, NULL, 0, 0, NULL);
	program_of(probe)->sample = 3;
	session = trace_three(test, probe);
	for (i = 0; i < 30; i++)
		target_three(i, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 10);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).sampled, 20);
	KUNIT_EXPECT_EQ(test, read_records(test, session, NULL, 0), 10);
}

/* Calls at the beginning of a second, in its middle, and in the next one; false where the machine has stood still for too long. */
static bool call_in_two_seconds(struct argtrace_session *session, struct argtrace_counts counts[3])
{
	unsigned long begin = jiffies, first;
	bool in_time;
	u32 i;

	target_three(0, 0, 0);
	first = jiffies;
	for (i = 1; i < 20; i++)
		target_three(i, 0, 0);
	counts[0] = counts_of(session, 1);
	while (time_before(jiffies, begin + HZ / 2))
		cond_resched();
	target_three(i, 0, 0);
	in_time = time_before(jiffies, begin + HZ);
	counts[1] = counts_of(session, 1);
	/* The second began with the first record. */
	while (time_before_eq(jiffies, first + HZ + 1))
		cond_resched();
	begin = jiffies;
	for (i = 0; i < 20; i++)
		target_three(i, 0, 0);
	counts[2] = counts_of(session, 1);
	return in_time && time_before(jiffies, begin + HZ);
}

static void no_more_than_five_in_a_second(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_counts counts[3];
	bool in_time = false;
	u32 tries;

	set_program(probe, NULL, 0, 0, NULL);
	program_of(probe)->max_rate = 5;
	for (tries = 0; tries < 10 && !in_time; tries++) {
		struct argtrace_session *session = trace_three(test, probe);

		in_time = call_in_two_seconds(session, counts);
		session_remove_all(session);
	}
	KUNIT_ASSERT_TRUE(test, in_time);
	KUNIT_EXPECT_EQ(test, counts[0].records, 5);
	KUNIT_EXPECT_EQ(test, counts[0].capped, 15);
	KUNIT_EXPECT_EQ(test, counts[1].records, 5);
	KUNIT_EXPECT_EQ(test, counts[1].capped, 16);
	KUNIT_EXPECT_EQ(test, counts[2].records, 10);
	KUNIT_EXPECT_EQ(test, counts[2].capped, 31);
}

/* What must be refused: each is the program of values() with one thing wrong. */
static const struct argtrace_insn good[] = {
	{ ARGUMENT(0), .action = ARGTRACE_DO_TEST, .then = 1, .other = ARGTRACE_REJECT },
	{ ARGUMENT(1), ACCEPT_IF(1, 2), .loads = 1, .width = 4 },
	{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 4 },
	{ ARGUMENT(2), .action = ARGTRACE_DO_TEST, .then = 4, .other = 5 },
	{ ARGUMENT(2), .action = ARGTRACE_DO_ALU, .arg = 4, .other = 8 },
	{ .source = ARGTRACE_SOURCE_SLOT, .index = 4, .mask = ALL, OUT(8) },
	{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 16 },
};

struct bad_program {
	const char *name;
	void (*spoil)(struct argtrace_program *head, struct argtrace_insn *insns);
};

#define BAD(id, text, what) \
	static void bad_##id(struct argtrace_program *head, struct argtrace_insn *insns) { what; }
#define BAD_PROGRAMS(B) \
	B(nr_return, "a filter at return of a call that is not followed", head->nr_return = 1) \
	B(longer, "more instructions than there are", head->nr_insns++) \
	B(shorter, "fewer instructions", head->nr_insns--) \
	B(filter, "a filter longer than the program", head->nr_filter = 8) \
	B(data, "data that is not there", head->data = 16) \
	B(output_in_filter, "an output in the filter", head->nr_filter = 6) \
	B(no_verdict, "a filter without an end", head->nr_filter = 3) \
	B(source, "an unknown source", insns[0].source = 99) \
	B(reserved_source, "a value at return", insns[0].source = ARGTRACE_SOURCE_RETURN) \
	B(reg, "a seventh register", insns[0].index = 6) \
	B(task, "an index of the task", (insns[0].source = ARGTRACE_SOURCE_TASK, insns[0].index = 1)) \
	B(slot, "a slot that is not there", (insns[5].index = 16)) \
	B(unset, "a slot that is not set", insns[5].index = 5) \
	B(unset_alu, "arithmetic in a slot that is not set", insns[4].arg = 5) \
	B(one_way, "a slot that is set on one way only", (insns[4].action = ARGTRACE_DO_SET, insns[4].arg = 5, \
							   insns[4].other = 0, insns[5].index = 5)) \
	B(set_slot, "a slot to set that is not there", insns[2].arg = 16) \
	B(loads, "four loads", insns[1].loads = 4) \
	B(width, "a width of 3", insns[1].width = 3) \
	B(no_width, "a load without width", insns[1].width = 0) \
	B(width_alone, "a width without load", insns[0].width = 4) \
	B(offset, "an offset too many", insns[1].offset[1] = 8) \
	B(shl, "a shift by 64", insns[0].shl = 64) \
	B(shr, "a shift right by 64", insns[0].shr = 64) \
	B(flags, "unknown flags", insns[0].flags = 0x80) \
	B(action, "an unknown action", insns[0].action = 9) \
	B(output, "an unknown output", insns[5].action = 99) \
	B(path, "a path without its layout", insns[6].action = ARGTRACE_DO_PATH) \
	B(back, "a jump back", insns[3].then = 2) \
	B(itself, "a jump to itself", insns[3].then = 3) \
	B(beyond, "a jump beyond the value", insns[3].then = 6) \
	B(verdict, "a verdict of a value", insns[3].then = ARGTRACE_ACCEPT) \
	B(out_of_filter, "a jump out of the filter", insns[0].then = 2) \
	B(unreached, "an instruction that no way leads to", insns[0].then = ARGTRACE_ACCEPT) \
	B(alu, "unknown arithmetic", insns[4].then = ARGTRACE_ALU_LE + 1) \
	B(alu_width, "arithmetic of 2 bytes", insns[4].other = 2) \
	B(out, "an output of 3 bytes", insns[5].arg = 3) \
	B(other_out, "an output of another size than the argument", insns[5].arg = 4) \
	B(other_type, "an output of another type", insns[6].action = ARGTRACE_DO_MEM) \
	B(str, "an empty text", insns[6].arg = 0) \
	B(long_str, "a text too long", insns[6].arg = ARGTRACE_TEXT_MAX + 1) \
	B(text, "a literal that is not there", (insns[0].action = ARGTRACE_DO_TEXT, insns[0].arg = 8, insns[0].span = 1))
BAD_PROGRAMS(BAD)

#define BAD_ROW(id, text, what) { text, bad_##id },
static const struct bad_program bad_programs[] = { BAD_PROGRAMS(BAD_ROW) };

static void describe_bad(const struct bad_program *bad, char *text)
{
	strscpy(text, bad->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(bad, bad_programs, describe_bad);

static struct made_probe *good_program(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);

	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_STR, 16);
	set_program(probe, good, ARRAY_SIZE(good), 2, NULL);
	return probe;
}

static void refused(struct kunit *test)
{
	const struct bad_program *bad = test->param_value;
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = good_program(test);
	struct argtrace_plan *plan;
	u64 length = probe->head.size;

	bad->spoil(program_of(probe), (void *)(program_of(probe) + 1));
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_PTR_EQ_MSG(test, plan, ERR_PTR(-EINVAL), "%s", bad->name);
	argtrace_plan_free(plan);
}

static void the_good_one_is_taken(struct kunit *test)
{
	argtrace_plan_free(make_plan(test, good_program(test)));
}

/* Whoever may not read memory may filter by registers all the same. */
static void authority(struct kunit *test)
{
	static const struct argtrace_insn registers = { ARGUMENT(0), ACCEPT_IF(1, 2) };
	const struct argtrace_plan_format format = { .max_record = 4096, .registers_only = true };
	struct made_probe *probe = good_program(test);
	u64 length = probe->head.size;
	struct argtrace_plan *plan;

	KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-EPERM));
	probe = make_probe(test, (unsigned long)target_three, 1);
	set_program(probe, &registers, 1, 1, NULL);
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, plan);
	argtrace_plan_free(plan);
}

#define RANDOM_INSNS	12

static void random_insn(struct rnd_state *random, struct argtrace_insn *insn, u32 at, bool filter)
{
	static const u8 outputs[] = { ARGTRACE_DO_OUT, ARGTRACE_DO_STR, ARGTRACE_DO_BUF, ARGTRACE_DO_MEM };
	const u32 bits = prandom_u32_state(random);

	*insn = (struct argtrace_insn){
		.source = 1 + bits % 7, .loads = bits >> 4 & 3, .mask = ALL, .shl = bits >> 6 & 63, .shr = bits >> 12 & 63,
		.flags = bits >> 18 & 3,
	};
	insn->index = insn->source == ARGTRACE_SOURCE_REG ? bits >> 20 & 3 :
		      insn->source == ARGTRACE_SOURCE_SLOT ? bits >> 20 & 1 : 0;
	insn->width = insn->loads ? 1 << (bits >> 22 & 3) : 0;
	insn->span = prandom_u32_state(random);
	insn->base = bits >> 24 & 1;
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
		insn->action = outputs[bits >> 27 & 3];
		insn->arg = insn->action == ARGTRACE_DO_OUT ? 8 : 1 + (bits >> 29) * 9;
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
		struct __arch_ftrace_regs regs = { .regs = {
			.di = random_pointer(&random, page), .si = random_pointer(&random, page),
			.dx = random_pointer(&random, page), .cx = random_pointer(&random, page),
			.sp = (unsigned long)page + 64,
		} };
		struct argtrace_run run = { .code = &prepared->code, .fregs = (void *)&regs };
		u32 nr_filter = prandom_u32_state(&random) & 1, nr_args = 0;
		u8 *end;

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
		/* The program is at the end. */
		schema->head = (struct argtrace_probe){ .size = sizeof(*schema), .nr_args = nr_args,
			.program = sizeof(schema->program) + sizeof(schema->insns) };
		if (argtrace_code_prepare(&prepared->code, &schema->head, NULL, NULL))
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

static struct kunit_case program_cases[] = {
	KUNIT_CASE(a_filter_on_an_argument),
	KUNIT_CASE(a_filter_behind_pointers),
	KUNIT_CASE(quick_tests_are_exact),
	KUNIT_CASE(who_calls),
	KUNIT_CASE(only_what_a_task_surely_has),
	KUNIT_CASE(narrow_loads_at_the_end_of_a_page),
	KUNIT_CASE(what_looks_like_a_failure),
	KUNIT_CASE(values),
	KUNIT_CASE(text_and_buffers),
	KUNIT_CASE(texts_in_filters),
	KUNIT_CASE(arithmetic),
	KUNIT_CASE(one_in_three),
	KUNIT_CASE(no_more_than_five_in_a_second),
	KUNIT_CASE(the_good_one_is_taken),
	KUNIT_CASE_PARAM(refused, bad_gen_params),
	KUNIT_CASE(authority),
	KUNIT_CASE_SLOW(random_programs),
	{ }
};

static struct kunit_suite program_suite = {
	.name = "argtrace_program",
	.init = stay_on_this_cpu,
	.test_cases = program_cases,
};
kunit_test_suite(program_suite);
