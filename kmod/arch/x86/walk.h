/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stock kernels have no frame pointers, but tables for the ORC unwinder. The walk goes from frame
 * to frame by what frame.h has learned from it about their addresses.
 */
#ifndef ARGTRACE_ARCH_X86_WALK_H
#define ARGTRACE_ARCH_X86_WALK_H

#include <linux/bitops.h>
#include <linux/kconfig.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/load.h"
#include "arch/regs.h"
#include "arch/x86/frame.h"

/* Stacks are walked by what the ORC unwinder knows. */
#define ARGTRACE_CAN_WALK	IS_ENABLED(CONFIG_UNWINDER_ORC)

/*
 * Where a walk begins: the address at *sp is the innermost one; or, with `regs`, at the code that
 * they say was interrupted.
 */
struct argtrace_stack_start {
	const u64 *sp;
	u64 bp;
	const struct argtrace_regs *regs;
};

/* How far a walk has come; the frame of `ip` has not been examined yet. */
struct argtrace_stack_place {
	u64 ip, sp, bp, hash;
	/*
	 * of the stack; end is 0 if not known, and then the next address is at sp instead of in ip
	 */
	u64 begin, end;
	u32 count;			/* of room->frames */
	bool interrupted;		/* ip was interrupted; else it is a return address */
};

/* The memory that a walk takes, for itself alone. */
struct argtrace_stack_room {
	u64 frames[ARGTRACE_STACK_DEPTH_MAX + 1];
	struct argtrace_stack_place at;
	char symbol[ARGTRACE_SYMBOL_ROOM];
};

enum argtrace_walk_end {
	ARGTRACE_WALK_WHOLE,
	ARGTRACE_WALK_CUT,		/* there are more frames than wanted */
	/* it takes the kernel's unwinder, which itself has made this call */
	ARGTRACE_WALK_RECURSION,
	ARGTRACE_WALK_UNKNOWN,		/* not even the kernel's unwinder knows this stack */
};

struct argtrace_walked {
	enum argtrace_walk_end end;
	/* Not valid with RECURSION and UNKNOWN: */
	u32 count;			/* of addresses in room->frames, at least 1 */
	u64 hash;			/* argtrace_stack_hash() of them, from 0 on */
};

static __always_inline u64 argtrace_stack_hash(u64 hash, u64 ip)
{
	return (rol64(hash, 23) ^ ip) * 0x9e3779b97f4a7c15ull;
}

/*
 * Walks plain frames on the current task's stack, up to the entry from user space, which covers
 * most stacks. Calls no function, and uses no memory but `room`, which already contains `count`
 * addresses with that hash. Returns how many addresses there are, or 0 if argtrace_stack_walk_on()
 * has to continue from room->at.
 */
