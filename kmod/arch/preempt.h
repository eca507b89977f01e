/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The preemption count of this CPU.
 *
 *   argtrace_preempt_word                what it is kept in, with the bit that says that a task is
 *                                        to be rescheduled
 *   argtrace_read_preempt_word()         its value
 */
#ifndef ARGTRACE_ARCH_PREEMPT_H
#define ARGTRACE_ARCH_PREEMPT_H

#if defined(CONFIG_X86_64)
#include "arch/x86/preempt.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/preempt.h"
#endif

#endif
