/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a return address says about the frame that it returns to: where the stack pointer, rbp and
 * the next return address are there. The kernel's unwinder searches its tables for that; here, the
 * unwinder is asked once, and the answer is cached.
 *
 * Each address has a single word, so that it can be read and replaced atomically:
 *
 *   bits  0 to 31   the address, whose upper half is the same for all kernel text
 *   bits 32 to 34   ARGTRACE_FRAME_*
 *   bits 35 to 47   the upper bits of an s16 whose lower 3 bits are 0: where rbp was saved,
 *                   relative to the new stack pointer; or
 *                   enum argtrace_frame_other
 *   bits 48 to 63   an s16: the new stack pointer, relative to the old one or to rbp
 *
 * Words come and go at any time. Those for addresses in a module are dropped with it, before its
 * memory can be reused. Addresses in memory that ftrace's trampolines and BPF programs share with
 * modules are not cached, since nothing reports when these are freed. Neither are addresses that
 * the unwinder replaces, such as function_graph's trampoline, to which a function only seems to
 * return. For these, and for all other frames that are not plain, the kernel's unwinder is asked
 * each time.
 */
#ifndef ARGTRACE_ARCH_X86_FRAME_H
#define ARGTRACE_ARCH_X86_FRAME_H

#include <linux/compiler.h>
#include <linux/types.h>

struct module;

/* the new stack pointer is relative to rbp, not to the old one */
#define ARGTRACE_FRAME_FROM_BP		(1ull << 32)
/* rbp was saved, and is different in the new frame */
#define ARGTRACE_FRAME_LOADS_BP		(1ull << 33)
/* with FROM_BP: relative to what the old one points to; else: */
#define ARGTRACE_FRAME_SPECIAL		(1ull << 34)

enum argtrace_frame_other {
	ARGTRACE_FRAME_UNKNOWN	= 0,	/* ask the kernel's unwinder */
	ARGTRACE_FRAME_LAST	= 1,	/* nothing is above it */
	/* at what would be the new stack pointer is a struct pt_regs */
	ARGTRACE_FRAME_REGS	= 2,
};

#define ARGTRACE_FRAME_SP_SHIFT		48
#define ARGTRACE_FRAME_BP_SHIFT		32
#define ARGTRACE_FRAME_OTHER_SHIFT	35

/* Two tables: one for return addresses, one for addresses that have been interrupted. */
#define ARGTRACE_FRAMES_SHIFT			14
#define ARGTRACE_FRAMES_INTERRUPTED_SHIFT	12

/* Both tables, or NULL; they exist while there are sessions with stacks. */
extern u64 *argtrace_frames;

/* The room that asking the unwinder takes. */
#define ARGTRACE_SYMBOL_ROOM	896

static __always_inline bool argtrace_frame_is_of(u64 frame, u64 ip)
{
	return (u64)(s64)(s32)frame == ip;
}

static __always_inline s64 argtrace_frame_sp_offset(u64 frame)
{
	return (s64)frame >> ARGTRACE_FRAME_SP_SHIFT;
}

static __always_inline s64 argtrace_frame_bp_offset(u64 frame)
{
	return (s16)(frame >> ARGTRACE_FRAME_BP_SHIFT) & ~7;
}

static __always_inline enum argtrace_frame_other argtrace_frame_other(u64 frame)
{
	return (u16)(frame >> ARGTRACE_FRAME_BP_SHIFT) >> 3;
}

/* The index of an address's home in the table. */
static __always_inline u32 argtrace_frame_home(u64 ip, unsigned int shift)
{
	return (u32)ip * 0x61C88647u >> (32 - shift);
}

/* The word at the home of a return address. */
static __always_inline u64 argtrace_frame_at_home(const u64 *frames, u64 ip)
{
	/* A single load, which the compiler may make part of another instruction. */
	return frames[argtrace_frame_home(ip, ARGTRACE_FRAMES_SHIFT)];
}

/*
 * The word for an address that is not at its home, or not known yet. If it cannot be found out now,
 * ARGTRACE_FRAME_UNKNOWN, which is not cached. Preemption is off; `room` has ARGTRACE_SYMBOL_ROOM
 * bytes.
 */
u64 argtrace_frame_find(u64 ip, bool interrupted, char *room);

/*
 * A session begins or ceases to use the tables. 0, -ENOMEM, -ENOSPC, -EOPNOTSUPP if the kernel's
 * unwinder is not ORC.
 */
int argtrace_frames_get(void);
void argtrace_frames_put(void);

/* A module has been loaded, goes, or loses its init code: forgets all addresses there. */
void argtrace_frames_forget(const struct module *module, bool only_init);

#endif
