/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers for all struct argtrace_return of all sessions whose calls are followed, small enough for several of them to fit into a
 * register: ARGTRACE_RETURN_NUMBERS_MAX, the first one in the lowest bits. 0 is none.
 */
#ifndef ARGTRACE_RETURN_NUMBER_H
#define ARGTRACE_RETURN_NUMBER_H

#include <linux/types.h>

struct argtrace_return;

#define ARGTRACE_RETURN_NUMBER_BITS	20
#define ARGTRACE_RETURN_NUMBERS_MAX	3

/* A number for it, or 0 where there is no memory or no number left: it is followed beside no other. Both serialised by the caller. */
u32 argtrace_return_number_get(struct argtrace_return *returns);
/* No register has the number any more. */
void argtrace_return_number_put(u32 number);

/* What has the lowest of the numbers, which is not 0. In any context. */
struct argtrace_return *argtrace_return_numbered(unsigned long numbers);

#endif
