// SPDX-License-Identifier: GPL-2.0-only
/*
 * What user space maps has nothing but what the records say: the whole mapping is searched for what lies beside what is recorded. The
 * records themselves are tested elsewhere.
 */
#include <kunit/test.h>
#include <linux/dcache.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "path_fixtures.h"
#include "program_fixtures.h"
#include "return_fixtures.h"
#include "ring_read.h"
#include "targets.h"

/* Three of these bytes, one after the other, are nowhere else. */
#define CANARY		0xc5
#define CANARIES	0xc5c5c5c5c5c5c5c5ull
#define FIND		3

/* How many times it is in what user space can map of this CPU's ring. */
static u32 found_in(struct argtrace_session *session)
{
	const struct argtrace_ring *ring = ring_of(session);
	const u8 *at = (const u8 *)ring->control, *end = ring->packets + ring->ring_mask + 1;
	u32 run = 0, found = 0;

	for (; at < end; at++) {
		/* Most of it has never been written to. */
		if (IS_ALIGNED((unsigned long)at, 8) && !*(const u64 *)at) {
			run = 0;
			at += 7;
			continue;
		}
		run = *at == CANARY ? run + 1 : 0;
		found += run == FIND;
	}
	return found;
}

static struct argtrace_session_attr attr_of(struct kunit *test, bool flight)
{
	struct argtrace_session_attr attr = *attr_of_clock(test);

	attr.flags = flight ? ARGTRACE_SESSION_FLIGHT : 0;
	return attr;
}

static struct argtrace_session *session_with(struct kunit *test, const struct made_probe *probe, bool flight)
{
	const struct argtrace_session_attr attr = attr_of(test, flight);
	struct argtrace_session *session = make_session_like(test, &attr);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

static void make_narrow(struct made_probe *probe, u32 arg, u32 size)
{
	static const u8 types[] = { [1] = ARGTRACE_TYPE_U8, [2] = ARGTRACE_TYPE_U16, [4] = ARGTRACE_TYPE_U32, [8] = ARGTRACE_TYPE_U64 };

	probe->args[arg].type = types[size];
	probe->args[arg].size = size;
}

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

/* The last argument is narrower than its register, and the register after it is not recorded. */
static void arguments(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 4, 8 };
	u32 nr_args, i, flight;

	for (flight = 0; flight < 2; flight++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			for (nr_args = 1; nr_args <= 5; nr_args++) {
				struct made_probe *probe = make_probe(test, (unsigned long)target_six, nr_args);
				u64 args[6] = { 1, 2, 3, 4, 5, CANARIES };
				struct argtrace_session *session;

				make_narrow(probe, nr_args - 1, sizes[i]);
				session = session_with(test, probe, flight);
				if (sizes[i] < 8)
					args[nr_args - 1] = CANARIES << (sizes[i] * 8);
				args[nr_args] = CANARIES;
				target_six(args[0], args[1], args[2], args[3], args[4], args[5]);
				KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
				KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "%u arguments, the last of %u bytes", nr_args, sizes[i]);
				/* What is recorded is found. */
				args[nr_args - 1] = CANARIES;
				target_six(args[0], args[1], args[2], args[3], args[4], args[5]);
				KUNIT_EXPECT_EQ(test, found_in(session), sizes[i] >= FIND);
				session_remove_all(session);
			}
		}
	}
}

/* The same on the stack, which is read in words as well. */
static void arguments_on_the_stack(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 4 };
	u32 i, flight;

	for (flight = 0; flight < 2; flight++) {
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			const u64 narrow = CANARIES << (sizes[i] * 8);
			struct made_probe *probe = make_probe(test, (unsigned long)target_many, 2);
			struct argtrace_session *session;

			make_narrow(probe, 1, sizes[i]);
			probe->args[1].loc = ARGTRACE_LOC_STACK;
			probe->args[1].index = 0;
			probe->args[1].offset = ARGTRACE_FIRST_STACK_WORD;
			session = session_with(test, probe, flight);
			/* The seventh or the ninth is the first one there. */
			target_many(1, CANARIES, 3, 4, 5, CANARIES, narrow, CANARIES, narrow, CANARIES);
			KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
			KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "%u bytes", sizes[i]);
			session_remove_all(session);
		}
	}
}

