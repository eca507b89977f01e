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
#include "call/waiting_call.h"
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

u32 argtrace_user_call_size(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;
	u32 kept = code && code->keeps ? ALIGN(sizeof(u64) + code->kept, sizeof(u64)) : 0;

	if (plan->schema->flags & ARGTRACE_PROBE_GOROUTINES)
		kept = max_t(u32, kept, sizeof(u64)) + ARGTRACE_FRAME_LOWER;
	return ALIGN(sizeof(struct argtrace_user_call), sizeof(u64)) + kept +
	       sizeof(struct argtrace_user_frame);
}

/* A word of the process; 0: it cannot be read. */
static unsigned long read_word(u64 at)
{
	u64 word = 0;

	if (argtrace_user_words_begin(at)) {
		if (!argtrace_user_word(at, &word))
			word = 0;
		argtrace_user_words_end();
	}
	return word;
}

/* Where a function that has been entered returns to; 0: it cannot be read. */
static unsigned long read_return(const argtrace_full_regs *full)
{
	u64 returns_to;

	if (argtrace_user_return_register(full, &returns_to))
		return returns_to;
	return read_word(argtrace_user_return_slot(full));
}

/* In struct g of Go's runtime/runtime2.go: stack.hi */
#define GOROUTINE_STACK_END	8

/*
 * By what a call is known. False: it is one of Go, of which that cannot be read. Not to be called
 * with preemption off: what the kernel has unmapped for a moment, as it does to see which node
 * wants a page, is brought in.
 */
static bool find_user_stack(const struct argtrace_user_place *place, const argtrace_full_regs *full,
			    unsigned long *goroutine, unsigned long *sp)
{
	unsigned long end = 0;
	u32 i;

	*goroutine = 0;
	*sp = argtrace_user_sp(full);
	if (!place->goroutines)
		return true;
	*goroutine = argtrace_user_goroutine(full);
	for (i = 0; i < ARGTRACE_BRING_IN_MAX && *goroutine; i++) {
		end = read_word(*goroutine + GOROUTINE_STACK_END);
		if (likely(end) ||
		    !argtrace_bring_in(*goroutine + GOROUTINE_STACK_END, sizeof(u64)))
			break;
	}
	*sp = end - *sp;
	return end;
}

/* Some values could not be read. Whether that is because memory is not present, and of which. */
static noinline bool waits_for_values(struct argtrace_run *run, u8 *scratch,
				      struct argtrace_wait *wait)
{
	argtrace_absent_reset();
	argtrace_run_entry_values(run, scratch + sizeof(u64));
	wait->absent = argtrace_absent_here();
	return wait->absent.size;
}

/*
 * The values that are kept, `lower` bytes below the frame. False: the call waits for memory, or is
 * lost, and counted.
 */
static bool keep_values(struct argtrace_frame *frame, const struct argtrace_regs *regs,
			unsigned long lower, unsigned long *bytes, struct argtrace_wait *wait)
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
	if (unlikely(run.unreadable) && wait && waits_for_values(&run, scratch, wait)) {
		argtrace_scratch_leave();
		return false;
	}
	*(u64 *)scratch = run.unreadable;
	*bytes = argtrace_return_fill_words(scratch, end - scratch);
	argtrace_copy_words((u8 *)frame - lower - *bytes, scratch, *bytes);
	argtrace_scratch_leave();
	return true;
}

/*
 * Fills in a call, with preemption off. False: it waits for memory, or else is not followed, and
 * has been counted. `wait`: NULL if it cannot wait any more.
 */
