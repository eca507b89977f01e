/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a return address means for the frame that it returns to: where the stack pointer, rbp and the next return address are then.
 * The kernel's unwinder finds that by searching its tables; here it is learned from that unwinder once, and kept.
 *
 * A word is all that is kept of an address, so that it is read and replaced in one piece:
 *
 *   bits  0 to 31   the address, of which the upper half is that of all kernel text
 *   bits 32 to 34   ARGTRACE_FRAME_*
 *   bits 35 to 47   the upper bits of a s16 whose lower 3 are 0: where rbp has been saved, from the new stack pointer; or what
 *                   else is known of the frame, enum argtrace_frame_other
 *   bits 48 to 63   a s16: the new stack pointer, from the old one, or from rbp
 *
 * Words come and go at any time. Those of addresses in a module go with it, before its memory can become somebody else's. Addresses
 * in memory that ftrace's trampolines and BPF programs share with modules are not learned, since nobody says when these go;
 * neither are those that the unwinder replaces, such as function_graph's trampoline, where a function seems to return to
 * and does not. For them, and for whatever else is no plain frame, the kernel's unwinder is asked each time.
 */
#ifndef ARGTRACE_STACK_FRAME_H
#define ARGTRACE_STACK_FRAME_H

#include <linux/compiler.h>
#include <linux/types.h>

struct module;

#define ARGTRACE_FRAME_FROM_BP		(1ull << 32)	/* the new stack pointer is told from rbp, not the old one */
#define ARGTRACE_FRAME_LOADS_BP		(1ull << 33)	/* rbp has been saved, and is another in the new frame */
#define ARGTRACE_FRAME_SPECIAL		(1ull << 34)	/* with FROM_BP: told from what the old one points to; else the next: */

enum argtrace_frame_other {
	ARGTRACE_FRAME_UNKNOWN	= 0,	/* ask the kernel's unwinder */
	ARGTRACE_FRAME_LAST	= 1,	/* nothing is above it */
	ARGTRACE_FRAME_REGS	= 2,	/* at what would be the new stack pointer is a struct pt_regs */
};

#define ARGTRACE_FRAME_SP_SHIFT		48
#define ARGTRACE_FRAME_BP_SHIFT		32
#define ARGTRACE_FRAME_OTHER_SHIFT	35

/* Two tables: of addresses that a call returns to, and of those that have been interrupted. */
#define ARGTRACE_FRAMES_SHIFT			14
#define ARGTRACE_FRAMES_INTERRUPTED_SHIFT	12

/* NULL, or both tables; they stay while there are sessions with stacks. */
extern u64 *argtrace_frames;

/* What learning one takes. */
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

/* Where a word is if it is nowhere else, from the table's begin. */
static __always_inline u32 argtrace_frame_home(u64 ip, unsigned int shift)
{
	return (u32)ip * 0x61C88647u >> (32 - shift);
}

/* The word that is at the home of an address that a call returns to. */
static __always_inline u64 argtrace_frame_at_home(const u64 *frames, u64 ip)
{
	/* One load, which the compiler may make part of another instruction. */
	return frames[argtrace_frame_home(ip, ARGTRACE_FRAMES_SHIFT)];
}

/*
 * The word of an address that is not at its home, or not known yet. With ARGTRACE_FRAME_UNKNOWN, of which nothing is kept, where it
 * cannot be learned now. Preemption is off; `room` has ARGTRACE_SYMBOL_ROOM bytes.
 */
u64 argtrace_frame_find(u64 ip, bool interrupted, char *room);

/* A session begins or ceases to use the tables. 0, -ENOMEM, -ENOSPC, -EOPNOTSUPP: the kernel's unwinder has no such tables. */
int argtrace_frames_get(void);
void argtrace_frames_put(void);

/* A module has been loaded, goes, or loses its init code: whatever is known of addresses there is forgotten. */
void argtrace_frames_forget(const struct module *module, bool only_init);

#endif
