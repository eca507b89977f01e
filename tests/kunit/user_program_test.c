// SPDX-License-Identifier: GPL-2.0-only
/* Programs of probes in user code: they read no memory of the kernel's where the traced process says. */
#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>

#include "arch/followed.h"
#include "arch/regs.h"
#include "machine.h"
#include "probe/user_files.h"
#include "program_fixtures.h"
#include "source/source.h"
#include "targets.h"

#define USER_DATA	.flags = ARGTRACE_INSN_USER_DATA
#define LOAD(flag)	.loads = 1, .width = 8, .flags = (flag)
#define TEXT		.action = ARGTRACE_DO_STR, .arg = 16
#define SLOT(n)		.source = ARGTRACE_SOURCE_SLOT, .index = (n), .mask = ALL
#define SET(n)		.action = ARGTRACE_DO_SET, .arg = (n)

struct user_program {
	const char *name;
	bool good;
	struct argtrace_insn insns[3];
	bool returns;			/* its calls are recorded when they return */
	bool goroutines;		/* and the function is one of Go */
};

#define RESULT(n, ...)	.source = ARGTRACE_SOURCE_RESULT, .index = (n), .mask = ALL, .flags = ARGTRACE_INSN_RETURN | (__VA_ARGS__)
#define OF_GO		.returns = true, .goroutines = true
#define RETURNED(...)	.source = ARGTRACE_SOURCE_RETURN, .mask = ALL, .flags = ARGTRACE_INSN_RETURN | (__VA_ARGS__)

#define VECTOR(n)	.source = ARGTRACE_SOURCE_VECTOR, .index = (n), .mask = ALL

