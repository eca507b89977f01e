/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads from arbitrary addresses, whose memory may not be mapped, in any context. The exported
 * copy_from_kernel_nofault() takes ten times as many instructions.
 */
#ifndef ARGTRACE_LOAD_H
#define ARGTRACE_LOAD_H

#include <linux/init.h>
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
 * Since Linux 6.15 a per-cpu address lies in the kernel image, where the template of the per-cpu variables was. No CPU has its variable
 * there, and the memory was freed when the kernel had started. `size` is 0 where per-cpu addresses are small numbers.
 */
struct argtrace_template {
	u64 start, size;
};
extern struct argtrace_template argtrace_percpu_template;

/* Called once, when the module is loaded. */
void __init argtrace_load_init(void);

/* argtrace_is_kernel_address() for the uppermost 2 GiB, which contain the image and the modules. */
static __always_inline bool argtrace_is_image_address(u64 addr)
{
	return (s64)addr < -(s64)SZ_16M - 8 && addr - argtrace_percpu_template.start >= argtrace_percpu_template.size;
}

/*
 * Whether `size` bytes (at most 8) at the address may be kernel memory. One comparison accepts what lies below the uppermost 2 GiB, as
 * nearly all pointers do. User memory and the uppermost 16 MiB, which contain error pointers, the fixmap and the vsyscall page, are excluded.
 */
static __always_inline bool argtrace_is_kernel_address(u64 addr)
{
	return likely((s64)addr < -(s64)SZ_2G) || argtrace_is_image_address(addr);
}

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

/* The slow path: user memory, or no memory at all. Fails in NMIs, and for pages that are not present. */
static noinline __maybe_unused bool argtrace_load_user(u64 addr, unsigned int width, u64 *value)
{
	*value = 0;
	return argtrace_is_user_address(addr) &&
	       !copy_from_user_nofault(value, (const void __user *)addr, width);
}

/* The same for any address. */
static __always_inline bool argtrace_load(u64 addr, unsigned int width, u64 *value)
{
	if (unlikely(!argtrace_is_kernel_address(addr)))
		return argtrace_load_user(addr, width, value);
	return argtrace_load_kernel(addr, width, value);
}

#endif
