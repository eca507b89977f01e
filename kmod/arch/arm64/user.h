/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of registers are those of DWARF: DWARF for the Arm 64-bit Architecture, 4.1. They are
 * in this order in struct pt_regs and in struct sigcontext, with the stack pointer behind x30.
 */
#ifndef ARGTRACE_ARCH_ARM64_USER_H
#define ARGTRACE_ARCH_ARM64_USER_H

#include <linux/bits.h>
#include <linux/compat.h>
#include <linux/mm_types.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/types.h>
#include <asm/pointer_auth.h>
#include <asm/ucontext.h>
#include <uapi/argtrace.h>

#define ARGTRACE_CAN_WALK_USER	true
#define ARGTRACE_USER_REGS	32
#define ARGTRACE_USER_FRAME	29
#define ARGTRACE_USER_SP	31
#define ARGTRACE_USER_LINK	30
#define ARGTRACE_USER_PUSHED_LINK	16
#define ARGTRACE_USER_SAVED	ARGTRACE_UNWIND_SAVED_ARM64

/* A frame record may lie anywhere in its function's frame. */
#define ARGTRACE_USER_RECORD_IS_LAST	false

/* x19 to x29: AAPCS64, 6.1.1 */
static const u8 argtrace_user_saved[ARGTRACE_USER_SAVED] = {
	19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
};

#define ARGTRACE_USER_SAVED_FRAME	10

typedef u32 argtrace_user_set;

#define argtrace_user_kept	0xbff80000u

static inline const struct pt_regs *argtrace_user_entry(void)
{
	return is_compat_task() ? NULL : task_pt_regs(current);
}

static __always_inline u64 argtrace_user_ip(const struct pt_regs *regs)
{
	return regs->pc;
}

/* The kernel forgets the system call when it has the task go on elsewhere. */
static __always_inline bool argtrace_user_in_syscall(const struct pt_regs *regs)
{
	return in_syscall(regs);
}

#define ARGTRACE_USER_THREAD_OFFSETS	2

static inline u64 argtrace_user_thread(u64 value)
{
	return value;
}

static __always_inline u64 argtrace_user_frame(const struct pt_regs *regs)
{
	return regs->regs[ARGTRACE_USER_FRAME];
}

static __always_inline u64 argtrace_user_link(const struct pt_regs *regs)
{
	return regs->regs[ARGTRACE_USER_LINK];
}

static_assert(offsetof(struct pt_regs, sp) ==
	      offsetof(struct pt_regs, regs) + ARGTRACE_USER_SP * sizeof(u64));

static inline u64 argtrace_user_register(const struct pt_regs *regs, unsigned int number)
{
	return *((const u64 *)regs + number);
}

#define ARGTRACE_USER_SIGNAL_AT(name) \
	(offsetof(struct ucontext, uc_mcontext) + offsetof(struct sigcontext, name))

static_assert(ARGTRACE_USER_SIGNAL_AT(sp) ==
	      ARGTRACE_USER_SIGNAL_AT(regs) + ARGTRACE_USER_SP * sizeof(u64));

static inline u16 argtrace_user_signal_register(unsigned int number)
{
	return ARGTRACE_USER_SIGNAL_AT(regs) + number * sizeof(u64);
}

static inline u16 argtrace_user_signal_ip(void)
{
	return ARGTRACE_USER_SIGNAL_AT(pc);
}

/* Where the address is signed, the signature is in these bits. */
static __always_inline u64 argtrace_user_code(u64 addr)
{
	return addr & ~ptrauth_user_pac_mask();
}

/* The same in all processes of 64 bits: see argtrace_user_learn(). */
extern u64 argtrace_user_vdso_size;

static inline u64 argtrace_user_vdso(const struct mm_struct *mm, u64 *size)
{
	*size = READ_ONCE(argtrace_user_vdso_size);
	return *size ? (u64)READ_ONCE(mm->context.vdso) : 0;
}

/*
 * BL, BLR, or one of BLRAA, BLRAB, BLRAAZ and BLRABZ: Arm ARM, C4.1.65. It is the last instruction
 * of the two.
 */
static inline bool argtrace_user_calls(u64 bytes)
{
	const u32 last = bytes >> 32;

	return (last & 0xfc000000) == 0x94000000 || (last & 0xfffffc1f) == 0xd63f0000 ||
	       (last & 0xfefff800) == 0xd63f0800;
}

static __always_inline u64 argtrace_user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static inline bool argtrace_user_return_register(const struct pt_regs *regs, u64 *returns_to)
{
	*returns_to = regs->regs[30];
	return true;
}

static inline u64 argtrace_user_return_slot(const struct pt_regs *regs)
{
	return 0;
}

/* A function that returns has its stack pointer back. */
static inline u64 argtrace_user_entry_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

/* Go's ABIInternal: R28. */
static inline u64 argtrace_user_goroutine(const struct pt_regs *regs)
{
	return regs->regs[28];
}

/*
 * A system call that is to be made again has pc back at its instruction, of four bytes. What a
 * function must preserve tells of a signal's handler that has the same stack pointer.
 */
static inline bool argtrace_user_is_still_at(const struct pt_regs *regs, const struct pt_regs *now)
{
	return (now->pc == regs->pc ||
		(argtrace_user_in_syscall(regs) && now->pc == regs->pc - 4)) &&
	       now->sp == regs->sp &&
	       !memcmp(&now->regs[argtrace_user_saved[0]], &regs->regs[argtrace_user_saved[0]],
		       ARGTRACE_USER_SAVED * sizeof(u64));
}

/* In a process, before any stack is walked; may sleep. */
void argtrace_user_learn(void);

#define ARGTRACE_USER_CODE_WORDS	2

/* STP x29, x30, [sp, #-N]! */
static inline bool argtrace_user_pushes_record(u32 insn)
{
	return (insn & 0xffe07fff) == 0xa9a07bfd;
}

/*
 * What code that jumps to a function does before, all of it without the stack: BTI, LDR x16 to x18
 * from beside the code, NOP.
 */
static inline bool argtrace_user_passes(u32 insn)
{
	return (insn & 0xffffff3f) == 0xd503241f || insn == 0xd503201f ||
	       ((insn & 0xff000000) == 0x58000000 && (insn & 31) >= 16 && (insn & 31) <= 18);
}

/*
 * PACIASP or PACIBSP, and the record that functions begin with; BR to x16 or x17, which goes on in
 * another function; AUTIASP, AUTIBSP, RET, RETAA or RETAB.
 */
static inline bool argtrace_user_is_frameless(u32 insn)
{
	return insn == 0xd503233f || insn == 0xd503237f || argtrace_user_pushes_record(insn) ||
	       (insn & 0xffffffdf) == 0xd61f0200 || insn == 0xd50323bf || insn == 0xd50323ff ||
	       insn == 0xd65f03c0 || (insn & 0xfffffbff) == 0xd65f0bff;
}

static inline int argtrace_user_pushed(u64 before, const u64 *words, unsigned int count)
{
	const u32 *code = (const u32 *)words, last = before >> 32;
	unsigned int i;

	/* Behind the record: MOV x29, sp. */
	if (argtrace_user_pushes_record(last) && count && code[0] == 0x910003fd)
		return 512 - (last >> 15 & 0x3f) * 8;
	for (i = 0; i < count * 2; i++) {
		if (argtrace_user_is_frameless(code[i]))
			return 0;
		if (!argtrace_user_passes(code[i]))
			break;
	}
	return -1;
}

#endif