static const struct user_program user_programs[] = {
	{ "a number", true, { { ARGUMENT(0), OUT(8) } } },
	{ "text of the program's", true, { { ARGUMENT(0), TEXT, USER_DATA } } },
	{ "text of the kernel's", false, { { ARGUMENT(0), TEXT } } },
	{ "a load from the program", true, { { ARGUMENT(0), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "a load from the kernel", false, { { ARGUMENT(0), LOAD(0), OUT(8) } } },
	{ "a load from the kernel, where the program's memory says", false,
	  { { ARGUMENT(0), .loads = 2, .width = 8, .flags = ARGTRACE_INSN_USER(0), OUT(8) } } },
	{ "loads from the program alone", true,
	  { { ARGUMENT(0), .loads = 2, .width = 8, .flags = ARGTRACE_INSN_USER(0) | ARGTRACE_INSN_USER(1), OUT(8) } } },
	{ "text of the kernel's, where the program's memory says", false,
	  { { ARGUMENT(0), .loads = 1, .width = 8, .flags = ARGTRACE_INSN_USER(0), TEXT } } },
	{ "a register that passes no argument", true, { { ARGUMENT(ARGTRACE_USER_REG_COUNT - 1), OUT(8) } } },
	{ "a register that there is not", false, { { ARGUMENT(ARGTRACE_USER_REG_COUNT), OUT(8) } } },
	{ "a load from the program by such a register", true,
	  { { ARGUMENT(MACHINE_NO_ARGUMENT), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "a load from the kernel by such a register", false, { { ARGUMENT(MACHINE_NO_ARGUMENT_EITHER), LOAD(0), OUT(8) } } },
	{ "a sum of such registers, as an address of the kernel's", false,
	  { { ARGUMENT(MACHINE_NO_ARGUMENT), SET(3) },
	    { ARGUMENT(MACHINE_NO_ARGUMENT_EITHER), .action = ARGTRACE_DO_ALU, .then = ARGTRACE_ALU_ADD, .arg = 3, .other = 8 },
	    { SLOT(3), LOAD(0), OUT(8) } } },
	{ "a sum of such registers, as the program's", true,
	  { { ARGUMENT(MACHINE_NO_ARGUMENT), SET(3) },
	    { ARGUMENT(MACHINE_NO_ARGUMENT_EITHER), .action = ARGTRACE_DO_ALU, .then = ARGTRACE_ALU_ADD, .arg = 3, .other = 8 },
	    { SLOT(3), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "the program's stack", true, { { .source = ARGTRACE_SOURCE_STACK, .mask = ALL, LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "the stack as the kernel's", false, { { .source = ARGTRACE_SOURCE_STACK, .mask = ALL, LOAD(0), OUT(8) } } },
	{ "the task", true, { { .source = ARGTRACE_SOURCE_TASK, .mask = ALL, LOAD(0), OUT(8) } } },
	{ "a number by way of a slot, as an address of the kernel's", false,
	  { { ARGUMENT(0), SET(3) }, { SLOT(3), LOAD(0), OUT(8) } } },
	{ "a number by way of a slot, as the program's", true,
	  { { ARGUMENT(0), SET(3) }, { SLOT(3), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "a constant that a number is added to", false,
	  { { .source = ARGTRACE_SOURCE_CONST, .mask = ALL, SET(3) },
	    { ARGUMENT(0), .action = ARGTRACE_DO_ALU, .then = ARGTRACE_ALU_ADD, .arg = 3, .other = 8 },
	    { SLOT(3), LOAD(0), OUT(8) } } },
	{ "what is returned", true, { { RETURNED(0), OUT(8) } }, .returns = true },
	{ "text of the program's, as returned", true,
	  { { RETURNED(ARGTRACE_INSN_USER_DATA), TEXT } }, .returns = true },
	{ "text of the kernel's, as returned", false, { { RETURNED(0), TEXT } }, .returns = true },
	{ "a load from the kernel, as returned", false,
	  { { RETURNED(0), .loads = 1, .width = 8, OUT(8) } }, .returns = true },
	{ "a floating-point number", true, { { VECTOR(MACHINE_VECTORS - 1), OUT(8) } } },
	{ "a register for such numbers that there is not", false, { { VECTOR(MACHINE_VECTORS), OUT(8) } } },
	{ "the upper half of a register for such numbers", true, { { VECTOR(ARGTRACE_VECTOR_UPPER + MACHINE_VECTORS - 1), OUT(8) } } },
	{ "the upper half of one that there is not", false, { { VECTOR(ARGTRACE_VECTOR_UPPER + MACHINE_VECTORS), OUT(8) } } },
	{ "what lies between the halves", false, { { VECTOR(ARGTRACE_VECTOR_UPPER - 1), OUT(8) } } },
	{ "the x87 unit when a function is entered", false, { { VECTOR(ARGTRACE_VECTOR_X87), OUT(8) } } },
	{ "a floating-point number as an address of the kernel's", false, { { VECTOR(0), LOAD(0), OUT(8) } } },
	{ "a floating-point number as an address of the program's", true, { { VECTOR(0), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } } },
	{ "a floating-point number of a call that is followed", true, { { VECTOR(0), OUT(8) } }, .returns = true },
	{ "the stack that a call is entered with", true, { { .source = ARGTRACE_SOURCE_STACK, .mask = ALL, OUT(8) } }, .returns = true },
	{ "the same when it has returned", false, { { .source = ARGTRACE_SOURCE_STACK, .mask = ALL, .flags = ARGTRACE_INSN_RETURN, OUT(8) } }, .returns = true },
	{ "an argument that is gone at return", false, { { VECTOR(0), .flags = ARGTRACE_INSN_RETURN, OUT(8) } }, .returns = true },
	{ "a floating-point number that is returned", true,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + 3, OUT(8) } }, .returns = true },
	{ "a fifth one", false, { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + 4, OUT(8) } }, .returns = true },
	{ "the upper half of a vector that is returned", true,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_UPPER + 3, OUT(8) } }, .returns = true },
	{ "the upper half of a fifth one", false,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_UPPER + 4, OUT(8) } }, .returns = true },
	{ "what the x87 unit returns", MACHINE_HAS_X87,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_X87 + 3, OUT(8) } }, .returns = true },
	{ "a third register of the x87 unit", false,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_X87 + 4, OUT(8) } }, .returns = true },
	{ "the upper half of what Go returns", false,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_UPPER, OUT(8) } }, OF_GO },
	{ "what Go would return in the x87 unit", false,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + ARGTRACE_VECTOR_X87, OUT(8) } }, OF_GO },
	{ "the text at a floating-point number that is returned", false,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR, TEXT } }, .returns = true },
	{ "what a function of Go returns", true, { { RESULT(MACHINE_GO_ONLY, 0), OUT(8) } }, OF_GO },
	{ "text of the program's, as Go returns it", true, { { RESULT(MACHINE_GO_ONLY, ARGTRACE_INSN_USER_DATA), TEXT } }, OF_GO },
	{ "text of the kernel's, as Go returns it", false, { { RESULT(MACHINE_GO_ONLY, 0), TEXT } }, OF_GO },
	{ "a load from the kernel, as Go returns it", false,
	  { { RESULT(MACHINE_GO_ONLY, 0), .loads = 1, .width = 8, OUT(8) } }, OF_GO },
	{ "what Go returns in a register that it returns nothing in", false, { { RESULT(MACHINE_NO_RESULT, 0), OUT(8) } }, OF_GO },
	{ "what Go returns in another such register", false, { { RESULT(MACHINE_NO_RESULT_EITHER, 0), OUT(8) } }, OF_GO },
	{ "what Go returns on the stack", true, { { RESULT(MACHINE_USER_SP, ARGTRACE_INSN_USER(0)), .loads = 1, .width = 8, OUT(8) } }, OF_GO },
	{ "the stack that Go returns it on, as the kernel's", false, { { RESULT(MACHINE_USER_SP, 0), .loads = 1, .width = 8, OUT(8) } }, OF_GO },
	{ "what Go returns in a register that there is not", false, { { RESULT(255, 0), OUT(8) } }, OF_GO },
	{ "what Go returns, at entry", false,
	  { { .source = ARGTRACE_SOURCE_RESULT, .index = MACHINE_GO_ONLY, .mask = ALL, OUT(8) } }, OF_GO },
	{ "what Go returns, of a function of C", false, { { RESULT(MACHINE_GO_ONLY, 0), OUT(8) } }, .returns = true },
	{ "what C returns, of a function of Go", false, { { RETURNED(0), OUT(8) } }, OF_GO },
	{ "a floating-point number that Go returns", true,
	  { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + 15, OUT(8) } }, OF_GO },
	{ "a seventeenth one", false, { { RETURNED(0), .index = ARGTRACE_RETURN_VECTOR + 16, OUT(8) } }, OF_GO },
	{ "a register of Go's, kept until it returns", true, { { ARGUMENT(MACHINE_GO_ONLY), OUT(8) } }, OF_GO },
	{ "the same of C", false, { { ARGUMENT(MACHINE_GO_ONLY), OUT(8) } }, .returns = true },
	{ "the stack pointer of a call that is kept", false, { { ARGUMENT(MACHINE_USER_SP), OUT(8) } }, OF_GO },
	{ "the instruction of a call that is kept", false, { { ARGUMENT(MACHINE_USER_IP), OUT(8) } }, OF_GO },
	{ "a member of the goroutine", true, { { ARGUMENT(MACHINE_GOROUTINE), LOAD(ARGTRACE_INSN_USER(0)), OUT(8) } }, OF_GO },
	{ "the file of a descriptor", true,
	  { { ARGUMENT(0), .action = ARGTRACE_DO_FILE, .arg = 3 }, { SLOT(3), LOAD(0), OUT(8) } } },
};

