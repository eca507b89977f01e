// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program says whether it reads kernel or user memory, and the address has no say in it: user space may have chosen it. What is
 * searched for a secret of the kernel's is all that user space can map.
 */
#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "program_fixtures.h"
#include "ring_read.h"
#include "targets.h"

#define SECRET		"the kernel's"
#define USER_TEXT	"the program's"

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

KUNIT_DEFINE_ACTION_WRAPPER(free_secret, vfree, const void *);

/* Kernel memory that is nobody else's. */
static char *make_secret(struct kunit *test)
{
	char *secret = vmalloc(PAGE_SIZE);

	KUNIT_ASSERT_NOT_NULL(test, secret);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_secret, secret), 0);
	memset(secret, 0, PAGE_SIZE);
	strscpy(secret, SECRET, PAGE_SIZE);
	return secret;
}

/* User memory that begins with these bytes, and has nothing else that is mapped behind its page. */
static u64 make_user(struct kunit *test, const void *bytes, u32 size)
{
	const unsigned long user = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, user, 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, bytes, size), 0);
	return user;
}

static bool is_in_ring(struct argtrace_session *session, const char *text)
{
	const struct argtrace_ring *ring = ring_of(session);
	const u8 *at = (const u8 *)ring->control, *end = ring->packets + ring->ring_mask + 1;
	const size_t length = strlen(text);

	for (; at + length <= end; at++) {
		if (!memcmp(at, text, length))
			return true;
	}
	return false;
}

/* Neither is anything at such an address of user space's, nor may it be read as one. */
static u32 no_user_addresses(struct kunit *test, u64 *addresses)
{
	const u64 none[] = {
		(u64)make_secret(test), (u64)test /* of the slab allocator */, (u64)make_secret, 0xffffffffff600000 /* vsyscall */,
		0, 0x1000, 0x7ffffffff000, 0x0000800000000000, 0x8000000000000000, 0xdead000000000100, 0xf000000000000000, -1ull, -8ull,
	};

	memcpy(addresses, none, sizeof(none));
	return ARRAY_SIZE(none);
}

#define ADDRESSES	13

/* A number behind a pointer to user memory, read by each way that a value may take. */
static void numbers(struct kunit *test)
{
	const u64 number = 0x1122334455667788, user = make_user(test, &number, sizeof(number));
	u64 addresses[ADDRESSES];
	const u32 nr_none = no_user_addresses(test, addresses);
	u32 way, i;

	for (way = 0; way < 4; way++) {
		/* Not quick: shifted. */
		const struct argtrace_insn of_user = { ARGUMENT(0), OUT(8), .loads = 1, .width = 8, .flags = ARGTRACE_INSN_USER(0),
						       .shl = way & 1 };
		const struct argtrace_insn of_kernel = { ARGUMENT(0), OUT(8), .loads = 1, .width = 8, .shl = way & 1 };
		const bool is_user = way & 2;
		struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
		struct { u64 caller, unreadable, value; } __packed got;
		struct argtrace_session *session;
		static struct seen seen[ADDRESSES + 2];

		add_output(probe, ARGTRACE_TYPE_U64, 8);
		set_program(probe, is_user ? &of_user : &of_kernel, 1, 0, NULL);
		session = trace_with(test, probe);
		target_three(user, 2, 3);
		target_three((u64)&number, 2, 3);
		for (i = 0; is_user && i < nr_none; i++)
			target_three(addresses[i], 2, 3);
		KUNIT_ASSERT_EQ(test, read_records(test, session, seen, ARRAY_SIZE(seen)), 2 + (is_user ? nr_none : 0));
		for (i = 0; i < 2 + (is_user ? nr_none : 0); i++) {
			const bool there = i == (is_user ? 0 : 1);

			memcpy(&got, seen[i].data, sizeof(got));
			KUNIT_EXPECT_EQ_MSG(test, got.unreadable, there ? 0 : 1, "way %u, call %u", way, i);
			KUNIT_EXPECT_EQ_MSG(test, got.value, there ? number << (way & 1) : 0, "way %u, call %u", way, i);
		}
		KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1 + (is_user ? nr_none : 0));
		session_remove_all(session);
	}
}

