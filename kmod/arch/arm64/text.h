/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ARCH_ARM64_TEXT_H
#define ARGTRACE_ARCH_ARM64_TEXT_H

#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kconfig.h>
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
#define AARCH64_INSN_NOP	0xd503201f

/* Landing pads are marked by instructions that any function may begin with. */
#ifndef __noendbr
#define __noendbr
#endif

/*
 * ftrace_caller calls an ops that is alone, and else the list function; before Linux 6.2 always
 * that. Its address is all ones if it is not known: then each call seems to be one of the list
 * function's.
 */
extern unsigned long argtrace_ftrace_caller;

#define ARGTRACE_FTRACE_CALLER_SIZE	0x100

#define ARGTRACE_IS_ALWAYS_IN_LIST	!IS_ENABLED(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)

static __always_inline bool argtrace_is_called_by_list(const struct ftrace_ops *ops,
						       const void *called_from)
{
	return (unsigned long)called_from - argtrace_ftrace_caller >= ARGTRACE_FTRACE_CALLER_SIZE;
}

/*
 * Before Linux 6.2, ftrace has function_graph follow a call after all others, as one of the
 * function that the program counter says: this is the jump there, or a NOP while it does not run.
 */
extern const u32 *argtrace_graph_call;

static __always_inline bool argtrace_graph_runs(void)
{
	return argtrace_graph_call && READ_ONCE(*argtrace_graph_call) != AARCH64_INSN_NOP;
}

void argtrace_text_init(void);

/* Modules may be anywhere within 2 GiB of the kernel, whose place is random. */
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
