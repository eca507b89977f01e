/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of a CPU's own data that are atomic with respect to interrupts.
 *
 *   argtrace_this_cpu_inc_is_negative()  increments a signed per-CPU byte; whether it is negative
 *                                        afterwards
 *   argtrace_add_wraps()                 adds to a number; whether that has wrapped, as a signed or
 *                                        as an unsigned one
 *
 * Elsewhere the kernel's local_t and this_cpu_*() do.
 */
#ifndef ARGTRACE_ARCH_PERCPU_H
#define ARGTRACE_ARCH_PERCPU_H

#if defined(CONFIG_X86_64)
#include "arch/x86/percpu.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/percpu.h"
#endif

#endif