/* What is read from user memory may point anywhere, and leads to user memory alone. */
static void pointers_in_user_memory(struct kunit *test)
{
	char *secret = make_secret(test);
	const u64 words[] = { (u64)secret, 0, 42 };
	const u64 user = make_user(test, words, sizeof(words)), inner = user + 16;
	const struct argtrace_insn insn = { ARGUMENT(0), OUT(8), .loads = 2, .width = 8,
					    .flags = ARGTRACE_INSN_USER(0) | ARGTRACE_INSN_USER(1) };
	const struct argtrace_insn of_kernel = { ARGUMENT(0), OUT(8), .loads = 2, .width = 8, .flags = ARGTRACE_INSN_USER(1) };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct made_probe *other = make_probe(test, (unsigned long)target_six, 0);
	struct { u64 caller, unreadable, value; } __packed got;
	struct argtrace_session *session;
	struct seen seen[3];

	add_output(probe, ARGTRACE_TYPE_U64, 8);
	set_program(probe, &insn, 1, 0, NULL);
	add_output(other, ARGTRACE_TYPE_U64, 8);
	set_program(other, &of_kernel, 1, 0, NULL);
	session = trace_with(test, probe);
	KUNIT_ASSERT_EQ(test, session_add(test, session, other), 0);

	target_three(user, 2, 3);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, &inner, sizeof(inner)), 0);
	target_three(user, 2, 3);
	target_six((u64)&inner, 2, 3, 4, 5, 6);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 3), 3);
	memcpy(&got, seen[0].data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.unreadable, 1);
	KUNIT_EXPECT_EQ(test, got.value, 0);
	memcpy(&got, seen[1].data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.unreadable, 0);
	KUNIT_EXPECT_EQ(test, got.value, 42);
	memcpy(&got, seen[2].data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.unreadable, 0);
	KUNIT_EXPECT_EQ(test, got.value, 42);
	KUNIT_EXPECT_FALSE(test, is_in_ring(session, SECRET));
}

static const u8 data_actions[] = { ARGTRACE_DO_STR, ARGTRACE_DO_MEM, ARGTRACE_DO_BUF };

/* The text, or 16 bytes, at the first argument; with a number before it in the second way. */
static struct made_probe *data_probe(struct kunit *test, u8 action, u8 flags, u32 way)
{
	const struct argtrace_insn number = { ARGUMENT(1), OUT(1) };
	const struct argtrace_insn length = { ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 3 };
	const struct argtrace_insn data = { ARGUMENT(0), .action = action, .arg = 16, .base = action == ARGTRACE_DO_BUF ? 3 : 0,
					    .flags = flags };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_insn insns[3];
	u32 count = 0;

	if (way & 1) {
		insns[count++] = number;
		add_output(probe, ARGTRACE_TYPE_U8, 1);
	}
	if (action == ARGTRACE_DO_BUF)
		insns[count++] = length;
	insns[count++] = data;
	add_output(probe, action == ARGTRACE_DO_STR ? ARGTRACE_TYPE_STR : ARGTRACE_TYPE_BYTES, 16);
	set_program(probe, insns, count, 0, NULL);
	return probe;
}

/* Text and bytes, which have ways of their own. */
static void text_and_bytes(struct kunit *test)
{
	const u64 user = make_user(test, USER_TEXT "...", sizeof(USER_TEXT "..."));
	u64 addresses[ADDRESSES];
	const u32 nr_none = no_user_addresses(test, addresses);
	u32 action, way, i;

	for (action = 0; action < ARRAY_SIZE(data_actions); action++) {
		for (way = 0; way < 4; way++) {
			const bool is_user = way & 2;
			struct argtrace_session *session =
				trace_with(test, data_probe(test, data_actions[action], is_user ? ARGTRACE_INSN_USER_DATA : 0, way));

			/* The slot of BUF has the second argument: 16 bytes. */
			target_three(is_user ? addresses[0] : user, 16, 3);
			for (i = 1; is_user && i < nr_none; i++)
				target_three(addresses[i], 16, 3);
			KUNIT_EXPECT_EQ_MSG(test, counts_of(session, 1).faults, is_user ? nr_none : 1, "action %u, way %u",
					    data_actions[action], way);
			KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, is_user ? nr_none : 1);
			KUNIT_EXPECT_FALSE(test, is_in_ring(session, SECRET));
			KUNIT_EXPECT_FALSE(test, is_in_ring(session, USER_TEXT));
			target_three(is_user ? user : addresses[0], 16, 3);
			KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, is_user ? nr_none : 1);
			KUNIT_EXPECT_TRUE(test, is_in_ring(session, is_user ? USER_TEXT : SECRET));
			session_remove_all(session);
		}
	}
}

