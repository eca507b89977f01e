/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites know of the machine that the kernel is for. They say by it what the module should find, so it is written anew
 * here, and not taken from kmod/arch.
 *
 *   machine_set_argument()          the n-th argument in registers of a call
 *   machine_set_stack()             the stack pointer of a call, where it is entered
 *   machine_set_others()            gives registers that pass no argument that value
 *   machine_number_user_registers() gives each register of user code its number in the ABI header, and what has none 99
 *   machine_number_results()        gives each register that Go returns values in 100 more than that, and all others 99
 *   machine_user(), machine_user_ip()
 *                                   a register of user code by its number in DWARF, and where the code is
 *   machine_in_user_code()          registers of code that was interrupted there, outside of a system call
 *   machine_in_syscall()            they are in a system call that goes on there; machine_begins_handler(): the task is on its way
 *                                   out of one, to the handler of a signal; machine_leaves_syscall(): it is interrupted there
 *   machine_set_context()           what the kernel keeps for a signal's handler: three registers of what it has interrupted
 *   machine_change_thread()         where the thread has its variables; returns where it was before
 *   MACHINE_HAS_X87                 whether functions return long double in the x87 unit
 *   MACHINE_WATCHES_AFTERWARDS      whether the callback of a watchpoint comes after the access, so that it needs no step over that
 *   OWN_STACK(name)                 declares where the stack of the function begins, from its caller on
 *
 * Registers by their numbers in DWARF: MACHINE_SP, MACHINE_FRAME, two that functions preserve, MACHINE_KEPT and MACHINE_OTHER_KEPT,
 * and one that they do not, MACHINE_SCRATCH. MACHINE_LINK has the return address where a function is entered, if MACHINE_HAS_LINK;
 * else that is on the stack. MACHINE_KEPT_SAVED and MACHINE_FRAME_SAVED are which of those that rules say are saved.
 *
 * By their numbers in the ABI header: MACHINE_NO_ARGUMENT and MACHINE_NO_ARGUMENT_EITHER pass no argument, MACHINE_USER_SP is the stack
 * pointer, MACHINE_GO_ONLY passes an argument of Go's alone, Go returns nothing in MACHINE_NO_RESULT and MACHINE_NO_RESULT_EITHER, and
 * MACHINE_GOROUTINE has the goroutine.
 *
 * Code, 8 bytes each: MACHINE_CALL begins with a call of MACHINE_CALL_LENGTH bytes, MACHINE_CALL_AT_END ends with one,
 * MACHINE_SYSCALL_AT_END with a system call, MACHINE_NO_CALL has none. MACHINE_CALLS and MACHINE_NO_CALLS are lists of what precedes
 * return addresses, and of what does not.
 */
#ifndef ARGTRACE_KUNIT_MACHINE_H
#define ARGTRACE_KUNIT_MACHINE_H

#include <linux/types.h>

#include "arch/regs.h"

#if defined(CONFIG_X86_64)
#include "x86/machine.h"
#elif defined(CONFIG_ARM64)
#include "arm64/machine.h"
#endif

#endif
