/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Not read yet: where they are depends on SVE and SME. Programs that name one are refused, as there
 * are none.
 */
#ifndef ARGTRACE_ARCH_ARM64_VECTOR_H
#define ARGTRACE_ARCH_ARM64_VECTOR_H

#include <linux/types.h>

#define ARGTRACE_VECTORS	0

static inline u64 argtrace_vector_word(unsigned int number)
{
	return 0;
}

#endif
