/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_TEXT_H
#define ARGTRACE_ARCH_ARM64_TEXT_H

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/pgtable.h>
#include <linux/string.h>
#include <linux/types.h>

#ifdef CONFIG_ARM64_BTI_KERNEL
#error "argtrace does not know where ftrace's call is in kernels with CONFIG_ARM64_BTI_KERNEL"
#endif

/*
 * The compiler leaves two instructions, of which ftrace makes MOV X9, LR and BL
 * (arch/arm64/kernel/entry-ftrace.S). It reports the address of the second.
 */
#define ARGTRACE_FENTRY_SKEW	4UL

/* Landing pads are marked by instructions that any function may begin with. */
#ifndef __noendbr
#define __noendbr
#endif

/* Modules may be anywhere within 2 GiB of the kernel, whose place is random. */
/*
 * ftrace_caller calls an ops that is alone, and else the list function. Its address is all ones if
 * it is not known: then each call seems to be one of the list function's.
 */
extern unsigned long argtrace_ftrace_caller;

#define ARGTRACE_FTRACE_CALLER_SIZE	0x100

static __always_inline bool argtrace_is_called_by_list(const struct ftrace_ops *ops,
						       const void *called_from)
{
	return (unsigned long)called_from - argtrace_ftrace_caller >= ARGTRACE_FTRACE_CALLER_SIZE;
}

void argtrace_text_init(void);

static inline bool argtrace_is_in_modules(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, addr);
	return strchr(name, '[');
}

static inline bool argtrace_is_kernel_text(unsigned long addr)
{
	return addr >= MODULES_VADDR && addr < VMALLOC_END;
}

static inline bool argtrace_calls_at_symbol(unsigned long symbol)
{
	return false;
}

static inline unsigned long argtrace_fentry_of(unsigned long addr)
{
	return addr + ARGTRACE_FENTRY_SKEW;
}

#endif
