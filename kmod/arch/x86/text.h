/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_X86_TEXT_H
#define ARGTRACE_ARCH_X86_TEXT_H

#include <linux/ftrace.h>
#include <linux/kconfig.h>
#include <linux/pgtable.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/ibt.h>

/*
 * ENDBR64 has 4 bytes (arch/x86/include/asm/ibt.h). Some functions of an IBT kernel begin with it,
 * some do not.
 */
#define ARGTRACE_FENTRY_SKEW	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4UL : 0UL)

/* An ops that is alone has a trampoline of its own. */
#define ARGTRACE_IS_ALWAYS_IN_LIST	false

static __always_inline bool argtrace_is_called_by_list(const struct ftrace_ops *ops,
						       const void *called_from)
{
	return (unsigned long)called_from - ops->trampoline >= ops->trampoline_size;
}

static inline void argtrace_text_init(void)
{
}

static inline bool argtrace_is_in_modules(unsigned long addr)
{
	return addr >= MODULES_VADDR && addr < MODULES_END;
}

/*
 * What ftrace's trampolines and BPF programs share with modules lies between the kernel and its
 * end.
 */
static inline bool argtrace_is_kernel_text(unsigned long addr)
{
	return addr >= __START_KERNEL_map && addr < MODULES_END;
}

/*
 * Whether ftrace's CALL, or the 5-byte NOP in its place (arch/x86/include/asm/nops.h), is right at
 * the symbol, without an ENDBR64 or what the kernel may have written over one. The answer is a
 * hint: ftrace may be patching the instruction at this moment.
 */
static inline bool argtrace_calls_at_symbol(unsigned long symbol)
{
	u32 code;

	/*
	 * The address has not been validated. Read only code: other addresses may be device
	 * registers.
	 */
	if (!argtrace_is_kernel_text(symbol) || get_kernel_nofault(code, (u32 *)symbol))
		return false;
	return (code & 0xff) == 0xe8 || (code & 0xffffff) == 0x441f0f;
}

/* It may be a breakpoint (INT3) while ftrace patches it. */
static inline unsigned long argtrace_fentry_of(unsigned long addr)
{
	u8 first;

	if (get_kernel_nofault(first, (u8 *)addr) || first == 0xcc ||
	    argtrace_calls_at_symbol(addr))
		return addr;
	return addr + ARGTRACE_FENTRY_SKEW;
}

#endif
