/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls whose return is followed, for the suites of them. */
#ifndef ARGTRACE_KUNIT_RETURN_FIXTURES_H
#define ARGTRACE_KUNIT_RETURN_FIXTURES_H

#include <linux/completion.h>
#include <linux/ftrace.h>

#include "base/fprobe.h"
#include "program_fixtures.h"
#include "ring_read.h"
#include "targets.h"

/* Where the kernel follows the calls: ARGTRACE_PROBE_BY_*. */
#ifndef FOLLOWED_BY
#define FOLLOWED_BY	0
#endif

/* What target_many(1, 2, ..., 10) returns, and how much more with one more as the first argument. */
#define MANY		28231640996005ull
#define MANY_STEP	26439622160671ull

/* A probe of `nr_args` words in registers, and a value of that type and size; size 0: none. */
struct made_probe *make_return_probe_by(struct kunit *test, u32 by, void *function, u32 nr_args, u8 type, u32 size, u32 words);

static inline struct made_probe *make_return_probe(struct kunit *test, void *function, u32 nr_args, u8 type, u32 size, u32 words)
{
	return make_return_probe_by(test, FOLLOWED_BY, function, nr_args, type, size, words);
}

/* For suites: skips their tests where the kernel cannot follow calls in that way. */
static inline int begin_following(struct kunit *test)
{
	if (FOLLOWED_BY == ARGTRACE_PROBE_BY_FPROBE && !ARGTRACE_HAS_FPROBE)
		kunit_skip(test, "this kernel has no fprobes that follow calls for us");
	return stay_on_this_cpu(test);
}

/* A session that has the probe. */
struct argtrace_session *follow_with(struct kunit *test, const struct made_probe *probe, const struct argtrace_session_attr *attr);
struct argtrace_session *follow(struct kunit *test, const struct made_probe *probe, u32 format);

struct argtrace_return_counts return_counts(struct argtrace_session *session, u32 id);
/* The calls of the probe, as its counts add up. */
u64 hits(const struct argtrace_return_counts *counts);

/* Calls target_value(): the caller that records must show. */
u64 call_value(u64 a, u64 b, u64 c);
/* What that returns. */
static inline u64 value_of(u64 a, u64 b, u64 c)
{
	return (a * 31 + b) * 31 + c;
}

/* For target_calls(). By the clock that calls are timed by: msleep() counts jiffies, which lag behind on a machine that is busy. */
u64 sleep_for(void *ms);

/* The callback of another tracer. */
void do_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs);

/* A thread that sleeps in target_calls() until it is told to go on; wait_inside() is what that calls, and sleep_in_call() calls it. */
struct sleeper {
	struct completion begun, may_end;
	struct task_struct *task;
	u64 result;
};

u64 wait_inside(void *data);
int sleep_in_call(void *data);
void begin_sleeper(struct kunit *test, struct sleeper *sleeper);
void end_sleeper(struct kunit *test, struct sleeper *sleeper);

static inline struct made_probe *sleeper_probe(struct kunit *test)
{
	return make_return_probe(test, target_calls, 2, ARGTRACE_TYPE_U64, 8, 0);
}

#define RETURN_S32	.source = ARGTRACE_SOURCE_RETURN, .shl = 32, .shr = 32, .flags = ARGTRACE_INSN_SIGNED, .mask = ALL

#define AT_RETURN	.flags = ARGTRACE_INSN_RETURN

/* Gives the probe a program with filters at entry and at return. */
void set_filters(struct made_probe *probe, const struct argtrace_insn *insns, u32 nr_insns, u32 nr_filter, u32 nr_return);

/* The same text `count` times, at entry. */
struct made_probe *make_text_probe(struct kunit *test, void *function, u32 argument, u32 nr_args, u32 words, u32 count);

#endif