static __always_inline bool begin_call(struct argtrace_user_call *call,
				       const struct argtrace_regs *regs,
				       const argtrace_full_regs *full, struct argtrace_wait *wait)
{
	struct argtrace_user_place *place = call->place;
	struct argtrace_user_frame *whole = argtrace_user_call_frame(call);
	const unsigned long lower = place->goroutines ? ARGTRACE_FRAME_LOWER : 0;
	struct argtrace_frame *frame = &whole->frame;
	struct argtrace_return *returns = frame->returns;
	struct argtrace_plan *plan = returns->plan;
	unsigned long args[ARGTRACE_REG_COUNT], kept = 0;

	argtrace_regs_arguments(regs, args);
	/* Its records have no caller. */
	argtrace_frame_make(frame, args, 0);
	if (plan->code && plan->code->keeps && !keep_values(frame, regs, lower, &kept, wait))
		return false;
	if (place->goroutines) {
		argtrace_user_frame_keep(whole, full);
		if (!kept) {
			/* The word that says which values are unreadable: there are none. */
			kept = sizeof(u64);
			*(u64 *)((u8 *)frame - lower - kept) = 0;
		}
		kept += lower;
	}
	frame->state = (u64)kept << ARGTRACE_FRAME_KEPT_SHIFT |
		       argtrace_context_word(PREEMPT_DISABLE_OFFSET ? 1 : 0);
	if (unlikely(!argtrace_return_read_clock(returns->clock, &frame->clock))) {
		argtrace_return_lose(returns, ARGTRACE_LOST_RECURSION);
		return false;
	}
	return true;
}

/* The same, after it has waited for what is to be kept, if it has to; it may have slept then. */
static noinline bool begin_waiting_call(struct argtrace_user_call *call,
					const struct argtrace_regs *regs,
					const argtrace_full_regs *full)
{
	struct argtrace_wait wait = { };
	bool follow;

	for (;;) {
		follow = begin_call(call, regs, full, wait.is_last ? NULL : &wait);
		if (likely(follow) || !wait.absent.size)
			return follow;
		preempt_enable_notrace();
		argtrace_wait_for_memory(&wait);
		wait.absent.size = 0;
		preempt_disable_notrace();
	}
}

/* A call begins when the records of those have been written whose place it takes. */
static noinline void record_before(struct argtrace_user_call *call,
				   struct argtrace_user_call *left)
{
	struct argtrace_frame *frame = &argtrace_user_call_frame(call)->frame;

	argtrace_user_calls_end(left, ARGTRACE_USER_CALL_LEFT);
	/* It goes on with the time that it had, should the clock not be readable. */
	argtrace_return_read_clock(frame->returns->clock, &frame->clock);
}

/*
 * With preemption off, which is on again afterwards. `follow`: it is known to which stack the call
 * belongs.
 */
static void enter_call(struct argtrace_plan *plan, struct argtrace_user_call *call,
		       const struct argtrace_regs *regs, const argtrace_full_regs *full,
		       bool follow)
{
	struct argtrace_user_call *left = NULL;

	argtrace_user_call_frame(call)->frame.returns = plan->returns;
	call->tgid = current->tgid;
	call->tid = current->pid;
	call->returns_to = read_return(full);
	call->result = argtrace_full_result_address(full);
	if (unlikely(!follow))
		argtrace_count_following(plan->returns->following, no_goroutine);
	else
		follow = plan->code && plan->code->reads_user ?
				 begin_waiting_call(call, regs, full) :
				 begin_call(call, regs, full, NULL);
	if (likely(follow)) {
		/* Before it can end. */
		argtrace_count_following(plan->returns->following, entered);
		follow = argtrace_user_calls_enter(call, &left);
		if (unlikely(!follow))
			argtrace_uncount_following(plan->returns->following, entered);
		if (unlikely(left))
			record_before(call, left);
	}
	preempt_enable_notrace();
	if (unlikely(!follow))
		argtrace_user_call_free(call);
}

/*
 * What the program reads when the function has returned is brought in: it is run for nothing but to
 * see whether all of it is present.
 */