static void describe_program(const struct user_program *program, char *text)
{
	strscpy(text, program->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(user, user_programs, describe_program);

static struct made_probe *make_user_probe(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, ARGTRACE_USER_PLACE(1, 0x1000), 1);

	probe->head.kind = ARGTRACE_KIND_USER;
	return probe;
}

static void reads(struct kunit *test)
{
	const struct user_program *program = test->param_value;
	const struct argtrace_plan_format format = { .max_record = 4096, .rules_of = argtrace_plan_rules_of };
	struct made_probe *probe = make_user_probe(test);
	struct argtrace_plan *plan;
	u32 nr_insns = 0;
	u64 length;

	while (nr_insns < ARRAY_SIZE(program->insns) && program->insns[nr_insns].mask)
		nr_insns++;
	if (program->insns[nr_insns - 1].action == ARGTRACE_DO_STR)
		add_output(probe, ARGTRACE_TYPE_STR, 16);
	else
		add_output(probe, ARGTRACE_TYPE_U64, 8);
	set_program(probe, program->insns, nr_insns, 0, NULL);
	if (program->returns)
		probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
	if (program->goroutines) {
		/* The place that it returns by is among the zeros behind the probe. */
		probe->head.flags |= ARGTRACE_PROBE_RETURNS(1) | ARGTRACE_PROBE_GOROUTINES;
		probe->head.size += 8;
	}
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	if (program->good)
		KUNIT_EXPECT_NOT_ERR_OR_NULL(test, plan);
	else
		KUNIT_EXPECT_PTR_EQ(test, plan, ERR_PTR(-EINVAL));
	argtrace_plan_free(plan);
}

/* What they cannot be, and who may not add them. */
static void user_probes_refused(struct kunit *test)
{
	const struct argtrace_plan_format registers_only = { .max_record = 4096, .registers_only = true,
							      .rules_of = argtrace_plan_rules_of };
	const struct argtrace_plan_format format = { .max_record = 4096, .rules_of = argtrace_plan_rules_of };
	/* Words on the stack, places that are not there, places and loops of what is not followed, and what kernel functions have. */
	static const u32 bad_flags[] = {
		ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(1),
		ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_RETURNS(1),
		ARGTRACE_PROBE_RETURNS(1),
		ARGTRACE_PROBE_LOOPS,
		ARGTRACE_PROBE_GOROUTINES,
		ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_GOROUTINES,
		ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_BY_KRETPROBE,
		ARGTRACE_PROBE_NEVER_RETURNS,
	};
	static const u32 good_flags[] = { 0, ARGTRACE_PROBE_NEVER_RETURNS,
					  ARGTRACE_PROBE_NEVER_RETURNS | ARGTRACE_PROBE_GOROUTINES };
	static const u32 user_flags[] = { ARGTRACE_PROBE_LOOPS, ARGTRACE_PROBE_NEVER_RETURNS };
	struct made_probe *probe = make_user_probe(test);
	u64 length = probe->head.size;
	struct argtrace_plan *plan;
	u32 i;

	KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &registers_only), ERR_PTR(-EPERM));
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, plan);
	argtrace_plan_free(plan);
	/* It takes no more to follow their returns: nobody is asked. */
	for (i = 0; i < ARRAY_SIZE(good_flags); i++) {
		length = probe->head.size;
		probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | good_flags[i];
		plan = make_plan_from(test, probe, &length, &format);
		KUNIT_EXPECT_NOT_ERR_OR_NULL_MSG(test, plan, "flags %#x", good_flags[i]);
		argtrace_plan_free(plan);
	}
	for (i = 0; i < ARRAY_SIZE(bad_flags); i++) {
		length = probe->head.size;
		probe->head.flags = bad_flags[i];
		KUNIT_EXPECT_PTR_EQ_MSG(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-EINVAL),
					"flags %#x", bad_flags[i]);
	}
	probe->head.kind = ARGTRACE_KIND_ENTRY;
	for (i = 0; i < ARRAY_SIZE(user_flags); i++) {
		length = probe->head.size;
		probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | user_flags[i];
		KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-EINVAL));
	}
	probe = make_user_probe(test);
	probe->args[0] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_STACK, .type = ARGTRACE_TYPE_U64, .size = 8, .offset = 8,
		.name = probe->args[0].name, .type_name = probe->args[0].type_name,
	};
	length = probe->head.size;
	KUNIT_EXPECT_PTR_EQ(test, make_plan_from(test, probe, &length, &format), ERR_PTR(-EINVAL));
}

