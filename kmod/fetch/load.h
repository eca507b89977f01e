/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads of memory that may not be there, in any context, from addresses that nobody vouches for. The exported
 * copy_from_kernel_nofault() takes ten times as many instructions.
 */
#ifndef ARGTRACE_LOAD_H
#define ARGTRACE_LOAD_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/extable.h>

/*
 * One load with an entry in the exception table: a value of -EFAULT if it fails, or a value that happens to be -EFAULT.
 * EX_TYPE_EFAULT_REG, unlike what get_user() has, takes an address which is not canonical without a warning.
 */
#define argtrace_load_nofault(instruction, to, from)						\
	asm volatile("1: " instruction "\n2:\n"						\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[value])			\
		     : [value] "=r" (to) : [memory] "m" (*(const u64 *)(from)))

/* The same with an error apart from the value. */
#define argtrace_load_checked(instruction, to, from, error)					\
	asm volatile("1: " instruction "\n2:\n"						\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[failed])			\
		     : [value] "=&r" (to), [failed] "+r" (error) : [memory] "m" (*(const u64 *)(from)))

#define ARGTRACE_LOAD_8	"movq %[memory], %[value]"
#define ARGTRACE_LOAD_4	"movl %[memory], %k[value]"
#define ARGTRACE_LOAD_2	"movzwl %[memory], %k[value]"
#define ARGTRACE_LOAD_1	"movzbl %[memory], %k[value]"

/*
 * Whether `size` bytes (at most 8) at the address may be the kernel's. Error pointers, the fixmap and the vsyscall
 * page, all in the uppermost 16 MiB, are not, and user memory is not: one comparison leaves out both.
 */
static __always_inline bool argtrace_is_kernel_address(u64 addr)
{
	return (s64)addr < -(s64)SZ_16M - 8;
}

static __always_inline bool argtrace_is_user_address(u64 addr)
{
	return (s64)addr >= 0;
}

/*
 * The 8 bytes at a kernel address; -EFAULT where they cannot be read. Who finds that looks again with
 * argtrace_load_kernel(), which also tells whether only those that are wanted can. One instruction, and no register but
 * that of the value.
 */
static __always_inline u64 argtrace_load_quickly(u64 addr)
{
	u64 value;

	argtrace_load_nofault(ARGTRACE_LOAD_8, value, addr);
	return value;
}

/* The `width` bytes (1, 2, 4 or 8) at a kernel address, extended with zeros. False: they cannot be read. */
static __always_inline bool argtrace_load_kernel(u64 addr, unsigned int width, u64 *value)
{
	long error = 0;

	if (likely(width == 8))
		argtrace_load_checked(ARGTRACE_LOAD_8, *value, addr, error);
	else if (width == 4)
		argtrace_load_checked(ARGTRACE_LOAD_4, *value, addr, error);
	else if (width == 2)
		argtrace_load_checked(ARGTRACE_LOAD_2, *value, addr, error);
	else
		argtrace_load_checked(ARGTRACE_LOAD_1, *value, addr, error);
	return likely(!error);
}

/* The slow way: user memory, or nothing at all. In an NMI, and where pages are not there, it fails. */
static noinline __maybe_unused bool argtrace_load_user(u64 addr, unsigned int width, u64 *value)
{
	*value = 0;
	return argtrace_is_user_address(addr) &&
	       !copy_from_user_nofault(value, (const void __user *)addr, width);
}

/* The same at any address. */
static __always_inline bool argtrace_load(u64 addr, unsigned int width, u64 *value)
{
	if (unlikely(!argtrace_is_kernel_address(addr)))
		return argtrace_load_user(addr, width, value);
	return argtrace_load_kernel(addr, width, value);
}

#endif
