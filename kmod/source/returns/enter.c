// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the trampolines call before the body of a function: whether there is room, the time, and the
 * values that are kept.
 */
#include "base/compat.h"
#include "program/exec.h"
#include "read/scratch.h"
#include "session.h"
#include "sink/encode.h"
#include "call/context.h"
#include "source/returns/enter.h"
#include "source/returns/returns.h"
#include "source/returns/stack.h"
#include "source/syscall.h"

DEFINE_PER_CPU(u8, argtrace_return_depth);

/*
 * Calls that may be inside each other in interrupts, which have stacks of their own: the smallest
 * has 8 KiB, that of NMIs.
 */
#define DEPTH_BYTES	128	/* of values that are kept count as one more */
#define MAX_DEPTH	24
#define MAX_DEPTH_NMI	6

#define OWN_PREEMPT_LEVELS	(PREEMPT_DISABLE_OFFSET ? 1 : 0)

void argtrace_return_lose(struct argtrace_return *returns, enum argtrace_lost cause)
{
	argtrace_count_following(returns->following, entered);
	argtrace_count_here(returns->plan->counters, lost[cause]);
}

static __always_inline bool is_on_task_stack(unsigned long sp)
{
	return sp - (unsigned long)task_stack_page(current) < THREAD_SIZE;
}

static u32 depth_of(unsigned long kept)
{
	return 1 + DIV_ROUND_UP(kept, DEPTH_BYTES);
}

/*
 * Whether there is room for what the frame calls, and for `kept` bytes below it, and what is to be
 * copied above it is there.
 */
static __always_inline bool has_room(const struct argtrace_frame *frame, unsigned long kept)
{
	const unsigned long above = frame->returns->above;

	if (is_on_task_stack((unsigned long)frame))
		return argtrace_return_has_half_a_stack((unsigned long)frame - kept,
							kept + sizeof(*frame) + above);
	/* The page of the frame is mapped, and a correct number of words stays on the stack. */
	if (offset_in_page(frame + 1) + above > PAGE_SIZE)
		return false;
	return this_cpu_read(argtrace_return_depth) + depth_of(kept) <=
	       (in_nmi() ? MAX_DEPTH_NMI : MAX_DEPTH);
}

/* Takes it. The state says what argtrace_return_leave_stack() is to undo. */
static u64 take_room(const struct argtrace_frame *frame, unsigned long kept)
{
	u64 depth = 0;

	if (!is_on_task_stack((unsigned long)frame)) {
		depth = depth_of(kept);
		this_cpu_add(argtrace_return_depth, depth);
	}
	return depth << ARGTRACE_FRAME_DEPTH_SHIFT | (u64)kept << ARGTRACE_FRAME_KEPT_SHIFT;
}

/* The kernel may read its clock through functions that can be traced. */
static noinline bool read_kernels_clock(u32 clock, u64 *now)
{
	if (!argtrace_recursion_enter())
		return false;
	*now = argtrace_clock_read(clock);
	argtrace_recursion_leave();
	return true;
}

static __always_inline bool read_clock(u32 clock, u64 *now)
{
	if (clock != ARGTRACE_CLOCK_TSC)
		return read_kernels_clock(clock, now);
	*now = argtrace_cycles();
	return true;
}

bool argtrace_return_read_clock(u32 clock, u64 *now)
{
	return read_clock(clock, now);
}

/* Follows a call for which there is room. False: it is lost. */
static __always_inline bool follow(struct argtrace_frame *frame, unsigned long kept,
				   const bool counts_as_entered)
{
	struct argtrace_return *returns = frame->returns;

	frame->state = take_room(frame, kept) | argtrace_context_word(OWN_PREEMPT_LEVELS);
	if (!counts_as_entered)
		argtrace_count_following(returns->following, entered);
	if (likely(read_clock(returns->clock, &frame->clock)))
		return true;
	argtrace_return_leave_stack(frame);
	argtrace_count_here(returns->plan->counters, lost[ARGTRACE_LOST_RECURSION]);
	return false;
}

static __always_inline bool enter_followed(struct argtrace_frame *frame, unsigned long kept)
{
	return follow(frame, kept, false);
}

bool argtrace_return_follow(struct argtrace_frame *frame, unsigned long kept)
{
	return follow(frame, kept, true);
}

/*
 * Computes what is to be kept, from the word on that says which values could not be read. Returns
 * how many bytes that takes.
 */