/* Each index leads to the register that the ABI header calls it. */
static void user_registers(struct kunit *test)
{
	struct pt_regs full;
	const struct argtrace_regs *regs = argtrace_regs_of_full(&full);
	unsigned int i;

	machine_number_user_registers(&full);
	for (i = 0; i < ARGTRACE_USER_REG_COUNT; i++)
		KUNIT_EXPECT_EQ(test, argtrace_regs_argument(regs, i), (unsigned long)i);
}

/* What a function of Go returns is what the program finds in the same registers, and nothing else. */
static void results_have_places(struct kunit *test)
{
	struct pt_regs full;
	struct {
		u8 lower[ARGTRACE_FRAME_LOWER];
		struct argtrace_user_frame frame;
	} *call = kunit_kzalloc(test, sizeof(*call), GFP_KERNEL);
	const struct argtrace_regs *regs = argtrace_frame_regs(&call->frame.frame);
	unsigned int index, number, count = 0;

	KUNIT_ASSERT_NOT_NULL(test, call);
	machine_number_results(&full);
	argtrace_user_frame_keep(&call->frame, &full);
	argtrace_user_frame_take_results(&call->frame, &full);
	for (index = 0; index < 300; index++) {
		number = argtrace_result_number(index);
		if (number >= ARGTRACE_RESULTS)
			continue;
		KUNIT_EXPECT_EQ(test, *(const u64 *)((const u8 *)regs + argtrace_result_place(number)), (u64)100 + index);
		count++;
	}
	KUNIT_EXPECT_EQ(test, count, (unsigned int)ARGTRACE_RESULTS);
	/* These are not among those that argtrace_frame_make() stores. */
	for (index = ARGTRACE_REG_COUNT; index < ARGTRACE_USER_REG_COUNT; index++)
		if (argtrace_frame_has_register(index))
			KUNIT_EXPECT_EQ(test, *(const unsigned long *)((const u8 *)regs + argtrace_kept_place(index)),
					argtrace_regs_argument(argtrace_regs_of_full(&full), index));
	KUNIT_EXPECT_FALSE(test, argtrace_frame_has_register(MACHINE_USER_SP));
	KUNIT_EXPECT_FALSE(test, argtrace_frame_has_register(MACHINE_USER_IP));
	KUNIT_EXPECT_FALSE(test, argtrace_frame_has_register(ARGTRACE_USER_REG_COUNT));
}