/* A narrow value, after an argument of 8 bytes and after a narrow one, and none. */
static void what_functions_return(struct kunit *test)
{
	static const u32 sizes[] = { 0, 1, 2, 4 };
	u32 i, argument, flight;

	for (flight = 0; flight < 2; flight++) {
		for (i = 0; i < ARRAY_SIZE(sizes) * 2; i++) {
			const u32 size = sizes[i / 2];
			struct made_probe *probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, size ? 8 : 0, 0);
			struct argtrace_session *session;

			argument = i % 2 ? 4 : 8;
			make_narrow(probe, 0, argument);
			if (size)
				make_narrow(probe, 1, size);
			session = session_with(test, probe, flight);
			/* The third argument makes up for what the first has in its upper half. */
			KUNIT_EXPECT_EQ(test, call_value(argument == 4 ? CANARIES << 32 : 0, 0,
							 (CANARIES << (size * 8)) - (argument == 4 ? (CANARIES << 32) * 961 : 0)),
					CANARIES << (size * 8));
			KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
			KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "a value of %u bytes after one of %u", size, argument);
			session_remove_all(session);
		}
	}
}

/* A probe of target_three() whose output is the text at its first argument, and a number before it. */
static struct made_probe *text_probe(struct kunit *test, u8 action, u32 limit, u8 flags, bool slow)
{
	struct argtrace_insn insns[] = {
		{ ARGUMENT(1), OUT(1) },
		{ ARGUMENT(0), .action = action, .arg = limit, .flags = flags },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);

	/* Not quick: shifted. */
	insns[0].shl = slow;
	add_output(probe, ARGTRACE_TYPE_U8, 1);
	add_output(probe, action == ARGTRACE_DO_STR ? ARGTRACE_TYPE_STR : ARGTRACE_TYPE_BYTES, limit);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	return probe;
}

/* Records the text at `from` in each way, and expects `expected` canaries. */
static void expect_of_text(struct kunit *test, u8 action, u32 limit, u8 flags, u64 from, u64 faults, const char *what)
{
	u32 way;

	for (way = 0; way < 4; way++) {
		struct argtrace_session *session = session_with(test, text_probe(test, action, limit, flags, way & 1), way & 2);

		target_three(from, 2, 3);
		KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
		KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, faults);
		KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "%s, way %u", what, way);
		session_remove_all(session);
	}
}

KUNIT_DEFINE_ACTION_WRAPPER(free_text, vfree, const void *);

/* What follows the NUL, and what precedes memory that cannot be read. */
static void kernel_text(struct kunit *test)
{
	u8 *page = vmalloc(PAGE_SIZE);
	u32 length;

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_text, page), 0);
	memset(page, CANARY, PAGE_SIZE);
	for (length = 0; length < 20; length++) {
		memset(page, 'x', length);
		page[length] = 0;
		expect_of_text(test, ARGTRACE_DO_STR, 64, 0, (u64)page, 0, "kernel text");
	}
	/* There is nothing behind the page. */
	for (length = 8; length <= 64; length += 28) {
		expect_of_text(test, ARGTRACE_DO_STR, 256, 0, (u64)page + PAGE_SIZE - length, 1, "kernel text that ends");
		expect_of_text(test, ARGTRACE_DO_MEM, 256, 0, (u64)page + PAGE_SIZE - length, 1, "kernel memory that ends");
	}
}

