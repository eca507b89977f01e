// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rest of a walk, if it takes more than plain frames. It goes from frame to frame by what
 * frame.h knows about their addresses, and makes the same checks as the kernel's unwinder: each
 * word that is read is on one of this CPU's stacks, above the one before, and no stack is entered
 * twice. Anything else, and every address without a plain frame, is left to the kernel's unwinder,
 * which starts over.
 */
#include <linux/align.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "arch/walk.h"
#include "arch/x86/unwind.h"
#include "base/recursion.h"

/* The stacks of a CPU for interrupts, NMIs and other exceptions. They never move. */
#define STACKS	8

struct stack {
	u64 begin, end;				/* end is 0 if not known yet */
};

struct known_stacks {
	unsigned int used;
	struct stack stacks[STACKS];
};

static DEFINE_PER_CPU(struct known_stacks, known_stacks);

/* The current place of a walk. */
struct place {
	u64 ip, sp, bp;
	struct stack stack;
};

/* The beginnings of the stacks that a walk has left. */
struct history {
	unsigned int used;
	u64 begins[3];
};

static __always_inline bool is_on(const struct stack *stack, u64 addr)
{
	return addr - stack->begin < stack->end - stack->begin;
}

static struct stack task_stack(void)
{
	const u64 begin = (u64)task_stack_page(current);

	return (struct stack){ begin, begin + THREAD_SIZE };
}

/* Asks the kernel's unwinder on which stack a word is, and keeps the answer. */
static bool learn_stack(u64 addr, struct stack *stack)
{
	struct known_stacks *known = this_cpu_ptr(&known_stacks);
	unsigned int used;
	bool learned;

	if (!argtrace_recursion_enter())
		return false;
	learned = argtrace_unwind_stack(addr, &stack->begin, &stack->end);
	argtrace_recursion_leave();
	if (!learned)
		return false;
	/* An interrupt takes another entry; two entries may be for the same stack then. */
	used = this_cpu_inc_return(known_stacks.used) - 1;
	if (used < STACKS) {
		known->stacks[used].begin = stack->begin;
		barrier();
		WRITE_ONCE(known->stacks[used].end, stack->end);
	} else {
		this_cpu_dec(known_stacks.used);
	}
	return true;
}

/* Finds the stack that a word is on. False if it is not known. */
static bool find_stack(u64 addr, struct stack *stack)
{
	const struct known_stacks *known = this_cpu_ptr(&known_stacks);
	unsigned int i;

	*stack = task_stack();
	if (is_on(stack, addr))
		return true;
	for (i = 0; i < STACKS; i++) {
		if (READ_ONCE(known->stacks[i].end) && is_on(&known->stacks[i], addr)) {
			*stack = known->stacks[i];
			return true;
		}
	}
	return learn_stack(addr, stack);
}

/* Continues the walk at a word that may be on another stack. False if it must not go there. */
static bool enter_stack(struct place *place, struct history *history, u64 addr)
{
	unsigned int i;

	if (is_on(&place->stack, addr))
		return addr > place->sp;
	if (history->used == ARRAY_SIZE(history->begins))
		return false;
	history->begins[history->used++] = place->stack.begin;
	if (!find_stack(addr, &place->stack))
		return false;
	for (i = 0; i < history->used; i++) {
		if (history->begins[i] == place->stack.begin)
			return false;
	}
	return true;
}

/* The frame that the one which ends at `sp` returns to. */
static __always_inline void return_to(struct place *place, u64 sp, u64 frame)
{
	place->ip = argtrace_load_quickly(sp - sizeof(u64));
	if (frame & ARGTRACE_FRAME_LOADS_BP)
		place->bp = argtrace_load_quickly(sp + argtrace_frame_bp_offset(frame));
	place->sp = sp;
}

/* Steps to a frame on the stack that a word here points to. */
static bool step_indirect(struct place *place, struct history *history, u64 frame)
{
	u64 sp;

	if (place->sp + sizeof(u64) > place->stack.end)
		return false;
	sp = argtrace_load_quickly(place->sp) + argtrace_frame_sp_offset(frame);
	/* The return address, and rbp below it. */
	if (!IS_ALIGNED(sp, 8) || !enter_stack(place, history, sp - 2 * sizeof(u64)) ||
	    sp > place->stack.end)
		return false;
	return_to(place, sp, frame);
	return true;
}

enum step {
	STEP_CALLED,			/* continue with the frame of place->ip */
	STEP_INTERRUPTED,		/* the same for an interrupted frame */
	STEP_END,
	STEP_UNKNOWN,
};

static enum step step_regs(struct place *place, struct history *history, u64 frame)
{
	const u64 regs = place->sp + argtrace_frame_sp_offset(frame);
	u64 sp;

	if (regs + sizeof(struct pt_regs) > place->stack.end)
		return STEP_UNKNOWN;
	if (argtrace_load_quickly(regs + offsetof(struct pt_regs, cs)) & 3)
		return STEP_END;
	sp = argtrace_load_quickly(regs + offsetof(struct pt_regs, sp));
	if (!IS_ALIGNED(sp, 8) || !enter_stack(place, history, sp))
		return STEP_UNKNOWN;
	place->ip = argtrace_load_quickly(regs + offsetof(struct pt_regs, ip));
	place->bp = argtrace_load_quickly(regs + offsetof(struct pt_regs, bp));
	place->sp = sp;
	return STEP_INTERRUPTED;
}

