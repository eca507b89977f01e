/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_VECTOR_H
#define ARGTRACE_ARCH_X86_VECTOR_H

#include <linux/types.h>

/* XMM0 to XMM15, which 32-bit code has half of. */
#define ARGTRACE_VECTORS	16

u64 argtrace_vector_word(unsigned int number);

#endif