static void user_text(struct kunit *test)
{
	const unsigned long user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
	u8 *bytes = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	u32 length;

	KUNIT_ASSERT_NE(test, user, 0);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	/* The second page has never been touched, and cannot be read with preemption off. */
	for (length = 0; length < 80; length += 7) {
		memset(bytes, CANARY, PAGE_SIZE);
		memset(bytes, 'x', length);
		bytes[length] = 0;
		KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, bytes, PAGE_SIZE), 0);
		expect_of_text(test, ARGTRACE_DO_STR, 256, ARGTRACE_INSN_USER_DATA, user, 0, "user text");
	}
	expect_of_text(test, ARGTRACE_DO_STR, 256, ARGTRACE_INSN_USER_DATA, user + PAGE_SIZE - 100, 1, "user text that ends");
	expect_of_text(test, ARGTRACE_DO_MEM, 256, ARGTRACE_INSN_USER_DATA, user + PAGE_SIZE - 100, 1, "user memory that ends");
}

/* Text that a followed call keeps, where longer text has been kept before. */
static void kept_text(struct kunit *test)
{
	static const struct argtrace_insn insn = { ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 64 };
	u32 length, flight;
	char before[65], text[16];

	memset(before, CANARY, 64);
	before[64] = 0;
	for (length = 0; length < sizeof(text); length++) {
		memset(text, 'x', length);
		text[length] = 0;
		for (flight = 0; flight < 2; flight++) {
			struct made_probe *probe = make_return_probe(test, target_value, 0, ARGTRACE_TYPE_U64, 8, 0);
			struct argtrace_session *session;

			set_filters(probe, &insn, 1, 0, 0);
			add_output(probe, ARGTRACE_TYPE_STR, 64);
			session = session_with(test, probe, flight);
			call_value((u64)before, 2, 3);
			KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
			/* What is recorded is found. */
			KUNIT_EXPECT_EQ(test, found_in(session), 1);
			session_remove_all(session);
			session = session_with(test, probe, flight);
			call_value((u64)text, 2, 3);
			KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
			KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "%u bytes", length);
			session_remove_all(session);
		}
	}
}

/* Names are stored in place, with whatever the memory had before behind them. */
static void names_of_files(struct kunit *test)
{
	static const char *const names[] = { "n", "name", "seventh", "eighteen", "more than eight" };
	struct vfsmount *mnt = make_tmpfs(test);
	u32 i, way;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct dentry *dentry = make_dir(test, mnt->mnt_root, names[i]);
		const u32 length = strlen(names[i]);

		memset((u8 *)dentry->d_name.name + length + 1, CANARY, ALIGN(length + 1, 8) + 8 - length - 1);
		/* Alone, with a number before it, and both by the way that is not quick. */
		for (way = 0; way < 8; way++) {
			const struct argtrace_insn insns[] = {
				{ ARGUMENT(1), OUT(1), .shl = way & 1 },
				{ ARGUMENT(0), .action = ARGTRACE_DO_PATH, .arg = ARGTRACE_PATH_OF_DENTRY },
			};
			struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
			const bool alone = way & 2;
			struct argtrace_session *session;

			if (!alone)
				add_output(probe, ARGTRACE_TYPE_U8, 1);
			add_output(probe, ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX);
			set_program(probe, insns + alone, ARRAY_SIZE(insns) - alone, 0, NULL);
			session = session_with(test, probe, way & 4);
			target_three((u64)dentry, 2, 3);
			KUNIT_ASSERT_EQ(test, read_records(test, session, NULL, 0), 1);
			KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
			KUNIT_EXPECT_EQ_MSG(test, found_in(session), 0, "%s, way %u", names[i], way);
			session_remove_all(session);
		}
	}
}

static struct kunit_case leak_cases[] = {
	KUNIT_CASE_PARAM(arguments, clock_gen_params),
	KUNIT_CASE_PARAM(arguments_on_the_stack, clock_gen_params),
	KUNIT_CASE_PARAM(what_functions_return, clock_gen_params),
	KUNIT_CASE_PARAM(kernel_text, clock_gen_params),
	KUNIT_CASE_PARAM(user_text, clock_gen_params),
	KUNIT_CASE_PARAM(kept_text, clock_gen_params),
	KUNIT_CASE_PARAM(names_of_files, clock_gen_params),
	{ }
};

static struct kunit_suite leak_suite = {
	.name = "argtrace_leak",
	.init = stay_on_this_cpu,
	.test_cases = leak_cases,
};
kunit_test_suite(leak_suite);
