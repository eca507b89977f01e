// SPDX-License-Identifier: GPL-2.0-only
#include <linux/preempt.h>
#include <linux/sched.h>

#include "arch/followed.h"
#include "arch/regs.h"
#include "arch/user.h"
#include "arch/vector.h"
#include "base/compat.h"
#include "base/uprobes.h"
#include "call/context.h"
#include "program/exec.h"
#include "read/absent.h"
#include "read/bring_in.h"
#include "read/scratch.h"
#include "read/user_word.h"
#include "session.h"
#include "sink/encode.h"
#include "source/returns/leave.h"
#include "source/returns/returns.h"
#include "source/user.h"
#include "source/user_calls.h"
#include "source/user_return.h"

/* How often memory is brought in for one return. */
#define BRING_IN_MAX	8

u32 argtrace_user_call_size(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;
	const u32 kept = code && code->keeps ? ALIGN(sizeof(u64) + code->kept, sizeof(u64)) : 0;

	return ALIGN(sizeof(struct argtrace_user_call), sizeof(u64)) + kept +
	       sizeof(struct argtrace_frame);
}

static unsigned long read_return_address(const argtrace_full_regs *full)
{
	const u64 slot = argtrace_user_return_slot(full);
	u64 address = 0;

	if (argtrace_user_words_begin(slot)) {
		if (!argtrace_user_word(slot, &address))
			address = 0;
		argtrace_user_words_end();
	}
	return address;
}

/* The values that are kept, directly below the frame. False: the call is lost, and counted. */
static bool keep_values(struct argtrace_frame *frame, const struct argtrace_regs *regs,
			unsigned long *bytes)
{
	const struct argtrace_code *code = frame->returns->plan->code;
	struct argtrace_run run argtrace_uninitialized;
	u8 *scratch, *end;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_return_lose(frame->returns, ARGTRACE_LOST_RECURSION);
		return false;
	}
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		argtrace_return_lose(frame->returns, ARGTRACE_LOST_NO_BUFFER);
		return false;
	}
	run.code = code;
	run.fregs = regs;
	run.caller = 0;
	end = argtrace_run_entry_values(&run, scratch + sizeof(u64));
	*(u64 *)scratch = run.unreadable;
	*bytes = ALIGN(end - scratch, sizeof(u64));
	argtrace_copy_words((u8 *)frame - *bytes, scratch, *bytes);
	argtrace_scratch_leave();
	return true;
}

/* Fills in a call, with preemption off. False: it is not followed, and has been counted. */
static bool begin_call(struct argtrace_user_call *call, const struct argtrace_regs *regs)
{
	struct argtrace_user_place *place = call->place;
	struct argtrace_frame *frame = argtrace_user_call_frame(call, place->call_size);
	struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;
	unsigned long args[ARGTRACE_REG_COUNT], kept = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = argtrace_regs_argument(regs, i);
	/* Its records have no caller. */
	argtrace_frame_make(frame, args, 0);
	if (plan->code && plan->code->keeps && !keep_values(frame, regs, &kept))
		return false;
	frame->state = (u64)kept << ARGTRACE_FRAME_KEPT_SHIFT |
		       argtrace_context_word(PREEMPT_DISABLE_OFFSET ? 1 : 0);
	if (unlikely(!argtrace_return_read_clock(returns->clock, &frame->clock))) {
		argtrace_return_lose(returns, ARGTRACE_LOST_RECURSION);
		return false;
	}
	return true;
}

/* With preemption off, which is on again afterwards. */
static void enter_call(struct argtrace_plan *plan, struct argtrace_user_call *call,
		       const argtrace_full_regs *full)
{
	struct argtrace_user_call *left = NULL;
	bool follow;

	argtrace_user_call_frame(call, call->place->call_size)->returns = plan->returns;
	call->sp = argtrace_user_sp(full);
	call->tgid = current->tgid;
	call->tid = current->pid;
	call->returns_to = read_return_address(full);
	follow = begin_call(call, argtrace_regs_of_full(full));
	if (likely(follow)) {
		/* Before it can end. */
		argtrace_count_following(plan->returns->following, entered);
		follow = argtrace_user_calls_enter(call, &left);
		if (unlikely(!follow))
			argtrace_uncount_following(plan->returns->following, entered);
	}
	preempt_enable_notrace();
	if (unlikely(!follow))
		argtrace_user_call_free(call);
	argtrace_user_calls_free(left);
}

/*
 * What the program reads when the function has returned is brought in: it is run for nothing but to
 * see whether all of it is present.
 */
