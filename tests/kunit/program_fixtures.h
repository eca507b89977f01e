/* SPDX-License-Identifier: GPL-2.0-only */
/* Instructions of programs, for the suites of them. */
#ifndef ARGTRACE_KUNIT_PROGRAM_FIXTURES_H
#define ARGTRACE_KUNIT_PROGRAM_FIXTURES_H

#include "fixtures.h"

#define ALL	(~0ull)

/* The value of argument `n`, whole. */
#define ARGUMENT(n)	.source = ARGTRACE_SOURCE_REG, .index = (n), .mask = ALL
#define ACCEPT_IF(from, to) \
	.action = ARGTRACE_DO_TEST, .base = (from), .span = (to) - (u64)(from), \
	.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT
#define OUT(bytes)	.action = ARGTRACE_DO_OUT, .arg = (bytes)

static inline struct argtrace_program *program_of(struct made_probe *probe)
{
	return (void *)probe->program;
}

/* A session that has the probe, with the clock that the case's parameter is. With the TSC, programs have ways of their own. */
static inline struct argtrace_session *trace_with(struct kunit *test, struct made_probe *probe)
{
	struct argtrace_session *session = make_session_like(test, attr_of_clock(test));

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

#endif