static __always_inline u32 argtrace_stack_walk_from(const u64 *start, u64 bp,
						    struct argtrace_stack_room *room, u32 count,
						    u64 hash, u32 max, u64 *result)
{
	const u64 begin = (u64)task_stack_page(current), end = begin + THREAD_SIZE;
	const u64 *const frames = argtrace_frames;
	u64 *to = room->frames + count, *const limit = room->frames + max;
	u64 ip = 0, sp = (u64)start, frame, new_sp;
	struct argtrace_stack_place *at = &room->at;
	u32 what;

	at->end = 0;
	if (unlikely(sp - begin >= THREAD_SIZE))
		goto slow;
	ip = argtrace_load_quickly(sp);
	sp += sizeof(u64);
	at->end = end;
	for (;;) {
		frame = argtrace_frame_at_home(frames, ip);
		if (unlikely(!argtrace_frame_is_of(frame, ip)) || unlikely(to == limit))
			goto slow;
		what = frame >> 32;
		if (unlikely(what & (ARGTRACE_FRAME_SPECIAL >> 32)))
			break;
		new_sp = sp;
		if (what & (ARGTRACE_FRAME_FROM_BP >> 32)) {
			/* The return address, and rbp below it. */
			if (unlikely((s64)(bp + ((s32)what >> 16) - sp) < 2 * (s64)sizeof(u64)))
				goto slow;
			new_sp = bp;
		}
		new_sp += (s32)what >> 16;
		if (unlikely(new_sp > end))
			goto slow;
		*to++ = ip;
		hash = argtrace_stack_hash(hash, ip);
		ip = argtrace_load_quickly(new_sp - sizeof(u64));
		if (what & (ARGTRACE_FRAME_LOADS_BP >> 32))
			bp = argtrace_load_quickly(new_sp + ((s16)what & ~7));
		sp = new_sp;
	}
	new_sp = sp + ((s32)what >> 16);
	if ((u16)what != (ARGTRACE_FRAME_SPECIAL >> 32 | ARGTRACE_FRAME_REGS << 3) ||
	    new_sp + sizeof(struct pt_regs) > end ||
	    !(argtrace_load_quickly(new_sp + offsetof(struct pt_regs, cs)) & 3))
		goto slow;
	*to++ = ip;
	*result = argtrace_stack_hash(hash, ip);
	return to - room->frames;
slow:
	at->ip = ip;
	at->sp = sp;
	at->bp = bp;
	at->hash = hash;
	at->begin = begin;
	at->count = to - room->frames;
	at->interrupted = false;
	return 0;
}

static __always_inline u32 argtrace_stack_walk_quickly(const u64 *start, u64 bp,
						       struct argtrace_stack_room *room, u32 max,
						       u64 *result)
{
	return argtrace_stack_walk_from(start, bp, room, 0, 0, max, result);
}

/* The same, starting with interrupted code. */
static __always_inline u32 argtrace_stack_walk_interrupted_quickly(const struct argtrace_regs *regs,
								   struct argtrace_stack_room *room,
								   u32 max, u64 *result)
{
	const u64 begin = (u64)task_stack_page(current), ip = regs->regs.ip, sp = regs->regs.sp;
	const u64 frame =
		argtrace_frames[(1u << ARGTRACE_FRAMES_SHIFT) +
				argtrace_frame_home(ip, ARGTRACE_FRAMES_INTERRUPTED_SHIFT)];
	u64 bp = regs->regs.bp, new_sp = sp;

	if (unlikely(sp - begin >= THREAD_SIZE) || unlikely(!argtrace_frame_is_of(frame, ip)) ||
	    unlikely(frame & ARGTRACE_FRAME_SPECIAL))
		goto slow;
	if (frame & ARGTRACE_FRAME_FROM_BP) {
		if (unlikely((s64)(bp + argtrace_frame_sp_offset(frame) - sp) <
			     2 * (s64)sizeof(u64)))
			goto slow;
		new_sp = bp;
	}
	new_sp += argtrace_frame_sp_offset(frame);
	if (unlikely(new_sp > begin + THREAD_SIZE))
		goto slow;
	if (frame & ARGTRACE_FRAME_LOADS_BP)
		bp = argtrace_load_quickly(new_sp + argtrace_frame_bp_offset(frame));
	room->frames[0] = ip;
	return argtrace_stack_walk_from((const u64 *)(new_sp - sizeof(u64)), bp, room, 1,
					argtrace_stack_hash(0, ip), max, result);
slow:
	room->at =
		(struct argtrace_stack_place){ .ip = ip, .sp = sp, .bp = bp, .interrupted = true };
	return 0;
}

/*
 * Continues a walk that argtrace_stack_walk_quickly() or argtrace_stack_walk_interrupted_quickly()
 * has begun.
 */
void argtrace_stack_walk_on(const struct argtrace_stack_start *start,
			    struct argtrace_stack_room *room, u32 max,
			    struct argtrace_walked *walked);

/* The same by the kernel's unwinder alone. */
void argtrace_stack_unwind(const struct argtrace_stack_start *start,
			   struct argtrace_stack_room *room, u32 max,
			   struct argtrace_walked *walked);

#endif
