/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_LOAD_H
#define ARGTRACE_ARCH_X86_LOAD_H

#include <linux/compiler.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <asm/asm.h>
#include <asm/extable.h>

/*
 * Whether `size` bytes (at most 8) at the address may be kernel memory. One comparison excludes
 * both user memory and the uppermost 16 MiB, which contain error pointers, the fixmap and the
 * vsyscall page.
 */
static __always_inline bool argtrace_is_kernel_address(u64 addr)
{
	return (s64)addr < -(s64)SZ_16M - 8;
}

/*
 * The kernel's own check, which each access to user memory makes again, may allow for tags in the
 * address.
 */
static __always_inline bool argtrace_is_user_address(u64 addr)
{
	return (s64)addr >= 0;
}

/*
 * The 8 bytes at a kernel address, or -EFAULT if they cannot be read. In that case the caller tries
 * again with argtrace_load_kernel(), as fewer bytes may be wanted, and these may be readable. One
 * instruction, and no register except that of the value. Unlike the type that get_user() uses,
 * EX_TYPE_EFAULT_REG does not warn about non-canonical addresses.
 */
static __always_inline u64 argtrace_load_quickly(u64 addr)
{
	u64 value;

	asm volatile("1: movq %[memory], %[value]\n2:\n"
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[value])
		     : [value] "=r" (value) : [memory] "m" (*(const u64 *)addr));
	return value;
}

/* The same, with the error separate from the value. */
#define argtrace_load_checked(instruction, to, from, error)					\
	asm volatile("1: " instruction "\n2:\n"							\
		     _ASM_EXTABLE_TYPE_REG(1b, 2b, EX_TYPE_EFAULT_REG, %[failed])		\
		     : [value] "=&r" (to), [failed] "+r" (error)				\
		     : [memory] "m" (*(const u64 *)(from)))

#define argtrace_load_8(to, from, error) \
	argtrace_load_checked("movq %[memory], %[value]", to, from, error)
#define argtrace_load_4(to, from, error) \
	argtrace_load_checked("movl %[memory], %k[value]", to, from, error)
#define argtrace_load_2(to, from, error) \
	argtrace_load_checked("movzwl %[memory], %k[value]", to, from, error)
#define argtrace_load_1(to, from, error) \
	argtrace_load_checked("movzbl %[memory], %k[value]", to, from, error)

#endif
