/* SPDX-License-Identifier: GPL-2.0-only */
/* The numbers of registers are those of DWARF: System V x86-64 psABI, figure 3.36. */
#ifndef ARGTRACE_ARCH_X86_USER_H
#define ARGTRACE_ARCH_X86_USER_H

#include <linux/mm_types.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include <asm/fsgsbase.h>
#include <asm/sigcontext.h>
#include <asm/ucontext.h>
#include <asm/vdso.h>
#include <uapi/argtrace.h>

#define ARGTRACE_CAN_WALK_USER	true
#define ARGTRACE_USER_REGS	16
#define ARGTRACE_USER_FRAME	6
#define ARGTRACE_USER_SP	7
#define ARGTRACE_USER_LINK	ARGTRACE_USER_REGS
#define ARGTRACE_USER_PUSHED_LINK	0
#define ARGTRACE_USER_SAVED	ARGTRACE_UNWIND_SAVED_X86_64

/* Behind the frame pointer and the return address is the caller's frame. */
#define ARGTRACE_USER_RECORD_IS_LAST	true

/* rbx, rbp, r12 to r15: psABI, 3.2.1 */
static const u8 argtrace_user_saved[ARGTRACE_USER_SAVED] = { 3, 6, 12, 13, 14, 15 };

#define ARGTRACE_USER_SAVED_FRAME	1

typedef u16 argtrace_user_set;

#define argtrace_user_kept	0xf0c8

static inline const struct pt_regs *argtrace_user_entry(void)
{
	const struct pt_regs *regs = task_pt_regs(current);

	return user_64bit_mode((struct pt_regs *)regs) ? regs : NULL;
}

static __always_inline u64 argtrace_user_ip(const struct pt_regs *regs)
{
	return regs->ip;
}

/*
 * The instruction leaves ip in cx as well, until the kernel has the task go on elsewhere: in a
 * signal's handler, or in a new program. Under FRED it does not, so that there such a place counts
 * as any other that was interrupted.
 */
static __always_inline bool argtrace_user_in_syscall(const struct pt_regs *regs)
{
	return regs->cx == regs->ip && (long)regs->orig_ax >= 0;
}

/*
 * A system call that is to be made again has ip back at its instruction, of two bytes. What a
 * function must preserve tells of a signal's handler that has the same stack pointer.
 */
static inline bool argtrace_user_is_still_at(const struct pt_regs *regs, const struct pt_regs *now)
{
	return (now->ip == regs->ip ||
		(argtrace_user_in_syscall(regs) && now->ip == regs->ip - 2)) &&
	       now->sp == regs->sp && now->bp == regs->bp && now->bx == regs->bx &&
	       now->r12 == regs->r12 && now->r13 == regs->r13 && now->r14 == regs->r14 &&
	       now->r15 == regs->r15;
}

static __always_inline u64 argtrace_user_sp(const struct pt_regs *regs)
{
	return regs->sp;
}

static inline bool argtrace_user_return_register(const struct pt_regs *regs, u64 *returns_to)
{
	return false;
}

static inline u64 argtrace_user_return_slot(const struct pt_regs *regs)
{
	return regs->sp;
}

static inline u64 argtrace_user_entry_sp(const struct pt_regs *regs)
{
	return regs->sp - sizeof(u64);
}

/* Go's ABIInternal: cmd/compile/abi-internal.md */
static inline u64 argtrace_user_goroutine(const struct pt_regs *regs)
{
	return regs->r14;
}

#define ARGTRACE_USER_THREAD_OFFSETS	3

/* The kernel has no use for it, so that the processor still has the task's. */
static inline u64 argtrace_user_thread(u64 value)
{
	return x86_fsbase_read_cpu();
}

static __always_inline u64 argtrace_user_frame(const struct pt_regs *regs)
{
	return regs->bp;
}

static inline u64 argtrace_user_register(const struct pt_regs *regs, unsigned int number)
{
	static const u8 places[ARGTRACE_USER_REGS] = {
		offsetof(struct pt_regs, ax),  offsetof(struct pt_regs, dx),
		offsetof(struct pt_regs, cx),  offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, si),  offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, bp),  offsetof(struct pt_regs, sp),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	return *(const u64 *)((const u8 *)regs + places[number]);
}

#define ARGTRACE_USER_SIGNAL_AT(name) \
	(offsetof(struct ucontext, uc_mcontext) + offsetof(struct sigcontext_64, name))

