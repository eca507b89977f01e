/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_PERCPU_H
#define ARGTRACE_ARCH_ARM64_PERCPU_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/local.h>

#define argtrace_this_cpu_inc_is_negative(byte)	((s8)this_cpu_inc_return(byte) < 0)

static __always_inline bool argtrace_add_wraps(u64 *sum, u64 value, bool is_signed)
{
	const u64 after = local_add_return(value, (local_t *)sum), before = after - value;

	return is_signed ? (s64)((before ^ after) & (value ^ after)) < 0 : after < before;
}

#endif
