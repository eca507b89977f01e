// SPDX-License-Identifier: GPL-2.0-only
/* Functions, probes and programs whose calls cannot be followed, and callers who may not have them followed. */
#include <kunit/test.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/string.h>

#include "return_fixtures.h"
#include "ring_read.h"
#include "source/returns/returns.h"
#include "source/returns/refused.h"
#include "targets.h"

static void functions_that_are_refused(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0);
	const int references = module_refcount(THIS_MODULE);

	KUNIT_EXPECT_EQ(test, session_add(test, session, make_return_probe(test, kthread_complete_and_exit, 2, 0, 0, 0)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), references);
	/* Its entry can be traced. */
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)kthread_complete_and_exit, 2)), 0);
}

static void their_list_is_sorted(struct kunit *test)
{
#define NAME(function, why)	#function,
	static const char *const names[] = { ARGTRACE_RETURN_REFUSED(NAME) };
	u32 i;

	for (i = 1; i < ARRAY_SIZE(names); i++)
		KUNIT_EXPECT_LT_MSG(test, strcmp(names[i - 1], names[i]), 0, "%s", names[i]);
}

static void probes_that_are_refused(struct kunit *test)
{
	struct argtrace_session *session = make_session(test, "", 0), *named = make_session(test, "", ARGTRACE_FORMAT_NAMED);
	struct made_probe *probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, 8, 0);

	KUNIT_EXPECT_EQ(test, session_add(test, named, probe), -EINVAL);
	probe->head.flags = 0;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a value without RETURN");
	probe->head.flags = ARGTRACE_PROBE_WORDS(1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "words without RETURN");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(ARGTRACE_RETURN_WORDS_MAX + 1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "too many words");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | ARGTRACE_PROBE_REMOVED;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0) | 1u << 16;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->head.flags = ARGTRACE_PROBE_RETURN;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "an unknown number of words");
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0);
	probe->args[0].loc = ARGTRACE_LOC_RETURN;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "two values");
	probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_BYTES, 17, 0);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "too large");
	probe->args[1].size = 16;
	probe->args[1].index = 1;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	probe->args[1].index = 0;
	probe->args[1].offset = 8;
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), -EINVAL);
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	probe->args[1].offset = 0;
	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(ARGTRACE_RETURN_WORDS_MAX);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), 0);
	/* As an entry it would be another probe at the same address. */
	KUNIT_EXPECT_EQ(test, session_add(test, session, make_probe(test, (unsigned long)target_value, 1)), -EEXIST);
}

static bool may_not(void)
{
	return false;
}

static void who_may_not_follow(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 4096, .rules_of = argtrace_plan_rules_of, .may_follow = may_not };
	const struct made_probe *probe = make_return_probe(test, target_value, 1, ARGTRACE_TYPE_U64, 8, 0);
	u64 length = probe->head.size;

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make_plan_from(test, probe, &length, &format)), -EPERM);
}

static void programs_that_are_refused(struct kunit *test)
{
	struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_RETURN, .index = 1, .mask = ALL, ACCEPT_IF(0, 1) },
		{ .source = ARGTRACE_SOURCE_DURATION, .mask = ALL, ACCEPT_IF(0, 1) },
	};
	struct argtrace_session *session = make_session(test, "", 0);
	struct made_probe *probe = make_return_probe(test, target_value, 3, ARGTRACE_TYPE_U64, 8, 0);
	struct made_probe *other = make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
	struct made_probe *plain = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_insn late = { .source = ARGTRACE_SOURCE_RETURN, .mask = ALL, OUT(8) };
	struct argtrace_program *head = (void *)probe->program;

	insns[0].then = 1;
	set_filters(probe, insns, 2, 2, 0);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "what is not known at entry");
	set_filters(probe, insns, 2, 0, 1);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a jump out of the filter");
	head->nr_return = 3;
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "more than there are");
	insns[0].index = 2;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a third register");
	insns[0].index = 1;
	insns[1].index = 1;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "another duration");
	KUNIT_EXPECT_EQ(test, session->catalog.nr_ids, 0);
	insns[1].index = 0;
	insns[0].flags = ARGTRACE_INSN_RETURN;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, probe), -EINVAL, "a flag of outputs");
	insns[0].flags = 0;
	set_filters(probe, insns, 2, 0, 2);
	KUNIT_EXPECT_EQ(test, session_add(test, session, probe), 0);
	add_output(other, ARGTRACE_TYPE_U64, 8);
	set_program(other, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, other), -EINVAL, "what the function returns, at entry");
	late.flags = ARGTRACE_INSN_RETURN;
	set_program(other, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ(test, session_add(test, session, other), 0);
	late.source = ARGTRACE_SOURCE_REG;
	add_output(plain, ARGTRACE_TYPE_U64, 8);
	set_program(plain, &late, 1, 0, NULL);
	KUNIT_EXPECT_EQ_MSG(test, session_add(test, session, plain), -EINVAL, "a return that is not followed");
}

static struct kunit_case return_refused_cases[] = {
	KUNIT_CASE(programs_that_are_refused),
	KUNIT_CASE(functions_that_are_refused),
	KUNIT_CASE(their_list_is_sorted),
	KUNIT_CASE(probes_that_are_refused),
	KUNIT_CASE(who_may_not_follow),
	{ }
};

static struct kunit_suite return_refused_suite = {
	.name = "argtrace_return_refused",
	.init = stay_on_this_cpu,
	.test_cases = return_refused_cases,
};
kunit_test_suite(return_refused_suite);
