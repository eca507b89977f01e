/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User code that has entered the kernel: where it was, and what its stack needs to be unwound. The
 * registers are those of user code, and never lead to memory of the kernel's.
 *
 *   ARGTRACE_CAN_WALK_USER    whether stacks of user code are walked; if not, what serves that
 *                             alone is not there
 *   ARGTRACE_USER_REGS        how many registers a rule may name (struct argtrace_unwind_rule)
 *   ARGTRACE_USER_SP, _FRAME  the numbers of the stack pointer and of the frame pointer
 *   ARGTRACE_USER_LINK        that of the register which has the return address when a function is
 *                             entered; ARGTRACE_USER_REGS: the stack has it
 *   ARGTRACE_USER_RECORD_IS_LAST
 *                             whether a function's frame ends with what the frame pointer leads to
 *   argtrace_user_saved       the ARGTRACE_USER_SAVED numbers of those that a function must
 *                             preserve, in the order of the rules; the frame pointer is the
 *                             ARGTRACE_USER_SAVED_FRAME-th. argtrace_user_kept has a bit for each,
 *                             and for the stack pointer: what is known of a caller
 *   argtrace_user_set         a bit for each register
 *   argtrace_user_entry()     the registers with which the current task has entered the kernel, or
 *                             NULL if they are those of 32-bit code
 *   argtrace_user_ip(), argtrace_user_sp(), argtrace_user_frame(), argtrace_user_link(),
 *   argtrace_user_register()  of these
 *   ARGTRACE_USER_PUSHED_LINK how far below CFA it is, of a caller that a signal's handler has made
 *                             call (ARGTRACE_RA_INTERRUPTED)
 *   argtrace_user_thread()    where the way begins that leads to the stack of a goroutine
 *                             (ARGTRACE_CFA_THREAD), by the value of the rule's register: there, or
 *                             at what the current task's own variables are relative to
 *   ARGTRACE_USER_THREAD_OFFSETS
 *                             how many numbers a rule has in at[] for that way
 *   argtrace_user_code()      a return address as the processor goes on at it
 *   argtrace_user_in_syscall()
 *                             whether ip is the address behind the instruction of a system call
 *   argtrace_user_is_still_at()
 *                             whether a task that had those registers, and has these now, has the
 *                             same stack
 *   argtrace_user_signal_register(), argtrace_user_signal_ip()
 *                             where they are in the struct ucontext of a signal, in bytes
 *   argtrace_user_vdso()      where a process has its vdso: the address, or 0, and its size
 *   argtrace_user_learn()     finds out what that takes
 *   argtrace_user_return_register(), argtrace_user_return_slot()
 *                             the address that a function returns to which has been entered,
 *                             where a register has it; otherwise where in memory it is
 *   argtrace_user_entry_sp()  the stack pointer at the entry of a function that has returned
 *   argtrace_user_calls()     whether the last of 8 bytes of code are an instruction that calls
 *   argtrace_user_pushed()    how many bytes a function has pushed that has no frame yet, none any
 *                             more, or never one, as far as its next instructions tell, and the one
 *                             before these; -1: they do not tell
 *   ARGTRACE_USER_CODE_WORDS  how many words of 8 bytes of instructions that looks at
 *   argtrace_user_goroutine() where a function of Go has the address of its goroutine, whenever it
 *                             is entered and when it returns
 */
#ifndef ARGTRACE_ARCH_USER_H
#define ARGTRACE_ARCH_USER_H

#if defined(CONFIG_X86_64)
#include "arch/x86/user.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/user.h"
#endif

#define ARGTRACE_USER_HAS_LINK	(ARGTRACE_USER_LINK < ARGTRACE_USER_REGS)

#endif
