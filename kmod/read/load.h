/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads from arbitrary addresses, whose memory may not be mapped, in any context. The exported
 * copy_from_kernel_nofault() takes ten times as many instructions.
 *
 * Whoever loads says whether it is kernel or user memory. The address never decides: a traced
 * program may have chosen it.
 */
#ifndef ARGTRACE_LOAD_H
#define ARGTRACE_LOAD_H

#include <linux/types.h>
#include <linux/uaccess.h>

#include "arch/load.h"

/*
 * Reads `width` bytes (1, 2, 4 or 8) at a kernel address, zero-extended. False if they cannot be
 * read.
 */
static __always_inline bool argtrace_load_kernel(u64 addr, unsigned int width, u64 *value)
{
	long error = 0;

	if (likely(width == 8))
		argtrace_load_8(*value, addr, error);
	else if (width == 4)
		argtrace_load_4(*value, addr, error);
	else if (width == 2)
		argtrace_load_2(*value, addr, error);
	else
		argtrace_load_1(*value, addr, error);
	return likely(!error);
}

/*
 * Reads user memory. Fails for tasks of the kernel's, for pages that are not present, and in NMIs
 * that interrupt a switch of tasks.
 */
bool argtrace_load_user(u64 addr, unsigned int width, u64 *value);

/* Reads kernel or user memory at any address. */
static __always_inline bool argtrace_load(u64 addr, unsigned int width, bool user, u64 *value)
{
	if (user)
		return argtrace_load_user(addr, width, value);
	return likely(argtrace_is_kernel_address(addr)) && argtrace_load_kernel(addr, width, value);
}

#endif
