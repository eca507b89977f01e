// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cache.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/pgtable.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "arch/text.h"
#include "arch/walk.h"
#include "arch/x86/unwind.h"
#include "base/hook.h"
#include "base/memory.h"
#include "base/recursion.h"

#define FRAMES		(1u << ARGTRACE_FRAMES_SHIFT)
#define INTERRUPTED	(1u << ARGTRACE_FRAMES_INTERRUPTED_SHIFT)
#define WORDS		(FRAMES + INTERRUPTED)

/*
 * How far from its home a word may be. If there is no free place, it replaces the word at its home.
 */
#define STEPS		8

/*
 * A fake stack to ask the unwinder about. Offsets are 16 bits wide, so that those from the stack
 * pointer stay in the first quarter, and those from rbp in the third. Each word of a quarter
 * contains the address of the same place in the next quarter, so that a value which the unwinder
 * has read reveals that it comes from memory, and from where.
 */
#define QUARTER		(64 * 1024ul)
#define FAKE_WORDS	(4 * QUARTER / sizeof(u64))

u64 *argtrace_frames __read_mostly;
static u64 *fake_stack __read_mostly;

static DEFINE_MUTEX(frames_lock);	/* users, and forgetting */
static u32 nr_users;
static u32 forgotten;			/* changes before words are forgotten */

static u64 other_frame(enum argtrace_frame_other other, s64 offset)
{
	return ARGTRACE_FRAME_SPECIAL | (u64)other << ARGTRACE_FRAME_OTHER_SHIFT |
	       (u64)offset << ARGTRACE_FRAME_SP_SHIFT;
}

static const u64 unknown_frame = ARGTRACE_FRAME_SPECIAL;

/* The word that the fake stack has at an address. */
static u64 fake_word(u64 at)
{
	return at + QUARTER;
}

static bool is_in_quarter(u64 addr, unsigned int quarter)
{
	return addr - (u64)fake_stack - quarter * QUARTER < QUARTER;
}

/* The frame of an interrupt or exception: all registers, at an offset from the stack pointer. */
static u64 regs_frame(const struct argtrace_unwound *unwound, u64 sp)
{
	const u64 regs = (u64)unwound->regs;

	if (!unwound->full_regs || !unwound->interrupted || !is_in_quarter(regs, 0) || regs < sp ||
	    !IS_ALIGNED(regs, 8) || unwound->ip != fake_word(regs + offsetof(struct pt_regs, ip)) ||
	    unwound->sp != fake_word(regs + offsetof(struct pt_regs, sp)) ||
	    unwound->bp != fake_word(regs + offsetof(struct pt_regs, bp)))
		return unknown_frame;
	return other_frame(ARGTRACE_FRAME_REGS, regs - sp);
}

static u64 call_frame(const struct argtrace_unwound *unwound, u64 sp, u64 bp)
{
	u64 frame = 0;
	s64 offset, saved;

	if (unwound->interrupted || unwound->ip != fake_word(unwound->sp - sizeof(u64)))
		return unknown_frame;
	if (is_in_quarter(unwound->sp, 0)) {
		offset = unwound->sp - sp;
		if (offset < 8)
			return unknown_frame;
	} else if (is_in_quarter(unwound->sp, 1)) {
		offset = unwound->sp - fake_word(sp);
		frame = ARGTRACE_FRAME_SPECIAL | ARGTRACE_FRAME_FROM_BP;
	} else if (is_in_quarter(unwound->sp, 2)) {
		offset = unwound->sp - bp;
		frame = ARGTRACE_FRAME_FROM_BP;
	} else {
		return unknown_frame;
	}
	saved = unwound->bp - fake_word(unwound->sp);
	if (unwound->bp != bp) {
		/*
		 * Within what the walk has checked to be on the stack: below the return address,
		 * and not below the frame.
		 */
		if (saved > -16 || saved < (frame ? -16 : -offset))
			return unknown_frame;
		frame |= ARGTRACE_FRAME_LOADS_BP | (u64)(u16)saved << ARGTRACE_FRAME_BP_SHIFT;
	}
	if (offset % 8 || saved % 8)
		return unknown_frame;
	return frame | (u64)offset << ARGTRACE_FRAME_SP_SHIFT;
}

/* Asks the kernel's unwinder about the address. Returns a word without the address itself. */
static u64 ask_unwinder(u64 ip, bool interrupted)
{
	const u64 sp = (u64)fake_stack + QUARTER / 2, bp = sp + 2 * QUARTER;
	struct argtrace_unwound unwound = {
		.ip = ip, .sp = sp, .bp = bp, .interrupted = interrupted
	};
	/* The unwinder would log what is wrong with the current task's stack. */
	struct task_struct *task = current == &init_task ? init_pid_ns.child_reaper : &init_task;

	if (!argtrace_unwind_fake(&unwound, task, fake_stack, fake_stack + FAKE_WORDS))
		return unknown_frame;
	if (unwound.is_last)
		return other_frame(ARGTRACE_FRAME_LAST, 0);
	return unwound.regs ? regs_frame(&unwound, sp) : call_frame(&unwound, sp, bp);
}

/*
 * Whether the unwinder may replace an address, as it does for the first address of a trampoline.
 * Hardly any call returns to the first address of a function, but functions are often interrupted
 * there.
 */
static bool is_replaced(const char *symbol, bool interrupted)
{
	if (!strstr(symbol, "+0x0/"))
		return false;
	return !interrupted || strstr(symbol, "rethook") || strstr(symbol, "kretprobe") ||
	       strstr(symbol, "return_to_handler");
}

