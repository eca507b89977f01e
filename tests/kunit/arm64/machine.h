/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_KUNIT_ARM64_MACHINE_H
#define ARGTRACE_KUNIT_ARM64_MACHINE_H

#include <linux/ptrace.h>
#include <asm/pointer_auth.h>
#include <asm/ucontext.h>

#include "arch/walk.h"

static inline void machine_set_argument(struct argtrace_regs *regs, unsigned int index, u64 value)
{
	regs->x[index] = value;
}

static inline void machine_set_stack(struct argtrace_regs *regs, const void *stack)
{
	regs->sp = (unsigned long)stack;
}

static inline void machine_set_others(struct argtrace_regs *regs, u64 value)
{
	regs->x[8] = regs->fp = regs->lr = regs->pc = value;
}

static inline void machine_number_user_registers(struct pt_regs *regs)
{
	unsigned int i;

	*regs = (struct pt_regs){ .sp = 31, .pc = 32, .pstate = 99, .orig_x0 = 99, .syscallno = 99 };
	for (i = 0; i < ARRAY_SIZE(regs->regs); i++)
		regs->regs[i] = i;
}

static inline void machine_number_results(struct pt_regs *regs)
{
	unsigned int i;

	*regs = (struct pt_regs){ .sp = 131, .pc = 99 };
	for (i = 0; i < ARRAY_SIZE(regs->regs); i++)
		regs->regs[i] = i < 16 ? 100 + i : 99;
}

#define MACHINE_NO_ARGUMENT		29
#define MACHINE_NO_ARGUMENT_EITHER	19
#define MACHINE_USER_IP			ARGTRACE_ARM64_PC
#define MACHINE_USER_SP			ARGTRACE_ARM64_SP
#define MACHINE_GO_ONLY			9
#define MACHINE_NO_RESULT		16
#define MACHINE_NO_RESULT_EITHER	30
#define MACHINE_GOROUTINE		28
#define MACHINE_VECTORS			32
#define MACHINE_HAS_X87			false
/* Whether a call is followed where another session or tracer has traced its function as well. */
#define MACHINE_FOLLOWS_BESIDE_OTHERS	0
#define MACHINE_WATCHES_AFTERWARDS	false

enum { MACHINE_SP = 31, MACHINE_FRAME = 29, MACHINE_KEPT = 19, MACHINE_OTHER_KEPT = 24, MACHINE_SCRATCH = 0 };
enum { MACHINE_KEPT_SAVED = 0, MACHINE_FRAME_SAVED = 10 };
#define MACHINE_HAS_LINK		true
#define MACHINE_LINK			30

static inline u64 *machine_user(struct pt_regs *regs, unsigned int number)
{
	return number == MACHINE_SP ? &regs->sp : &regs->regs[number];
}

static inline u64 *machine_user_ip(struct pt_regs *regs)
{
	return &regs->pc;
}

static inline void machine_in_user_code(struct pt_regs *regs, u64 ip, u64 sp)
{
	*regs = (struct pt_regs){ .pc = ip, .sp = sp, .pstate = PSR_MODE_EL0t, .syscallno = NO_SYSCALL };
}

static inline void machine_in_syscall(struct pt_regs *regs, u64 next)
{
	regs->pc = next;
	regs->syscallno = 15;
}

static inline void machine_begins_handler(struct pt_regs *regs, u64 handler)
{
	regs->pc = handler;
	regs->syscallno = NO_SYSCALL;
}

static inline void machine_leaves_syscall(struct pt_regs *regs, u64 ip)
{
	regs->pc = ip;
	regs->syscallno = NO_SYSCALL;
}

static inline void machine_set_context(struct ucontext *context, u64 ip, u64 sp, u64 scratch)
{
	context->uc_mcontext.pc = ip;
	context->uc_mcontext.sp = sp;
	context->uc_mcontext.regs[0] = scratch;
}

/* A rule of a thread that has its goroutine in a register. */
#define MACHINE_BY_THREAD(goroutine, machine, other, pointer) \
	.reg = ARGTRACE_GOROUTINE, .offset = (machine), .at = { other, pointer }
#define MACHINE_FIRST_OF_THREAD		1

static inline u64 machine_change_thread(struct pt_regs *regs, u64 thread, u64 goroutine)
{
	regs->regs[ARGTRACE_GOROUTINE] = goroutine;
	return 0;
}

static inline void machine_restore_thread(u64 before)
{
}

/* BL, SVC and NOP */
#define MACHINE_CALL		0xd503201f94000000ull
#define MACHINE_CALL_LENGTH	4
#define MACHINE_CALL_AT_END	0x94000000d503201full
#define MACHINE_SYSCALL_AT_END	0xd4000001d503201full
#define MACHINE_NO_CALL		0xd503201fd503201full

/* BL, forwards and back; BLR x0, x30; BLRAAZ x0, BLRABZ x16; BLRAA x1, x2, BLRAB x3, sp */
#define MACHINE_CALLS \
	0x94000000d503201f, 0x97fffffed503201f, 0xd63f0000d503201f, 0xd63f03c0d503201f, 0xd63f081fd503201f, 0xd63f0e1fd503201f, \
	0xd73f0822d503201f, 0xd73f0c7fd503201f

/* B; BR x0; RET; BRAAZ x0; a call before another instruction; SVC; and what is no instruction */
#define MACHINE_NO_CALLS \
	0x14000000d503201f, 0xd61f0000d503201f, 0xd65f03c0d503201f, 0xd61f081fd503201f, 0xd503201f94000000, 0xd4000001d503201f, 0, ~0ull

/* A return address that a tracer has replaced, which the kernel alone knows, above the last frame record. */
static inline struct argtrace_stack_start machine_asks_kernel(void)
{
	static const u64 last[4] = { 0, 0, FRAME_META_TYPE_FINAL };

	return (struct argtrace_stack_start){ .sp = (const u64 *)&argtrace_replaced_returns[0], .bp = (unsigned long)last };
}

/* The return address in the record may have been signed. */
#define OWN_STACK(name) \
	const u64 name##_caller = ptrauth_strip_kernel_insn_pac((unsigned long)__builtin_return_address(0)); \
	const struct argtrace_stack_start name = { .sp = &name##_caller, .bp = *(const u64 *)__builtin_frame_address(0) }

#endif
