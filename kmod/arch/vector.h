/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers in which user code passes floating-point numbers. The kernel does not use them, and
 * so a task that has entered it finds them either in the processor or where it was scheduled out.
 *
 *   ARGTRACE_VECTORS              how many of them programs may name, from 0 on
 *   argtrace_vectors_are_saved()  which of these two it is; with interrupts off
 *   argtrace_vector_live(), argtrace_vector_saved()
 *                                 the lower 8 bytes of one, from either
 */
#ifndef ARGTRACE_ARCH_VECTOR_H
#define ARGTRACE_ARCH_VECTOR_H

#if defined(CONFIG_X86_64)
#include "arch/x86/vector.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/vector.h"
#endif

/*
 * The lower 8 bytes of one, as the current task has it in user mode; for tasks of the kernel's the
 * value is meaningless.
 */
u64 argtrace_vector_word(unsigned int number);

#endif
