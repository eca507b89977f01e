/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_LOAD_H
#define ARGTRACE_ARCH_ARM64_LOAD_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <asm/asm-extable.h>
#include <asm/memory.h>

/*
 * Whether `size` bytes (at most 8) at the address may be kernel memory. Bit 55 decides whose tables
 * translate an address, and the processor ignores the byte above it for user memory: anything but
 * the kernel's half, from PAGE_OFFSET on, must not be loaded from. The uppermost 16 MiB contain
 * error pointers. Where the kernel tags its own pointers, in that byte, the tag is no part of the
 * address.
 */
static __always_inline bool argtrace_is_kernel_address(u64 addr)
{
	if (IS_ENABLED(CONFIG_KASAN_SW_TAGS) || IS_ENABLED(CONFIG_KASAN_HW_TAGS))
		addr |= GENMASK_ULL(63, 56);
	return addr - PAGE_OFFSET < -(u64)SZ_16M - 8 - PAGE_OFFSET;
}

/* User addresses may have a tag in the uppermost byte, which access_ok() judges. */
static __always_inline bool argtrace_is_user_address(u64 addr)
{
	return !(addr & BIT_ULL(55));
}

static __always_inline u64 argtrace_load_quickly(u64 addr)
{
	u64 value;

	asm volatile("1: ldr %[value], %[memory]\n2:\n"
		     _ASM_EXTABLE_KACCESS_ERR(1b, 2b, %[value])
		     : [value] "=r" (value) : [memory] "Q" (*(const u64 *)addr));
	return value;
}

/* The same, with the error separate from the value. */
#define argtrace_load_checked(instruction, to, from, error)					\
	asm volatile("1: " instruction ", %[memory]\n2:\n"					\
		     _ASM_EXTABLE_KACCESS_ERR(1b, 2b, %[failed])				\
		     : [value] "=&r" (to), [failed] "+r" (error)				\
		     : [memory] "Q" (*(const u64 *)(from)))

#define argtrace_load_8(to, from, error) \
	argtrace_load_checked("ldr %x[value]", to, from, error)
#define argtrace_load_4(to, from, error) \
	argtrace_load_checked("ldr %w[value]", to, from, error)
#define argtrace_load_2(to, from, error) \
	argtrace_load_checked("ldrh %w[value]", to, from, error)
#define argtrace_load_1(to, from, error) \
	argtrace_load_checked("ldrb %w[value]", to, from, error)

#endif
