/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How ftrace's callback has a call go on in a trampoline instead of the function's body.
 *
 *   argtrace_body_of()              where the body is, as ftrace would go on now
 *   argtrace_divert()               the call goes on in the trampoline
 *   argtrace_divert_with_others()   the same where others trace the same function, and may have
 *                                   redirected it
 *   argtrace_divert_in_memory()     the same of a function that is passed the address of its result
 *                                   in a register of its own, where nobody else traces it: see
 *                                   ARGTRACE_RESULT_HAS_REGISTER in arch/regs.h
 *   argtrace_is_diverted()          whether another has
 *   argtrace_load_body()            the address of a body; what was stored before it is there
 */
#ifndef ARGTRACE_ARCH_DIVERT_H
#define ARGTRACE_ARCH_DIVERT_H

#if defined(CONFIG_X86_64)
#include "arch/x86/divert.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/divert.h"
#endif

#endif
