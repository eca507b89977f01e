/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel text: where it may be, and where ftrace's call is in a function.
 *
 *   ARGTRACE_FENTRY_SKEW         how far after its symbol ftrace may find the entry of a function
 *   __noendbr                    of a function that is only ever jumped to directly: that it needs
 *                                no landing pad
 *   argtrace_calls_at_symbol()   whether ftrace's call is right at the symbol, as far as can be
 *                                seen
 *   argtrace_fentry_of()         the address of ftrace's call in a traceable function, from that of
 *                                its symbol
 *   argtrace_is_in_modules()     whether modules have their text there
 *   argtrace_is_called_by_list() whether ftrace has called an ops, whose callback was called from
 *                                there, by its list function: others trace the same function
 *   ARGTRACE_IS_ALWAYS_IN_LIST   whether it always does: then nothing tells whether they do
 *   argtrace_text_init()         what these have to know, at module load
 *   argtrace_is_kernel_text()    whether the address can be that of kernel text at all
 */
#ifndef ARGTRACE_ARCH_TEXT_H
#define ARGTRACE_ARCH_TEXT_H

#if defined(CONFIG_X86_64)
#include "arch/x86/text.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/text.h"
#endif

#endif
