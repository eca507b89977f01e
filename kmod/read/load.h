/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads from arbitrary addresses, whose memory may not be mapped, in any context. The exported
 * copy_from_kernel_nofault() takes ten times as many instructions.
 *
 * Whoever loads says whether it is kernel or user memory. The address never decides: a traced program may have chosen it.
 */
#ifndef ARGTRACE_LOAD_H
#define ARGTRACE_LOAD_H

#include <linux/sizes.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/asm.h>
#include <asm/extable.h>

/*
 * One load with an entry in the exception table. The result is -EFAULT if it fails, which memory may also contain.
 * Unlike the type that get_user() uses, EX_TYPE_EFAULT_REG does not warn about non-canonical addresses.
 */
#define argtrace_load_nofault(instruction, to, from)						\
	asm volatile("1: " instruction "\n2:\n"						\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[value])			\
		     : [value] "=r" (to) : [memory] "m" (*(const u64 *)(from)))

/* The same, with the error separate from the value. */
#define argtrace_load_checked(instruction, to, from, error)					\
	asm volatile("1: " instruction "\n2:\n"						\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[failed])			\
		     : [value] "=&r" (to), [failed] "+r" (error) : [memory] "m" (*(const u64 *)(from)))

#define ARGTRACE_LOAD_8	"movq %[memory], %[value]"
#define ARGTRACE_LOAD_4	"movl %[memory], %k[value]"
#define ARGTRACE_LOAD_2	"movzwl %[memory], %k[value]"
#define ARGTRACE_LOAD_1	"movzbl %[memory], %k[value]"

/*
 * Whether `size` bytes (at most 8) at the address may be kernel memory. One comparison excludes both user memory and
 * the uppermost 16 MiB, which contain error pointers, the fixmap and the vsyscall page.
 */
static __always_inline bool argtrace_is_kernel_address(u64 addr)
{
	return (s64)addr < -(s64)SZ_16M - 8;
}

/* The kernel's own check, which each access to user memory makes again, may allow for tags in the address. */
static __always_inline bool argtrace_is_user_address(u64 addr)
{
	return (s64)addr >= 0;
}

/*
 * The 8 bytes at a kernel address, or -EFAULT if they cannot be read. In that case the caller tries again with
 * argtrace_load_kernel(), as fewer bytes may be wanted, and these may be readable. One instruction, and no register
 * except that of the value.
 */
static __always_inline u64 argtrace_load_quickly(u64 addr)
{
	u64 value;

	argtrace_load_nofault(ARGTRACE_LOAD_8, value, addr);
	return value;
}

/* Reads `width` bytes (1, 2, 4 or 8) at a kernel address, zero-extended. False if they cannot be read. */
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

/* Reads user memory. Fails for tasks of the kernel's, for pages that are not present, and in NMIs that interrupt a switch of tasks. */
bool argtrace_load_user(u64 addr, unsigned int width, u64 *value);

/* Reads kernel or user memory at any address. */
static __always_inline bool argtrace_load(u64 addr, unsigned int width, bool user, u64 *value)
{
	if (user)
		return argtrace_load_user(addr, width, value);
	return likely(argtrace_is_kernel_address(addr)) && argtrace_load_kernel(addr, width, value);
}

#endif
