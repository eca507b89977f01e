/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of a call, at the entry of the function; of code that has been interrupted; or of
 * what stands for a call. They are those of kernel code: their stack is the kernel's, and may be
 * read plainly and unwound.
 *
 *   struct argtrace_regs            is complete only for those who make one. Members are for arch/
 *                                   alone
 *   argtrace_full_regs              the kernel's type for all registers, which its own callbacks
 *                                   are handed
 *   argtrace_regs_of_ftrace()       those that ftrace hands over, which may be changed there
 *   argtrace_regs_of_full()         those of an interrupt or a kretprobe; argtrace_full_regs_of()
 *                                   is the reverse
 *   ARGTRACE_REG_COUNT              how many argument registers there are, of the
 *                                   ARGTRACE_REG_MAX that the ABI has room for
 *   ARGTRACE_USER_REG_COUNT         how many registers user code has: these, and those that pass
 *                                   no arguments (argtrace_user_file.h)
 *   argtrace_regs_argument()        the n-th argument, by the calling convention of the kernel's
 *                                   functions
 *   argtrace_regs_arguments()       all of them at once, which takes fewer instructions
 *   argtrace_regs_stack()           the stack pointer, as the function is entered; arguments on the
 *                                   stack begin ARGTRACE_FIRST_STACK_WORD bytes above it
 *   argtrace_regs_return_slot()     the address of the word that says where the function returns to
 *   argtrace_full_stack(), argtrace_full_caller()
 *                                   both at the entry of a function, of full registers
 *   argtrace_full_irqs_are_off()    at the entry of a function that a kretprobe or an fprobe
 *                                   follows: whether the function has been called with interrupts
 *                                   off, whatever they are now
 *   argtrace_regs_ip(), argtrace_regs_are_of_user()
 *                                   of interrupted code: where it was, and whether it was user
 *                                   space's
 *   argtrace_regs_value(), argtrace_regs_high_value()
 *                                   when a function has returned: both words of its value
 *   ARGTRACE_RESULT_HAS_REGISTER    whether a function that returns a value in memory is passed its
 *                                   address in a register that passes no argument;
 *                                   argtrace_full_result_address() is that, of full registers
 *   ARGTRACE_PASSED_PARAMETERS      what a tracepoint's function is passed in registers behind the
 *                                   data of the probe: `second` and so on
 *   argtrace_regs_store_few(), argtrace_regs_store_passed()
 *                                   how it stores the first three, or all of these, as if they were
 *                                   a function's call
 *   argtrace_regs_store_caller()    the same for what the stack is walked from
 *   argtrace_called_from()          where it has been called from; it has a frame pointer
 *   ARGTRACE_RESULTS, argtrace_result_number()
 *                                   how many registers a function of Go may return values in, and
 *                                   which of them one is; ARGTRACE_RESULTS: it is none
 *   argtrace_frame_has_register()   whether what is kept of a call of a function of Go has that
 *                                   register, as it was at entry
 *   argtrace_result_place(), argtrace_reg_place(), argtrace_return_place(),
 *   argtrace_duration_place(), argtrace_bp_place()
 *                                   where in memory a word lies, from the address of a struct
 *                                   argtrace_regs on: what the
 *                                   operations of a program read without knowing what it is
 *   argtrace_kept_place()           the same of a register of a call of a function of Go
 *   ARGTRACE_USER_STACK_REG         which register of user code is the stack pointer
 *   argtrace_keep_in_place()        a hint to the compiler's register allocation in ftrace's
 *                                   callbacks
 */
#ifndef ARGTRACE_ARCH_REGS_H
#define ARGTRACE_ARCH_REGS_H

#include <linux/build_bug.h>
#include <uapi/argtrace.h>

#if defined(CONFIG_X86_64)
#include "arch/x86/regs.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/regs.h"
#else
#error "argtrace: this version knows x86-64 and arm64 only"
#endif

static_assert(ARGTRACE_REG_COUNT <= ARGTRACE_REG_MAX);
static_assert(ARGTRACE_USER_REG_COUNT <= ARGTRACE_REG_MAX);

#endif
