/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_VECTOR_H
#define ARGTRACE_ARCH_ARM64_VECTOR_H

#include <linux/types.h>

/* V0 to V31. */
#define ARGTRACE_VECTORS	32

u64 argtrace_vector_word(unsigned int number);

#endif