static void bring_in_for_return(const struct argtrace_frame *frame)
{
	const struct argtrace_plan *plan = frame->returns->plan;
	struct argtrace_run run argtrace_uninitialized;
	struct argtrace_absent absent = { };
	u8 *scratch;
	u32 i;

	if (!plan->code || !plan->code->reads_user)
		return;
	for (i = 0; i < BRING_IN_MAX; i++) {
		preempt_disable_notrace();
		absent.size = 0;
		if (likely(argtrace_scratch_enter())) {
			scratch = argtrace_scratch_here();
			run.code = plan->code;
			run.fregs = argtrace_frame_regs(frame);
			run.caller = 0;
			run.unreadable = 0;
			run.kept = argtrace_return_kept_values(frame);
			argtrace_absent_reset();
			if (plan->code->return_filter)
				argtrace_run_filter(&run, plan->code->return_filter);
			if (scratch)
				argtrace_run_return_values(&run, scratch);
			absent = argtrace_absent_here();
			argtrace_scratch_leave();
		}
		preempt_enable_notrace();
		if (likely(!absent.size) || !argtrace_bring_in(absent.addr, absent.size))
			return;
	}
}

static int leave_call(struct argtrace_user_place *place, const argtrace_full_regs *full,
		      unsigned long sp)
{
	struct argtrace_user_call *call = argtrace_user_calls_leave(place, sp);
	struct argtrace_frame *frame;

	/* It was entered before we were there, or not selected. */
	if (!call)
		return argtrace_user_unwanted(place);
	frame = argtrace_user_call_frame(call, place->call_size);
	frame->value = unlikely(place->result_in_vector) ? argtrace_vector_word(0) :
							   argtrace_regs_value(full);
	frame->high = argtrace_regs_high_value(full);
	bring_in_for_return(frame);
	argtrace_return_leave(frame);
	argtrace_user_call_free(call);
	return 0;
}

DEFINE_UPROBE_HANDLER(user_entered, consumer, full)
{
	struct argtrace_user_place *place =
		container_of(consumer, struct argtrace_user_point, consumer)->place;
	const struct argtrace_regs *regs = argtrace_regs_of_full(full);
	struct argtrace_plan *plan = argtrace_user_begin(place, regs);
	struct argtrace_user_call *call;

	if (unlikely(!plan))
		return argtrace_user_unwanted(place);
	if (plan->code && !argtrace_return_accepts(plan, regs, 0)) {
		preempt_enable_notrace();
		return 0;
	}
	/* It stays as long as the handler runs. */
	preempt_enable_notrace();
	call = argtrace_user_call_alloc(place);
	preempt_disable_notrace();
	if (likely(call)) {
		call->place = place;
		enter_call(plan, call, full);
		if (unlikely(place->returns_at_once))
			leave_call(place, full, argtrace_user_sp(full));
	} else {
		argtrace_return_lose(plan->returns, ARGTRACE_LOST_NO_BUFFER);
		preempt_enable_notrace();
	}
	return 0;
}

DEFINE_UPROBE_HANDLER(user_exits, consumer, full)
{
	return leave_call(container_of(consumer, struct argtrace_user_point, consumer)->place, full,
			  argtrace_user_sp(full));
}

DEFINE_UPROBE_RETURN_HANDLER(user_returned, consumer, full)
{
	leave_call(container_of(consumer, struct argtrace_user_point, consumer)->place, full,
		   argtrace_user_entry_sp(full));
	return 0;
}

void argtrace_user_entry_consumer(struct uprobe_consumer *consumer, bool by_uretprobe)
{
	argtrace_user_consumer(consumer);
	consumer->handler = user_entered;
	if (by_uretprobe)
		consumer->ret_handler = user_returned;
}

void argtrace_user_exit_consumer(struct uprobe_consumer *consumer)
{
	argtrace_user_consumer(consumer);
	consumer->handler = user_exits;
}

static void start_user_return(struct argtrace_plan *plan, struct argtrace_session *session)
{
	argtrace_return_set_up(plan, session);
}

static void stop_user_return(struct argtrace_plan *plan)
{
	/* In no order: those who need one wait with argtrace_synchronize(). */
	WRITE_ONCE(plan->returns->leave_path, ARGTRACE_LEAVE_STOPPED);
}

/* Its place has been freed by then: source/user_attach.c. */
static void release_user_return(struct argtrace_plan *plan)
{
}

const struct argtrace_plan_rules argtrace_user_return_rules = {
	.start = start_user_return,
	.stop = stop_user_return,
	.release = release_user_return,
};
