// SPDX-License-Identifier: GPL-2.0-only
/* Programs that are refused. */
#include <kunit/test.h>

#include "program_fixtures.h"
#include "ring_read.h"
#include "targets.h"

/* What must be refused: each is the program of values() with one thing wrong. */
static const struct argtrace_insn good[] = {
	{ ARGUMENT(0), .action = ARGTRACE_DO_TEST, .then = 1, .other = ARGTRACE_REJECT },
	{ ARGUMENT(1), ACCEPT_IF(1, 2), .loads = 1, .width = 4 },
	{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 4 },
	{ ARGUMENT(2), .action = ARGTRACE_DO_TEST, .then = 4, .other = 5 },
	{ ARGUMENT(2), .action = ARGTRACE_DO_ALU, .arg = 4, .other = 8 },
	{ .source = ARGTRACE_SOURCE_SLOT, .index = 4, .mask = ALL, OUT(8) },
	{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 16, .flags = ARGTRACE_INSN_USER_DATA },
	{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 4 },
	{ ARGUMENT(0), .action = ARGTRACE_DO_BUF, .arg = 16, .base = 4, .other = ARGTRACE_BUF_SIGNED },
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
	B(filter, "a filter longer than the program", head->nr_filter = 10) \
	B(data, "data that is not there", head->data = 16) \
	B(output_in_filter, "an output in the filter", head->nr_filter = 6) \
	B(no_verdict, "a filter without an end", head->nr_filter = 3) \
	B(source, "an unknown source", insns[0].source = 99) \
	B(reserved_source, "a value at return", insns[0].source = ARGTRACE_SOURCE_RETURN) \
	B(vector, "a register of user code alone", (insns[0].source = ARGTRACE_SOURCE_VECTOR, insns[0].index = 0)) \
	B(reg, "a seventh register", insns[0].index = ARGTRACE_REG_COUNT) \
	B(task, "an index of the task", (insns[0].source = ARGTRACE_SOURCE_TASK, insns[0].index = 1)) \
	B(slot, "a slot that is not there", (insns[5].index = 16)) \
	B(unset, "a slot that is not set", insns[5].index = 5) \
	B(unset_alu, "arithmetic in a slot that is not set", insns[4].arg = 5) \
	B(one_way, "a slot that is set on one way only", (insns[4].action = ARGTRACE_DO_SET, insns[4].arg = 5, \
							   insns[4].other = 0, insns[5].index = 5)) \
	B(set_slot, "a slot to set that is not there", insns[2].arg = 16) \
	B(file_slot, "a slot for a file that is not there", (insns[2].action = ARGTRACE_DO_FILE, insns[2].arg = 16)) \
	B(file_then, "a file with a next instruction", (insns[2].action = ARGTRACE_DO_FILE, insns[2].then = 1)) \
	B(loads, "four loads", insns[1].loads = 4) \
	B(width, "a width of 3", insns[1].width = 3) \
	B(no_width, "a load without width", insns[1].width = 0) \
	B(width_alone, "a width without load", insns[0].width = 4) \
	B(offset, "an offset too many", insns[1].offset[1] = 8) \
	B(shl, "a shift by 64", insns[0].shl = 64) \
	B(shr, "a shift right by 64", insns[0].shr = 64) \
	B(flags, "unknown flags", insns[0].flags = 0x80) \
	B(user, "user memory without a load", insns[0].flags = ARGTRACE_INSN_USER(0)) \
	B(user_load, "user memory in a load that is not there", insns[1].flags = ARGTRACE_INSN_USER(1)) \
	B(user_data, "a number in user memory", insns[5].flags = ARGTRACE_INSN_USER_DATA) \
	B(length, "a length of an unknown kind", insns[8].other = ARGTRACE_BUF_SIGNED + 1) \
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
	B(out_flags, "unknown flags of an output", insns[6].then = 4) \
	B(number_null, "a number that is nothing at NULL", insns[5].then = ARGTRACE_OUT_NULL) \
	B(again, "a second reading of a call that is not followed", insns[6].then = ARGTRACE_OUT_AGAIN) \
	B(strs_width, "texts behind pointers of 2 bytes", (insns[8].action = ARGTRACE_DO_STRS, insns[8].base = 0, insns[8].other = 2)) \
	B(strs, "texts of more bytes than there may be", (insns[8].action = ARGTRACE_DO_STRS, insns[8].base = 0, insns[8].other = 8, \
							  insns[8].arg = ARGTRACE_TEXT_MAX + 1)) \
	B(words, "no bytes of words", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].arg = 0)) \
	B(long_words, "more bytes than two words have", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].arg = 17)) \
	B(words_slot, "a second word in a slot that is not set", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].base = 5)) \
	B(words_beyond, "a second word in a slot that is not there", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].base = 16)) \
	B(words_user, "words in user memory", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].flags = ARGTRACE_INSN_USER_DATA)) \
	B(words_null, "words that are nothing at NULL", (insns[8].action = ARGTRACE_DO_WORDS, insns[8].other = 0, insns[8].then = ARGTRACE_OUT_NULL)) \
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
	add_output(probe, ARGTRACE_TYPE_BYTES, 16);
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

/* One glob of the greatest length is taken, and two are not; the sum is told, and only for that reason. */
static void too_dear(struct kunit *test)
{
	static const struct argtrace_insn glob = {
		ARGUMENT(0), .action = ARGTRACE_DO_TEXT, .arg = ARGTRACE_MATCH_MAX,
		.span = 254 | (u64)ARGTRACE_MATCH_GLOB << 32, .then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
	};
	struct argtrace_insn globs[] = { glob, glob };
	u64 cost = 1, length;
	const struct argtrace_plan_format format = { .max_record = 4096, .cost = &cost };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
	struct argtrace_plan *plan;
	char data[255];

	memset(data, '?', sizeof(data));
	data[254] = 0;
	set_program(probe, &glob, 1, 1, data);
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, plan);
	KUNIT_EXPECT_EQ(test, cost, 0);
	argtrace_plan_free(plan);
	globs[0].other = 1;
	set_program(probe, globs, 2, 2, data);
	length = probe->head.size;
	KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-E2BIG));
	KUNIT_EXPECT_EQ(test, cost, 2 * argtrace_insn_cost(&glob));
	globs[0].other = 0;
	set_program(probe, globs, 2, 2, data);
	length = probe->head.size;
	KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-EINVAL));
}

static struct kunit_case program_refused_cases[] = {
	KUNIT_CASE(too_dear),
	KUNIT_CASE(the_good_one_is_taken),
	KUNIT_CASE_PARAM(refused, bad_gen_params),
	KUNIT_CASE(authority),
	{ }
};

static struct kunit_suite program_refused_suite = {
	.name = "argtrace_program_refused",
	.init = stay_on_this_cpu,
	.test_cases = program_refused_cases,
};
kunit_test_suite(program_refused_suite);
