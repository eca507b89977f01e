// SPDX-License-Identifier: GPL-2.0-only
/*
 * A call as the trampoline would have it: a frame is made of what the kernel hands over, and the
 * rest is as ever. Around it lie, as on the stack of a call that goes by the trampoline, the words
 * of the stack that are arguments, above, and the values that are kept, below.
 */
#include <linux/sched/task_stack.h>

#include "base/compat.h"
#include "read/operands.h"
#include "read/scratch.h"
#include "call/throttle.h"
#include "session.h"
#include "call/record.h"
#include "call/context.h"
#include "source/fallback_call.h"
#include "source/returns/returns.h"

#define MAX_KEPT	(ARGTRACE_FALLBACK_CALL_MAX - sizeof(struct argtrace_fallback_call))

struct made_frame {
	u8 kept[ALIGN(MAX_KEPT, sizeof(u64))];
	struct argtrace_frame frame;
	u64 words[ARGTRACE_RETURN_WORDS_MAX];
};

static_assert(offsetof(struct made_frame, words) ==
	      offsetof(struct made_frame, frame) + sizeof(struct argtrace_frame));

u8 argtrace_fallback_levels[2];

size_t argtrace_fallback_call_size(const struct argtrace_plan *plan)
{
	const struct argtrace_code *code = plan->code;

	return sizeof(struct argtrace_fallback_call) + plan->returns->above +
	       (code && code->keeps ? ALIGN(sizeof(u64) + code->kept, sizeof(u64)) : 0);
}

/* Whether half of the stack is left, and the words above the caller's address are on it. */
static bool fallback_has_room(unsigned long sp, unsigned long above)
{
	const unsigned long used = sp - (unsigned long)task_stack_page(current);

	above += ARGTRACE_FIRST_STACK_WORD;
	if (used < THREAD_SIZE)
		return used >= THREAD_SIZE / 2 && used + above <= THREAD_SIZE;
	return offset_in_page(sp) + above <= PAGE_SIZE;
}

static void make_frame(struct made_frame *made, struct argtrace_return *returns,
		       unsigned long caller, const unsigned long *args, const u64 *words)
{
	struct argtrace_frame *frame = &made->frame;

	argtrace_frame_make(frame, args, caller);
	frame->returns = returns;
	argtrace_copy_words((u8 *)made->words, (const u8 *)words, returns->above);
}

/* The values that are kept, behind the words. False: the call is lost, and counted. */
static bool keep_for_fallback(struct made_frame *made, struct argtrace_fallback_call *call,
			      u64 *bytes)
{
	struct argtrace_return *returns = made->frame.returns;
	u8 *scratch;

	if (unlikely(!argtrace_scratch_enter())) {
		argtrace_return_lose(returns, ARGTRACE_LOST_RECURSION);
		return false;
	}
	scratch = argtrace_scratch_here();
	if (unlikely(!scratch)) {
		argtrace_scratch_leave();
		argtrace_return_lose(returns, ARGTRACE_LOST_NO_BUFFER);
		return false;
	}
	*bytes = argtrace_return_gather_to(&made->frame, scratch);
	argtrace_copy_words((u8 *)call->data + returns->above, scratch, *bytes);
	argtrace_scratch_leave();
	return true;
}

static u32 fallback_context(const struct argtrace_fallback *fallback,
			    const argtrace_full_regs *regs)
{
	const u32 irqs_off = ARGTRACE_CTX_IRQS_OFF << ARGTRACE_CONTEXT_FLAGS_SHIFT;
	const u32 now = argtrace_context_word(argtrace_fallback_levels[fallback->by_kretprobe] +
					      (PREEMPT_DISABLE_OFFSET ? 1 : 0));

	return argtrace_full_irqs_are_off(regs) ? now | irqs_off : now & ~irqs_off;
}

static bool begin_fallback_call(struct argtrace_fallback *fallback,
				struct argtrace_fallback_call *call,
				const argtrace_full_regs *regs, unsigned long caller)
{
	struct argtrace_plan *plan = fallback->plan;
	struct argtrace_return *returns = plan->returns;
	const unsigned long sp = argtrace_full_stack(regs);
	struct made_frame made argtrace_uninitialized;
	unsigned long at;
	u64 kept = 0;

	if (argtrace_is_filtered(fallback->lane, rcu_access_pointer(fallback->lane->pid_bits))) {
		argtrace_count_following(returns->following, filtered);
		return false;
	}
	if (unlikely(!fallback_has_room(sp, returns->above))) {
		argtrace_count_following(returns->following, low_stack);
		return false;
	}
	argtrace_regs_arguments(argtrace_regs_of_full(regs), call->args);
	call->caller = caller;
	call->result = argtrace_full_result_address(regs);
	for (at = 0; at < returns->above; at += sizeof(u64))
		call->data[at / sizeof(u64)] =
			argtrace_read_stack((const u8 *)sp + ARGTRACE_FIRST_STACK_WORD + at);
	if (plan->code) {
		make_frame(&made, returns, caller, call->args, call->data);
		if (!argtrace_return_accepts(plan, argtrace_frame_regs(&made.frame), caller))
			return false;
		if (plan->code->keeps && !keep_for_fallback(&made, call, &kept))
			return false;
	}
	call->cookie = fallback->cookie;
	call->state = kept << ARGTRACE_FRAME_KEPT_SHIFT | fallback_context(fallback, regs);
	argtrace_count_following(returns->following, entered);
	if (likely(argtrace_return_read_clock(returns->clock, &call->clock)))
		return true;
	argtrace_count_here(plan->counters, lost[ARGTRACE_LOST_RECURSION]);
	return false;
}

bool argtrace_fallback_enter(struct argtrace_fallback *fallback,
			     struct argtrace_fallback_call *call, const argtrace_full_regs *regs,
			     unsigned long caller)
{
	bool follow = false;

	preempt_disable_notrace();
	/*
	 * Where it is stopped it has been removed, and is about to be unregistered. Pairs with the
	 * release of argtrace_return_set_up(), before which the rest was set.
	 */
	if (smp_load_acquire(&fallback->plan->returns->leave_path) != ARGTRACE_LEAVE_STOPPED)
		follow = begin_fallback_call(fallback, call, regs, caller);
	preempt_enable_notrace();
	return follow;
}

void argtrace_fallback_leave(struct argtrace_fallback *fallback,
			     const struct argtrace_fallback_call *call, unsigned long value,
			     unsigned long high)
{
	struct argtrace_return *returns = fallback->plan->returns;
	struct made_frame made argtrace_uninitialized;
	unsigned long kept;

	/* The call began before the probe was last removed, and has been counted then. */
	if (unlikely(call->cookie != READ_ONCE(fallback->cookie)))
		return;
	make_frame(&made, returns, call->caller, call->args, call->data);
	made.frame.value = returns->in_memory ? call->result : value;
	made.frame.high = high;
	made.frame.clock = call->clock;
	made.frame.state = call->state;
	kept = call->state >> ARGTRACE_FRAME_KEPT_SHIFT;
	argtrace_copy_words((u8 *)&made.frame - kept, (const u8 *)call->data + returns->above,
			    kept);
	argtrace_return_leave(&made.frame);
}
