/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_KUNIT_X86_MACHINE_H
#define ARGTRACE_KUNIT_X86_MACHINE_H

#include <linux/ptrace.h>
#include <asm/fsgsbase.h>
#include <asm/segment.h>
#include <asm/ucontext.h>

#include "arch/walk.h"

static inline void machine_set_argument(struct argtrace_regs *regs, unsigned int index, u64 value)
{
	unsigned long *const places[] = {
		&regs->regs.di, &regs->regs.si, &regs->regs.dx, &regs->regs.cx, &regs->regs.r8, &regs->regs.r9,
	};

	*places[index] = value;
}

static inline void machine_set_stack(struct argtrace_regs *regs, const void *stack)
{
	regs->regs.sp = (unsigned long)stack;
}

static inline void machine_set_others(struct argtrace_regs *regs, u64 value)
{
	regs->regs.ax = regs->regs.bx = regs->regs.r10 = regs->regs.r11 = value;
}

static inline void machine_number_user_registers(struct pt_regs *regs)
{
	*regs = (struct pt_regs){
		.di = 0, .si = 1, .dx = 2, .cx = 3, .r8 = 4, .r9 = 5, .ax = 6, .bx = 7, .bp = 8, .sp = 9, .r10 = 10, .r11 = 11,
		.r12 = 12, .r13 = 13, .r14 = 14, .r15 = 15, .ip = 16, .orig_ax = 99, .flags = 99, .cs = 99, .ss = 99,
	};
}

static inline void machine_number_results(struct pt_regs *regs)
{
	*regs = (struct pt_regs){
		.di = 100, .si = 101, .dx = 99, .cx = 103, .r8 = 104, .r9 = 105, .ax = 106, .bx = 107, .bp = 99, .sp = 109, .r10 = 110,
		.r11 = 111, .r12 = 99, .r13 = 99, .r14 = 99, .r15 = 99, .ip = 99,
	};
}

#define MACHINE_NO_ARGUMENT		ARGTRACE_X86_64_RBP
#define MACHINE_NO_ARGUMENT_EITHER	ARGTRACE_X86_64_RBX
#define MACHINE_USER_IP			ARGTRACE_X86_64_RIP
#define MACHINE_USER_SP			ARGTRACE_X86_64_RSP
#define MACHINE_GO_ONLY			ARGTRACE_X86_64_RAX
#define MACHINE_NO_RESULT		ARGTRACE_X86_64_R12
#define MACHINE_NO_RESULT_EITHER	2
#define MACHINE_GOROUTINE		ARGTRACE_X86_64_R14
#define MACHINE_VECTORS			16
#define MACHINE_HAS_X87			true
/* Whether a call is followed where another session or tracer has traced its function as well. */
#define MACHINE_FOLLOWS_BESIDE_OTHERS	1
#define MACHINE_WATCHES_AFTERWARDS	true

enum { MACHINE_SP = 7, MACHINE_FRAME = 6, MACHINE_KEPT = 3, MACHINE_OTHER_KEPT = 12, MACHINE_SCRATCH = 5 };
enum { MACHINE_KEPT_SAVED = 0, MACHINE_FRAME_SAVED = 1 };
#define MACHINE_HAS_LINK		false
#define MACHINE_LINK			0

static inline unsigned long *machine_user(struct pt_regs *regs, unsigned int number)
{
	return number == MACHINE_SP ? &regs->sp : number == MACHINE_FRAME ? &regs->bp : number == MACHINE_KEPT ? &regs->bx :
	       number == MACHINE_OTHER_KEPT ? &regs->r12 : &regs->di;
}

static inline unsigned long *machine_user_ip(struct pt_regs *regs)
{
	return &regs->ip;
}

static inline void machine_in_user_code(struct pt_regs *regs, u64 ip, u64 sp)
{
	*regs = (struct pt_regs){ .ip = ip, .sp = sp, .cs = __USER_CS, .orig_ax = -1 };
}

static inline void machine_in_syscall(struct pt_regs *regs, u64 next)
{
	regs->ip = regs->cx = next;
	regs->orig_ax = 15;
}

static inline void machine_begins_handler(struct pt_regs *regs, u64 handler)
{
	regs->ip = handler;
	regs->cx = handler + 8;
}

static inline void machine_leaves_syscall(struct pt_regs *regs, u64 ip)
{
	regs->ip = regs->cx = ip;
	regs->orig_ax = -1;
}

static inline void machine_set_context(struct ucontext *context, u64 ip, u64 sp, u64 scratch)
{
	context->uc_mcontext.ip = ip;
	context->uc_mcontext.sp = sp;
	context->uc_mcontext.di = scratch;
}

/* A rule of a thread, whose memory has the address of its goroutine at the first number. */
#define MACHINE_BY_THREAD(goroutine, machine, other, pointer) \
	.reg = MACHINE_SP, .offset = (goroutine), .at = { machine, other, pointer }
#define MACHINE_FIRST_OF_THREAD		0

static inline u64 machine_change_thread(struct pt_regs *regs, u64 thread, u64 goroutine)
{
	const u64 before = x86_fsbase_read_cpu();

	x86_fsbase_write_cpu(thread);
	return before;
}

static inline void machine_restore_thread(u64 before)
{
	x86_fsbase_write_cpu(before);
}

/* CALL rel32, and NOP */
#define MACHINE_CALL		0x90909000000000e8ull
#define MACHINE_CALL_LENGTH	5
#define MACHINE_CALL_AT_END	0x00000000e8909090ull
#define MACHINE_SYSCALL_AT_END	0x050f909090909090ull
#define MACHINE_NO_CALL		0x9090909090909090ull

/* *%rax, *%r8; *(%rax), *(%rsp); *8(%rax), *8(%rsp); *x(%rip), *0x1000(%rax); *0x1000(%rsp), *0x1000(,%rax,8) */
#define MACHINE_CALLS \
	0x00000000e8909090, 0xd0ff909090909090, 0xd0ff419090909090, 0x10ff909090909090, 0x2414ff9090909090, 0x0850ff9090909090, \
	0x082454ff90909090, 0x0000123415ff9090, 0x0000100090ff9090, 0x000010002494ff90, 0x00001000c514ff90

/* jmp, jmp *%rax, jmp *x(%rip), and what is no instruction */
#define MACHINE_NO_CALLS \
	0x00000000e9909090, 0xe0ff909090909090, 0x0000123425ff9090, 0x9090909090909090, 0, ~0ull

/* A stack without frames, of which the unwinder of the kernel alone may know something. */
static inline struct argtrace_stack_start machine_asks_kernel(void)
{
	static const u64 nothing[4];

	return (struct argtrace_stack_start){ .sp = nothing };
}

#define OWN_STACK(name) \
	const struct argtrace_stack_start name = { \
		.sp = (const u64 *)__builtin_frame_address(0) + 1, .bp = *(const u64 *)__builtin_frame_address(0), \
	}

#endif