/* A file has a number of its own for each semaphore, and each is held on its own. */
static void semaphores_have_numbers(struct kunit *test)
{
	struct argtrace_user_files files = { };
	struct file *file = filp_open("/proc/version", O_RDONLY, 0);
	u32 plain, first, second, again;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_number(&files, file, 0, &plain), 0);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_number(&files, file, 0x1000, &first), 0);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_number(&files, file, 0x1002, &second), 0);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_number(&files, file, 0x1000, &again), 0);
	KUNIT_EXPECT_EQ(test, plain, 1u);
	KUNIT_EXPECT_EQ(test, first, 2u);
	KUNIT_EXPECT_EQ(test, second, 3u);
	KUNIT_EXPECT_EQ(test, again, first);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_semaphore(&files, plain), 0ull);
	KUNIT_EXPECT_EQ(test, argtrace_user_files_semaphore(&files, second), 0x1002ull);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_user_files_inode(&files, first), argtrace_user_files_inode(&files, plain));
	argtrace_user_files_attach(&files, first);
	argtrace_user_files_detach(&files, first);
	argtrace_user_files_release(&files);
	KUNIT_EXPECT_NULL(test, argtrace_user_files_inode(&files, first));
	KUNIT_EXPECT_NOT_NULL(test, argtrace_user_files_inode(&files, second));
	KUNIT_EXPECT_EQ(test, argtrace_user_files_number(&files, file, 0x1000, &again), 0);
	KUNIT_EXPECT_EQ(test, again, first);
	argtrace_user_files_free(&files);
	filp_close(file, NULL);
}

static struct kunit_case user_program_cases[] = {
	KUNIT_CASE_PARAM(reads, user_gen_params),
	KUNIT_CASE(user_probes_refused),
	KUNIT_CASE(user_registers),
	KUNIT_CASE(results_have_places),
	KUNIT_CASE(semaphores_have_numbers),
	{}
};

static struct kunit_suite user_program_suite = {
	.name = "argtrace_user_program",
	.test_cases = user_program_cases,
};
kunit_test_suite(user_program_suite);
