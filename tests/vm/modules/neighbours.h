/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of argtrace_neighbours.ko: what they are called with, and what they return. The tests compute the same. */
#ifndef ARGTRACE_NEIGHBOURS_H
#define ARGTRACE_NEIGHBOURS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint64_t u64;
#endif

/* Argument k of call number c. */
static inline u64 an_argument(u64 c, unsigned int k)
{
	return c * 1000003 + k * 0x0123456789abcdull + 1;
}

static inline u64 an_mix(u64 sum, u64 value)
{
	return sum * 31 + value;
}

/* What an_value() and an_many() return for the first `count` arguments of call number c. */
static inline u64 an_result(u64 c, unsigned int count)
{
	u64 sum = 0;
	unsigned int k;

	for (k = 0; k < count; k++)
		sum = an_mix(sum, an_argument(c, k));
	return sum;
}

/* What the system call getpgid returns while it is patched, less the pid that it was asked for. */
#define AN_GETPGID	1000000

#define AN_VALUE_ARGS	2
#define AN_MANY_ARGS	8

#endif