static inline u16 argtrace_user_signal_register(unsigned int number)
{
	static const u16 places[ARGTRACE_USER_REGS] = {
		ARGTRACE_USER_SIGNAL_AT(ax),  ARGTRACE_USER_SIGNAL_AT(dx),
		ARGTRACE_USER_SIGNAL_AT(cx),  ARGTRACE_USER_SIGNAL_AT(bx),
		ARGTRACE_USER_SIGNAL_AT(si),  ARGTRACE_USER_SIGNAL_AT(di),
		ARGTRACE_USER_SIGNAL_AT(bp),  ARGTRACE_USER_SIGNAL_AT(sp),
		ARGTRACE_USER_SIGNAL_AT(r8),  ARGTRACE_USER_SIGNAL_AT(r9),
		ARGTRACE_USER_SIGNAL_AT(r10), ARGTRACE_USER_SIGNAL_AT(r11),
		ARGTRACE_USER_SIGNAL_AT(r12), ARGTRACE_USER_SIGNAL_AT(r13),
		ARGTRACE_USER_SIGNAL_AT(r14), ARGTRACE_USER_SIGNAL_AT(r15),
	};

	return places[number];
}

static inline u16 argtrace_user_signal_ip(void)
{
	return ARGTRACE_USER_SIGNAL_AT(ip);
}

static __always_inline u64 argtrace_user_link(const struct pt_regs *regs)
{
	return 0;
}

static __always_inline u64 argtrace_user_code(u64 addr)
{
	return addr;
}

static inline void argtrace_user_learn(void)
{
}

static inline u64 argtrace_user_vdso(const struct mm_struct *mm, u64 *size)
{
	const struct vdso_image *image = READ_ONCE(mm->context.vdso_image);

	*size = image ? image->size : 0;
	return image ? (u64)READ_ONCE(mm->context.vdso) : 0;
}

/* An operand of FF /2: how many bytes follow the opcode, or 0 if it is another instruction. */
static inline unsigned int argtrace_indirect_call_length(u8 modrm, u8 sib)
{
	const u8 mod = modrm >> 6, rm = modrm & 7;
	const unsigned int with_sib = mod != 3 && rm == 4;

	if ((modrm & 0x38) != 0x10)
		return 0;
	switch (mod) {
	case 0:
		return 1 + with_sib + (rm == 5 || (with_sib && (sib & 7) == 5) ? 4 : 0);
	case 1:
		return 2 + with_sib;
	case 2:
		return 5 + with_sib;
	default:
		return 1;
	}
}

/*
 * CALL rel32 (E8) or CALL r/m64 (FF /2), Intel SDM, volume 2, "CALL". Prefixes do not matter, as
 * they precede the opcode. Bytes may look like a call without being one; what looks like none is
 * none.
 */
static inline bool argtrace_user_calls(u64 bytes)
{
	unsigned int length;

	/* The most frequent ones first: also CALL [RIP + disp32], through a table of addresses. */
	if ((u8)(bytes >> 24) == 0xe8 || (u16)(bytes >> 16) == 0x15ff)
		return true;
	for (length = 1; length <= 6; length++) {
		const u64 end = bytes >> (7 - length) * 8;

		if ((u8)end == 0xff &&
		    argtrace_indirect_call_length(end >> 8, length > 1 ? end >> 16 : 0) == length)
			return true;
	}
	return false;
}

#define ARGTRACE_USER_CODE_WORDS	4

/*
 * The length of an instruction by which code that jumps to a function passes it a value, or of
 * ENDBR64: LEA, MOV [RIP + disp32] or MOV imm to r10 or r11. 0: it is another one.
 */
static inline unsigned int argtrace_user_passing_length(const u8 *code)
{
	if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)
		return 4;
	if (code[0] == 0x4c && (code[1] == 0x8b || code[1] == 0x8d) && (code[2] & 0xf7) == 0x15)
		return 7;
	if (code[0] == 0x49 && (code[1] & 0xfe) == 0xba)
		return 10;
	if (code[0] == 0x41 && (code[1] & 0xfe) == 0xba)
		return 6;
	return 0;
}

/*
 * RET; PUSH RBP, by which functions with a frame pointer begin; JMP [RIP + disp32] and JMP to r10
 * or r11, which go on in another function.
 */
static inline bool argtrace_user_is_frameless(const u8 *code)
{
	return code[0] == 0xc3 || code[0] == 0xc2 || code[0] == 0x55 ||
	       (code[0] == 0xff && code[1] == 0x25) ||
	       ((code[0] & 0xf7) == 0x41 && code[1] == 0xff && (code[2] & 0xfe) == 0xe2);
}

/* Closures of libffi, and nested functions of GCC, are three or four instructions. */
static inline int argtrace_user_pushed(u64 before, const u64 *words, unsigned int count)
{
	const u8 *code = (const u8 *)words, *end = code + count * sizeof(*words);
	unsigned int length;

	/* Behind PUSH RBP: MOV RBP, RSP, in either of two encodings. */
	if ((u8)(before >> 56) == 0x55 && count &&
	    (((u32)words[0] & 0xffffff) == 0xe58948 || ((u32)words[0] & 0xffffff) == 0xec8b48))
		return sizeof(u64);
	for (; code + sizeof(u32) <= end; code += length) {
		if (argtrace_user_is_frameless(code))
			return 0;
		length = argtrace_user_passing_length(code);
		if (!length)
			break;
	}
	return -1;
}

#endif
