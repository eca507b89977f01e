// SPDX-License-Identifier: GPL-2.0-only
#include "return_fixtures.h"

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/string.h>

#include "base/clock.h"
#include "targets.h"

struct made_probe *make_return_probe_by(struct kunit *test, u32 by, void *function, u32 nr_args, u8 type, u32 size, u32 words)
{
	struct made_probe *probe = make_probe(test, (unsigned long)function, nr_args + !!size);

	probe->head.flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(words) | by;
	if (size)
		probe->args[nr_args] = (struct argtrace_arg){
			.loc = ARGTRACE_LOC_RETURN, .type = type, .size = size,
			.name = probe->args[nr_args].name, .type_name = probe->args[nr_args].type_name,
		};
	return probe;
}

struct argtrace_session *follow_with(struct kunit *test, const struct made_probe *probe,
					    const struct argtrace_session_attr *attr)
{
	struct argtrace_session *session = make_session_like(test, attr);

	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	return session;
}

struct argtrace_session *follow(struct kunit *test, const struct made_probe *probe, u32 format)
{
	return follow_with(test, probe, &(struct argtrace_session_attr){ .format = format });
}

struct argtrace_return_counts return_counts(struct argtrace_session *session, u32 id)
{
	struct argtrace_return_counts counts;

	argtrace_plan_return_counts(session->catalog.by_id[id], &counts);
	return counts;
}

u64 hits(const struct argtrace_return_counts *counts)
{
	u64 sum = counts->counts.records + counts->counts.filtered + counts->counts.sampled + counts->counts.capped +
		  counts->in_flight;
	u32 i;

	for (i = 0; i < ARGTRACE_LOST_MAX; i++)
		sum += counts->counts.lost[i];
	for (i = 0; i < ARGTRACE_UNFOLLOWED_MAX; i++)
		sum += counts->unfollowed[i];
	return sum;
}

noinline u64 call_value(u64 a, u64 b, u64 c)
{
	const u64 value = target_value(a, b, c);

	barrier();
	return value;
}

u64 sleep_for(void *ms)
{
	const unsigned long us = (unsigned long)ms * USEC_PER_MSEC;

	if (us)
		usleep_range(us, us + USEC_PER_MSEC);
	return 41;
}

void do_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

u64 wait_inside(void *data)
{
	struct sleeper *sleeper = data;

	complete(&sleeper->begun);
	wait_for_completion(&sleeper->may_end);
	return 41;
}

int sleep_in_call(void *data)
{
	struct sleeper *sleeper = data;

	sleeper->result = target_calls(wait_inside, sleeper);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

void begin_sleeper(struct kunit *test, struct sleeper *sleeper)
{
	*sleeper = (struct sleeper){ };
	init_completion(&sleeper->begun);
	init_completion(&sleeper->may_end);
	sleeper->task = kthread_create(sleep_in_call, sleeper, "argtrace_sleeper");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sleeper->task);
	kthread_bind(sleeper->task, raw_smp_processor_id());
	wake_up_process(sleeper->task);
	wait_for_completion(&sleeper->begun);
}

void end_sleeper(struct kunit *test, struct sleeper *sleeper)
{
	complete(&sleeper->may_end);
	kthread_stop(sleeper->task);
	KUNIT_EXPECT_EQ(test, sleeper->result, 42);
}

void set_filters(struct made_probe *probe, const struct argtrace_insn *insns, u32 nr_insns, u32 nr_filter, u32 nr_return)
{
	set_program(probe, insns, nr_insns, nr_filter, NULL);
	((struct argtrace_program *)probe->program)->nr_return = nr_return;
}

struct made_probe *make_text_probe(struct kunit *test, void *function, u32 argument, u32 nr_args, u32 words, u32 count)
{
	struct made_probe *probe = make_return_probe(test, function, nr_args, ARGTRACE_TYPE_U64, 8, words);
	struct argtrace_insn insns[8];
	u32 i;

	for (i = 0; i < count; i++)
		insns[i] = (struct argtrace_insn){ .source = ARGTRACE_SOURCE_REG, .index = argument, .mask = ALL,
						   .action = ARGTRACE_DO_STR, .arg = 501 };
	set_filters(probe, insns, count, 0, 0);
	for (i = 0; i < count; i++)
		add_output(probe, ARGTRACE_TYPE_STR, 501);
	return probe;
}