static noinline void bring_in_for_return(const struct argtrace_frame *frame)
{
	const struct argtrace_plan *plan = frame->returns->plan;
	struct argtrace_run run argtrace_uninitialized;
	struct argtrace_absent absent = { };
	u8 *scratch;
	u32 i;

	for (i = 0; i < ARGTRACE_BRING_IN_MAX; i++) {
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

/* Some of what was to be kept could not be read, and is read again. */
static bool has_unread_values(const struct argtrace_frame *frame)
{
	const u8 *values = argtrace_return_kept_values(frame);

	return values && ((const u64 *)values)[-1];
}

static unsigned long user_value(const struct argtrace_user_call *call,
				const struct argtrace_frame *frame,
				const argtrace_full_regs *full)
{
	if (unlikely(call->place->result_in_vector))
		return argtrace_vector_word(0);
	return unlikely(frame->returns->in_memory) ? call->result : argtrace_regs_value(full);
}

static int leave_call(struct argtrace_user_place *place, const argtrace_full_regs *full,
		      unsigned long goroutine, unsigned long sp)
{
	struct argtrace_user_call *left = NULL;
	struct argtrace_user_call *call =
		argtrace_user_calls_leave(place, goroutine, sp, &left);
	const struct argtrace_code *code;
	struct argtrace_user_frame *whole;

	if (unlikely(left))
		argtrace_user_calls_end(left, ARGTRACE_USER_CALL_LEFT);
	/* It was entered before we were there, or not selected. */
	if (!call)
		return argtrace_user_unwanted(place);
	whole = argtrace_user_call_frame(call);
	if (place->goroutines) {
		argtrace_user_frame_take_results(whole, full);
	} else {
		whole->frame.value = user_value(call, &whole->frame, full);
		whole->frame.high = argtrace_regs_high_value(full);
	}
	code = whole->frame.returns->plan->code;
	if (code && code->reads_user &&
	    (code->reads_user_at_return || has_unread_values(&whole->frame)))
		bring_in_for_return(&whole->frame);
	argtrace_return_leave(&whole->frame);
	argtrace_user_call_free(call);
	return 0;
}

/* At an instruction that it returns by, the stack pointer is as it was at entry. */
static int return_from(struct argtrace_user_place *place, const argtrace_full_regs *full)
{
	unsigned long goroutine, sp;

	if (unlikely(!find_user_stack(place, full, &goroutine, &sp)))
		return argtrace_user_unwanted(place);
	return leave_call(place, full, goroutine, sp);
}

DEFINE_UPROBE_HANDLER(user_entered, consumer, full)
{
	struct argtrace_user_place *place =
		container_of(consumer, struct argtrace_user_point, consumer)->place;
	struct argtrace_user_view view;
	const struct argtrace_regs *regs = argtrace_user_view(&view, full);
	struct argtrace_plan *plan = argtrace_user_begin_followed(place, regs);
	struct argtrace_user_call *call;
	bool is_known = false;

	if (unlikely(!plan))
		return argtrace_user_unwanted(place);
	if (plan->code && !argtrace_return_accepts(plan, regs, 0)) {
		preempt_enable_notrace();
		return 0;
	}
	if (unlikely(place->by_uretprobe && argtrace_uretprobes_are_used_up())) {
		argtrace_count_following(plan->returns->following, too_deep);
		preempt_enable_notrace();
		return 0;
	}
	/* It stays as long as the handler runs. */
	preempt_enable_notrace();
	call = argtrace_user_call_alloc(place);
	if (likely(call))
		is_known = find_user_stack(place, full, &call->goroutine, &call->sp);
	preempt_disable_notrace();
	if (likely(call)) {
		call->place = place;
		enter_call(plan, call, regs, full, is_known);
		if (unlikely(place->returns_at_once))
			return_from(place, full);
	} else {
		argtrace_return_lose(plan->returns, ARGTRACE_LOST_NO_BUFFER);
		preempt_enable_notrace();
	}
	return 0;
}

DEFINE_UPROBE_HANDLER(user_exits, consumer, full)
{
	return return_from(container_of(consumer, struct argtrace_user_point, consumer)->place,
			   full);
}

DEFINE_UPROBE_RETURN_HANDLER(user_returned, consumer, full)
{
	leave_call(container_of(consumer, struct argtrace_user_point, consumer)->place, full, 0,
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
