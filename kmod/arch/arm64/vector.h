/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_VECTOR_H
#define ARGTRACE_ARCH_ARM64_VECTOR_H

#include <linux/thread_info.h>
#include <linux/types.h>

/* V0 to V31. */
#define ARGTRACE_VECTORS	32
#define ARGTRACE_X87_WORDS	0

u64 argtrace_vector_live(unsigned int number);
u64 argtrace_vector_saved(unsigned int number);

static inline bool argtrace_vectors_are_saved(void)
{
	return test_thread_flag(TIF_FOREIGN_FPSTATE);
}

#endif