/* A condition on text tells as much as a record does. */
static void conditions_on_text(struct kunit *test)
{
	static const char *const literals[] = {
		[ARGTRACE_MATCH_WHOLE] = SECRET, [ARGTRACE_MATCH_PREFIX] = "the", [ARGTRACE_MATCH_SUFFIX] = "'s",
		[ARGTRACE_MATCH_CONTAINS] = "e", [ARGTRACE_MATCH_GLOB] = "?he*",
	};
	char *secret = make_secret(test);
	const u64 user = make_user(test, SECRET, sizeof(SECRET));
	u32 how, is_user;

	for (how = 0; how < ARRAY_SIZE(literals); how++) {
		for (is_user = 0; is_user < 2; is_user++) {
			struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
			struct argtrace_insn insn = {
				ARGUMENT(0), .action = ARGTRACE_DO_TEXT, .arg = 64, .then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
				.span = strlen(literals[how]) | (u64)how << 32, .flags = is_user ? ARGTRACE_INSN_USER_DATA : 0,
			};
			struct argtrace_session *session;

			set_program(probe, &insn, 1, 1, literals[how]);
			session = trace_with(test, probe);
			target_three(is_user ? (u64)secret : user, 2, 3);
			KUNIT_EXPECT_EQ_MSG(test, counts_of(session, 1).faults, 1, "match %u", how);
			KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
			target_three(is_user ? user : (u64)secret, 2, 3);
			KUNIT_EXPECT_EQ_MSG(test, counts_of(session, 1).records, 1, "match %u", how);
			KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
			session_remove_all(session);
		}
	}
}

/* A length that is negative as its type says is none, and nothing is read; that of an unsigned type is a great one. */
static void negative_lengths(struct kunit *test)
{
	static const u64 lengths[] = { 0, 3, 100, 1ull << 63, -1ull, -14ull };
	char *secret = make_secret(test);
	u32 is_signed, i;

	for (is_signed = 0; is_signed < 2; is_signed++) {
		const struct argtrace_insn insns[] = {
			{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 3 },
			{ ARGUMENT(0), .action = ARGTRACE_DO_BUF, .arg = 16, .base = 3, .other = is_signed ? ARGTRACE_BUF_SIGNED : 0 },
		};
		struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
		struct { u64 caller, unreadable; u16 length; } __packed got;
		static struct seen seen[ARRAY_SIZE(lengths)];
		struct argtrace_session *session;

		add_output(probe, ARGTRACE_TYPE_BYTES, 16);
		set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
		session = trace_with(test, probe);
		for (i = 0; i < ARRAY_SIZE(lengths); i++)
			target_three((u64)secret, lengths[i], 3);
		KUNIT_ASSERT_EQ(test, read_records(test, session, seen, ARRAY_SIZE(seen)), ARRAY_SIZE(lengths));
		for (i = 0; i < ARRAY_SIZE(lengths); i++) {
			const bool negative = is_signed && (s64)lengths[i] < 0;

			memcpy(&got, seen[i].data, sizeof(got));
			KUNIT_EXPECT_EQ(test, got.unreadable, 0);
			KUNIT_EXPECT_EQ_MSG(test, got.length & ~ARGTRACE_TEXT_CUT, negative ? 0 : min(lengths[i], 16ull), "%llx", lengths[i]);
			KUNIT_EXPECT_EQ_MSG(test, !!(got.length & ARGTRACE_TEXT_CUT), !negative && lengths[i] > 16, "%llx", lengths[i]);
		}
		session_remove_all(session);
	}
}

static struct kunit_case space_cases[] = {
	KUNIT_CASE_PARAM(numbers, clock_gen_params),
	KUNIT_CASE_PARAM(pointers_in_user_memory, clock_gen_params),
	KUNIT_CASE_PARAM(text_and_bytes, clock_gen_params),
	KUNIT_CASE_PARAM(conditions_on_text, clock_gen_params),
	KUNIT_CASE_PARAM(negative_lengths, clock_gen_params),
	{ }
};

static struct kunit_suite space_suite = {
	.name = "argtrace_space",
	.init = stay_on_this_cpu,
	.test_cases = space_cases,
};
kunit_test_suite(space_suite);