/*
 * Whether an address is in code that stays until argtrace_frames_forget() is called for it, and is
 * not replaced by the unwinder.
 */
static bool is_lasting(u64 ip, bool interrupted, char *symbol)
{
	const char *end, *module;

	static_assert(KSYM_SYMBOL_LEN <= ARGTRACE_SYMBOL_ROOM);
	sprint_symbol(symbol, ip);
	if (symbol[0] == '0' || is_replaced(symbol, interrupted))
		return false;
	if (ip < MODULES_VADDR)
		return true;
	module = strrchr(symbol, '[');
	end = module ? strchr(module, ']') : NULL;
	return end && strncmp(module, "[__builtin__", 12) && strncmp(module, "[bpf]", 5);
}

/*
 * Stores the word in a free place near its home, or else in place of another: at its home, or next
 * to it where the word at home is that of address 0, which stays.
 */
static u64 *keep(u64 *table, unsigned int shift, u64 frame, u64 ip)
{
	u32 at = argtrace_frame_home(ip, shift), step;
	u64 *place;

	for (step = 0; step < STEPS; step++) {
		place = &table[(at + step) & ((1u << shift) - 1)];
		if (!cmpxchg(place, 0, frame))
			return place;
	}
	place = &table[at == argtrace_frame_home(0, shift) ? at + 1 : at];
	xchg(place, frame);
	return place;
}

u64 argtrace_frame_find(u64 ip, bool interrupted, char *room)
{
	const unsigned int shift = interrupted ? ARGTRACE_FRAMES_INTERRUPTED_SHIFT :
						 ARGTRACE_FRAMES_SHIFT;
	u64 *table = argtrace_frames + (interrupted ? FRAMES : 0), *place, frame;
	u32 at = argtrace_frame_home(ip, shift), step, generation;

	/* No word is kept for these. A place that is free would be one for address 0. */
	if (ip < __START_KERNEL_map)
		return unknown_frame;
	for (step = 0; step < STEPS; step++) {
		frame = READ_ONCE(table[(at + step) & ((1u << shift) - 1)]);
		if (argtrace_frame_is_of(frame, ip))
			return frame;
	}
	if (!argtrace_recursion_enter())
		return unknown_frame;
	generation = READ_ONCE(forgotten);
	ARGTRACE_HOOK(FRAME_LEARNED);
	frame = is_lasting(ip, interrupted, room) ? ask_unwinder(ip, interrupted) : unknown_frame;
	argtrace_recursion_leave();
	frame |= (u32)ip;
	place = keep(table, shift, frame, ip);
	/*
	 * The module whose address it is may have been forgotten while the unwinder was asked.
	 * keep() is a full barrier, which pairs with that of argtrace_frames_forget(): either the
	 * word is found there, or we see here that we are too late.
	 */
	if (unlikely(READ_ONCE(forgotten) != generation))
		cmpxchg(place, frame, 0);
	return frame;
}

static u64 charge(void)
{
	return argtrace_kvmalloc_size(WORDS * sizeof(u64)) +
	       argtrace_kvmalloc_size(FAKE_WORDS * sizeof(u64));
}

static int create(void)
{
	u64 *frames;
	int ret;
	u32 i;

	if (!ARGTRACE_CAN_WALK)
		return -EOPNOTSUPP;
	ret = argtrace_memory_charge(charge());
	if (ret)
		return ret;
	frames = argtrace_kvzalloc(WORDS * sizeof(*frames));
	fake_stack = argtrace_kvmalloc(FAKE_WORDS * sizeof(*fake_stack));
	if (!frames || !fake_stack) {
		kvfree(frames);
		kvfree(fake_stack);
		argtrace_memory_uncharge(charge());
		return -ENOMEM;
	}
	/*
	 * A word of zeros would be a plain frame at address 0, which returns to itself for ever:
	 * argtrace_frame_at_home() finds this one instead, and keep() leaves it there.
	 */
	frames[argtrace_frame_home(0, ARGTRACE_FRAMES_SHIFT)] = unknown_frame;
	for (i = 0; i < FAKE_WORDS; i++)
		fake_stack[i] = fake_word((u64)(fake_stack + i));
	/* No call uses it before the session knows that it exists, and is armed under its lock. */
	WRITE_ONCE(argtrace_frames, frames);
	return 0;
}

int argtrace_frames_get(void)
{
	int ret = 0;

	mutex_lock(&frames_lock);
	if (!nr_users)
		ret = create();
	nr_users += !ret;
	mutex_unlock(&frames_lock);
	return ret;
}

void argtrace_frames_put(void)
{
	mutex_lock(&frames_lock);
	if (!--nr_users) {
		kvfree(argtrace_frames);
		kvfree(fake_stack);
		argtrace_frames = NULL;
		fake_stack = NULL;
		argtrace_memory_uncharge(charge());
	}
	mutex_unlock(&frames_lock);
}

void argtrace_frames_forget(const struct module *module, bool only_init)
{
	u32 i;

	mutex_lock(&frames_lock);
	WRITE_ONCE(forgotten, forgotten + 1);
	/* Pairs with keep(). */
	smp_mb();
	for (i = 0; argtrace_frames && i < WORDS; i++) {
		const u64 ip = (s32)READ_ONCE(argtrace_frames[i]);

		if (ip && (only_init ? within_module_init(ip, module) : within_module(ip, module)))
			WRITE_ONCE(argtrace_frames[i], 0);
		if (i % 4096 == 0)
			cond_resched();
	}
	mutex_unlock(&frames_lock);
}