/* Steps over a call's frame, on the same stack. */
static bool step_plain(struct place *place, u64 frame)
{
	u64 sp = (frame & ARGTRACE_FRAME_FROM_BP ? place->bp : place->sp) +
		 argtrace_frame_sp_offset(frame);

	/*
	 * The new frame must be on the stack, and above the old one with the return address and rbp
	 * in between.
	 */
	if ((frame & ARGTRACE_FRAME_FROM_BP && (s64)(sp - place->sp) < 2 * (s64)sizeof(u64)) ||
	    sp > place->stack.end)
		return false;
	return_to(place, sp, frame);
	return true;
}

static enum step step_special(struct place *place, struct history *history, u64 frame)
{
	if (frame & ARGTRACE_FRAME_FROM_BP)
		return step_indirect(place, history, frame) ? STEP_CALLED : STEP_UNKNOWN;
	switch (argtrace_frame_other(frame)) {
	case ARGTRACE_FRAME_LAST:
		return STEP_END;
	case ARGTRACE_FRAME_REGS:
		return step_regs(place, history, frame);
	default:
		return STEP_UNKNOWN;
	}
}

static bool is_unknown(u64 frame)
{
	return (frame & (ARGTRACE_FRAME_SPECIAL | ARGTRACE_FRAME_FROM_BP)) ==
		       ARGTRACE_FRAME_SPECIAL &&
	       argtrace_frame_other(frame) == ARGTRACE_FRAME_UNKNOWN;
}

static u64 find_frame(u64 ip, bool interrupted, struct argtrace_stack_room *room)
{
	u64 frame;

	if (interrupted)
		return argtrace_frame_find(ip, true, room->symbol);
	frame = argtrace_frame_at_home(argtrace_frames, ip);
	return likely(argtrace_frame_is_of(frame, ip)) ?
		       frame :
		       argtrace_frame_find(ip, false, room->symbol);
}

/* Continues a walk. False if the kernel's unwinder has to take over. */
static bool walk_on(struct argtrace_stack_room *room, u32 max, struct argtrace_walked *walked)
{
	struct argtrace_stack_place *at = &room->at;
	struct place place = { at->ip, at->sp, at->bp, { at->begin, at->end } };
	struct history history;
	enum step step;
	u64 frame;

	history.used = 0;
	if (!at->end) {
		if (!find_stack(at->sp, &place.stack))
			return false;
		if (!at->interrupted) {
			place.ip = argtrace_load_quickly(at->sp);
			place.sp += sizeof(u64);
		}
	}
	frame = find_frame(place.ip, at->interrupted, room);
	for (;;) {
		if (at->count == max) {
			/* This may be one more. */
			walked->end = ARGTRACE_WALK_CUT;
			if (is_unknown(frame))
				return false;
			break;
		}
		room->frames[at->count++] = place.ip;
		at->hash = argtrace_stack_hash(at->hash, place.ip);
		step = frame & ARGTRACE_FRAME_SPECIAL ? step_special(&place, &history, frame) :
		       step_plain(&place, frame)      ? STEP_CALLED :
							STEP_UNKNOWN;
		if (step == STEP_UNKNOWN)
			return false;
		walked->end = ARGTRACE_WALK_WHOLE;
		if (step == STEP_END)
			break;
		frame = find_frame(place.ip, step == STEP_INTERRUPTED, room);
	}
	walked->count = at->count;
	walked->hash = at->hash;
	return true;
}

static void add_frame(u64 ip, struct argtrace_stack_room *room, struct argtrace_walked *walked)
{
	room->frames[walked->count++] = ip;
	walked->hash = argtrace_stack_hash(walked->hash, ip);
}

/* Appends what the kernel's unwinder finds. */
static void unwind_rest(struct unwind_state *state, struct argtrace_stack_room *room, u32 max,
			struct argtrace_walked *walked)
{
	unsigned long ip;

	for (; !unwind_done(state); unwind_next_frame(state)) {
		ip = unwind_get_return_address(state);
		if (!ip)
			break;
		if (walked->count == max) {
			walked->end = ARGTRACE_WALK_CUT;
			break;
		}
		add_frame(ip, room, walked);
	}
}

void argtrace_stack_unwind(const struct argtrace_stack_start *start,
			   struct argtrace_stack_room *room, u32 max,
			   struct argtrace_walked *walked)
{
	struct unwind_state state;

	*walked = (struct argtrace_walked){ .end = ARGTRACE_WALK_WHOLE };
	if (start->regs) {
		add_frame(argtrace_regs_ip(start->regs), room, walked);
		unwind_start(&state, current, (struct pt_regs *)argtrace_full_regs_of(start->regs),
			     NULL);
	} else {
		argtrace_unwind_begin(&state, (unsigned long)start->sp, start->bp);
	}
	unwind_rest(&state, room, max, walked);
	if (!walked->count)
		walked->end = ARGTRACE_WALK_UNKNOWN;
}

void argtrace_stack_walk_on(const struct argtrace_stack_start *start,
			    struct argtrace_stack_room *room, u32 max,
			    struct argtrace_walked *walked)
{
	if (walk_on(room, max, walked))
		return;
	if (!argtrace_recursion_enter()) {
		walked->end = ARGTRACE_WALK_RECURSION;
		return;
	}
	argtrace_stack_unwind(start, room, max, walked);
	argtrace_recursion_leave();
}
