/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel has frame records: {x29 of the caller, return address}, which x29 leads along. An
 * exception adds one with the address of the interruption, and the last one is zeros
 * (arch/arm64/kernel/stacktrace.c, entry.S). Since Linux 6.13 both are zeros, with a type beside
 * them; that of an exception is among the registers of what was interrupted.
 */
#ifndef ARGTRACE_ARCH_ARM64_WALK_H
#define ARGTRACE_ARCH_ARM64_WALK_H

#include <linux/bitops.h>
#include <linux/kconfig.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/load.h"
#include "arch/regs.h"

#if __has_include("asm/stacktrace/frame.h")
#include <asm/stacktrace/frame.h>
#define ARGTRACE_RECORDS_HAVE_TYPES	true
#else
#define ARGTRACE_RECORDS_HAVE_TYPES	false
#define FRAME_META_TYPE_FINAL		1
#define FRAME_META_TYPE_PT_REGS		2
#endif

struct module;

#define ARGTRACE_CAN_WALK	IS_ENABLED(CONFIG_FRAME_POINTER)

/*
 * Where a walk begins: the address at *sp is the innermost one, and bp leads to the record of its
 * function; or, with `regs`, at the code that they say was interrupted.
 */
struct argtrace_stack_start {
	const u64 *sp;
	u64 bp;
	const struct argtrace_regs *regs;
};

/* Frames that a walk of the kernel's finds first: of ours, of ftrace, and of an interrupt. */
#define ARGTRACE_STACK_OWN	40

/* The memory that a walk takes, for itself alone. */
struct argtrace_stack_room {
	u64 frames[ARGTRACE_STACK_DEPTH_MAX + 1 + ARGTRACE_STACK_OWN];
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

/*
 * What tracers have functions return to in place of their callers: function_graph's and
 * kretprobes' trampolines.
 */
extern unsigned long argtrace_replaced_returns[2];

static __always_inline u64 argtrace_stack_hash(u64 hash, u64 ip)
{
	return (rol64(hash, 23) ^ ip) * 0x9e3779b97f4a7c15ull;
}

enum argtrace_frame_record {
	ARGTRACE_RECORD_OF_CALL,	/* or of an exception */
	ARGTRACE_RECORD_LAST,
	ARGTRACE_RECORD_UNKNOWN,
};

#define argtrace_load_from_regs(regs, member) \
	argtrace_load_quickly((regs) + offsetof(argtrace_full_regs, member))

/* What the record at `fp` has: the next one, and an address without signature; of a call alone. */
static __always_inline enum argtrace_frame_record argtrace_read_record(u64 fp, u64 *next, u64 *ip)
{
	u64 type, regs;

	*next = argtrace_load_quickly(fp);
	*ip = argtrace_load_quickly(fp + sizeof(u64));
	if (!*next && !*ip) {
		if (!ARGTRACE_RECORDS_HAVE_TYPES)
			return ARGTRACE_RECORD_LAST;
		type = argtrace_load_quickly(fp + 2 * sizeof(u64));
		if (likely(type == FRAME_META_TYPE_FINAL))
			return ARGTRACE_RECORD_LAST;
		if (type != FRAME_META_TYPE_PT_REGS)
			return ARGTRACE_RECORD_UNKNOWN;
		regs = fp - offsetof(argtrace_full_regs, stackframe);
		*ip = argtrace_load_from_regs(regs, pc);
		*next = argtrace_load_from_regs(regs, regs[29]);
	}
	*ip = argtrace_strip_signature(*ip);
	return ARGTRACE_RECORD_OF_CALL;
}

static inline bool argtrace_record_is_on_stack_of(const struct task_struct *task, u64 fp)
{
	return fp - (u64)task_stack_page(task) <= THREAD_SIZE - 2 * sizeof(u64);
}

/*
 * Whether the record `next` may follow `fp`: above it on the same stack, or on the task's after one
 * of the CPU's, from which no walk returns.
 */
bool argtrace_record_may_follow(const struct task_struct *task, u64 fp, u64 next);

/*
 * Walks from the record at `fp` on the current task's stack. Calls no function, and uses no memory
 * but `room`, which already contains `count` addresses with that hash. Returns how many addresses
 * there are, or 0 if argtrace_stack_walk_on() has to start over.
 */
static __always_inline u32 argtrace_stack_walk_from(u64 fp, struct argtrace_stack_room *room,
						    u32 count, u64 hash, u32 max, u64 *result)
{
	const u64 begin = (u64)task_stack_page(current);
	u64 *to = room->frames + count, *const limit = room->frames + max;
	enum argtrace_frame_record record;
	u64 next, ip;

	for (;;) {
		if (unlikely(fp - begin > THREAD_SIZE - 2 * sizeof(u64)) || unlikely(fp & 7))
			return 0;
		record = argtrace_read_record(fp, &next, &ip);
		if (record == ARGTRACE_RECORD_LAST)
			break;
		if (unlikely(record == ARGTRACE_RECORD_UNKNOWN))
			return 0;
		if (unlikely(next <= fp) || unlikely(to == limit) ||
		    unlikely(ip == argtrace_replaced_returns[0]) ||
		    unlikely(ip == argtrace_replaced_returns[1]))
			return 0;
		*to++ = ip;
		hash = argtrace_stack_hash(hash, ip);
		fp = next;
	}
	*result = hash;
	return to - room->frames;
}

static __always_inline u32 argtrace_stack_walk_quickly(const u64 *start, u64 bp,
						       struct argtrace_stack_room *room, u32 max,
						       u64 *result)
{
	const u64 ip = *start;

	if (unlikely(ip == argtrace_replaced_returns[0]) ||
	    unlikely(ip == argtrace_replaced_returns[1]))
		return 0;
	room->frames[0] = ip;
	return argtrace_stack_walk_from(bp, room, 1, argtrace_stack_hash(0, ip), max, result);
}

/* The same, starting with interrupted code. */
static __always_inline u32 argtrace_stack_walk_interrupted_quickly(const struct argtrace_regs *regs,
								   struct argtrace_stack_room *room,
								   u32 max, u64 *result)
{
	const argtrace_full_regs *full = argtrace_full_regs_of(regs);

	room->frames[0] = full->pc;
	return argtrace_stack_walk_from(full->regs[29], room, 1,
					argtrace_stack_hash(0, full->pc), max, result);
}

/* What the quick walks do not do. */
void argtrace_stack_walk_on(const struct argtrace_stack_start *start,
			    struct argtrace_stack_room *room, u32 max,
			    struct argtrace_walked *walked);

/* Nothing is cached. */
int argtrace_frames_get(void);

static inline void argtrace_frames_put(void)
{
}

static inline void argtrace_frames_forget(const struct module *module, bool only_init)
{
}

#endif
