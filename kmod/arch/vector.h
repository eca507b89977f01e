/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers in which user code passes floating-point numbers. The kernel does not use them, and
 * so a task that has entered it finds them either in the processor or where it was scheduled out.
 *
 *   ARGTRACE_VECTORS              how many of them programs may name, from 0 on; each also with
 *                                 ARGTRACE_VECTOR_UPPER, for its upper 8 bytes
 *   ARGTRACE_X87_WORDS            how many words of the x87 unit, from ARGTRACE_VECTOR_X87 on
 *   argtrace_vectors_are_saved()  which of these two it is; with interrupts off
 *   argtrace_vector_live(), argtrace_vector_saved()
 *                                 8 bytes, from either
 */
#ifndef ARGTRACE_ARCH_VECTOR_H
#define ARGTRACE_ARCH_VECTOR_H

#include <uapi/argtrace.h>

#if defined(CONFIG_X86_64)
#include "arch/x86/vector.h"
#elif defined(CONFIG_ARM64)
#include "arch/arm64/vector.h"
#endif

/* Whether it is a half of one of the first `count`. */
static inline bool argtrace_is_vector(u32 number, u32 count)
{
	return number < count || number - ARGTRACE_VECTOR_UPPER < count;
}

/*
 * 8 bytes, as the current task has them in user mode; for tasks of the kernel's the value is
 * meaningless. The number is one of those above.
 */
u64 argtrace_vector_word(unsigned int number);

#endif