static __always_inline unsigned long gather_to(struct argtrace_frame *frame, u8 *scratch,
					       u64 *unreadable)
{
	/* sp belongs to the chained caller (argtrace_return_chain); preserve it. */
	const unsigned long sp = frame->sp;
	struct argtrace_run run argtrace_uninitialized;
	u8 *end;

	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	end = argtrace_run_entry_values(&run, scratch + sizeof(u64));
	frame->sp = sp;
	*unreadable = run.unreadable;
	*(u64 *)scratch = run.unreadable;
	return argtrace_return_fill_words(scratch, end - scratch);
}

unsigned long argtrace_return_gather_to(struct argtrace_frame *frame, u8 *scratch)
{
	u64 unreadable;

	return gather_to(frame, scratch, &unreadable);
}

/* The same below the frame, where there is room for them. */
static noinline void gather_slowly(struct argtrace_frame *frame)
{
	struct argtrace_run run argtrace_uninitialized;
	u8 *to = (u8 *)frame - frame->returns->kept;

	run.code = frame->returns->plan->code;
	run.fregs = argtrace_frame_regs(frame);
	run.caller = frame->caller;
	argtrace_frame_set_stack(frame);
	argtrace_run_entry_values(&run, to + sizeof(u64));
	*(u64 *)to = run.unreadable;
}

unsigned long argtrace_return_gather(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	u8 *to = (u8 *)frame - returns->kept;
	const struct argtrace_op *op;
	u64 value;

	preempt_disable_notrace();
	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_count_here(returns->plan->counters, lost[ARGTRACE_LOST_RECURSION]);
		preempt_enable_notrace();
		return 0;
	}
	frame->state = (u64)returns->kept << ARGTRACE_FRAME_KEPT_SHIFT;
	*(u64 *)to = 0;
	to += sizeof(u64);
	for (op = returns->plan->code->values; op; op = op->next[1]) {
		if (op->flags & ARGTRACE_INSN_RETURN)
			continue;
		if (unlikely(!argtrace_op_quickly(op, argtrace_frame_regs(frame), &value))) {
			gather_slowly(frame);
			break;
		}
		to = argtrace_encode_value(to, value & op->mask, op->arg);
	}
	argtrace_scratch_leave();
	frame->clock = argtrace_cycles();
	preempt_enable_notrace();
	return ARGTRACE_ENTER_FOLLOW;
}

/* Some of what is to be kept could not be read. */
static noinline bool may_wait(const struct argtrace_frame *frame)
{
	return frame->returns->waits &&
	       argtrace_return_can_wait(frame->returns, (unsigned long)frame);
}

/*
 * A call of which values are kept. As many bytes as they take are read from the scratch memory by
 * argtrace_return_keep(); until then preemption stays off. 0: the call is let pass.
 */
static noinline unsigned long enter_with_values(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	enum argtrace_lost cause = ARGTRACE_LOST_RECURSION;
	unsigned long bytes;
	u64 unreadable;
	u8 *scratch;

	if (unlikely(!argtrace_scratch_enter()))
		goto lost;
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		cause = ARGTRACE_LOST_NO_BUFFER;
		goto lost;
	}
	bytes = gather_to(frame, scratch, &unreadable);
	if (unlikely(unreadable) && may_wait(frame)) {
		argtrace_scratch_leave();
		argtrace_count_following(returns->following, entered);
		preempt_enable_notrace();
		return argtrace_return_enter_waiting(frame, true);
	}
	if (likely(has_room(frame, bytes))) {
		if (likely(enter_followed(frame, bytes)))
			return bytes;
	} else {
		argtrace_count_following(returns->following, low_stack);
	}
	argtrace_scratch_leave();
	goto out;
lost:
	argtrace_return_lose(returns, cause);
out:
	preempt_enable_notrace();
	return 0;
}

unsigned long argtrace_return_enter(struct argtrace_frame *frame)
{
	struct argtrace_return *returns = frame->returns;
	const struct argtrace_code *code;
	bool follow = false;

	preempt_disable_notrace();
	argtrace_uncount_following(returns->following, taken);
	if (returns->plan->kind == ARGTRACE_KIND_SYSCALL)
		argtrace_syscall_arguments(argtrace_frame_regs(frame),
					   argtrace_frame_passed(frame));
	if (unlikely(!has_room(frame, 0))) {
		argtrace_count_following(returns->following, low_stack);
	} else {
		code = returns->plan->code;
		if (code && code->keeps)
			return enter_with_values(frame);
		follow = enter_followed(frame, 0);
	}
	preempt_enable_notrace();
	return follow ? ARGTRACE_ENTER_FOLLOW : 0;
}

void argtrace_return_keep(struct argtrace_frame *frame, unsigned long bytes)
{
	const u8 *scratch = argtrace_scratch_here();

	argtrace_copy_words((u8 *)frame - bytes, scratch, bytes);
	argtrace_scratch_leave();
	preempt_enable_notrace();
}
