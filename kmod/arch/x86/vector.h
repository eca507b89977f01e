/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_VECTOR_H
#define ARGTRACE_ARCH_X86_VECTOR_H

#include <linux/thread_info.h>
#include <linux/types.h>

/* XMM0 to XMM15, which 32-bit code has half of. */
#define ARGTRACE_VECTORS	16
#define ARGTRACE_X87_WORDS	4

u64 argtrace_vector_live(unsigned int number);
u64 argtrace_vector_saved(unsigned int number);

static inline bool argtrace_vectors_are_saved(void)
{
	return test_thread_flag(TIF_NEED_FPU_LOAD);
}

#endif
