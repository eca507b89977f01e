/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_PERCPU_H
#define ARGTRACE_ARCH_X86_PERCPU_H

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#ifndef __my_cpu_var
#define __my_cpu_var(var) (var)
#endif

/* In two instructions. */
#define argtrace_this_cpu_inc_is_negative(byte)							\
({												\
	bool negative;										\
												\
	asm volatile("incb " __percpu_arg([var])						\
		     : [var] "+m" (__my_cpu_var(byte)), "=@ccs" (negative) : : "memory");	\
	negative;										\
})

/* local_add() does not tell; here the flags of the one instruction do. */
static __always_inline bool argtrace_add_wraps(u64 *sum, u64 value, bool is_signed)
{
	bool wraps;

	if (is_signed)
		asm volatile("addq %[value], %[sum]"
			     : [sum] "+m" (*sum), "=@cco" (wraps) : [value] "er" (value));
	else
		asm volatile("addq %[value], %[sum]"
			     : [sum] "+m" (*sum), "=@ccc" (wraps) : [value] "er" (value));
	return wraps;
}

#endif
