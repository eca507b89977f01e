/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a call passes: its argument registers and its stack, as they are when the function is
 * entered.
 */
#ifndef ARGTRACE_OPERANDS_H
#define ARGTRACE_OPERANDS_H

#include <linux/compiler.h>
#include <linux/mm.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "arch/regs.h"
#include "base/compat.h"
#include "base/recursion.h"

/*
 * The rest of the page that the stack pointer points into can be read; pages above it may not be
 * mapped.
 */
#define ARGTRACE_STACK_PAGE	((s32)PAGE_SIZE)

static __always_inline const u8 *argtrace_stack(const struct argtrace_regs *regs)
{
	return (const u8 *)argtrace_regs_stack(regs);
}

static __always_inline s32 argtrace_stack_place(const struct argtrace_regs *regs)
{
	return (s32)offset_in_page(argtrace_stack(regs));
}

/*
 * Reads a word of the stack that is known to be mapped. A descriptor may point into one of KASAN's
 * redzones between a caller's variables; without KASAN, a plain load lets gcc fold the address into
 * the instruction.
 */
static __always_inline u64 argtrace_read_stack(const u8 *at)
{
	const unsigned long *word = (const unsigned long *)at;

	return IS_ENABLED(CONFIG_KASAN) ? READ_ONCE_NOCHECK(*word) : *word;
}

/*
 * Reads words of the stack that may not be mapped, up to the first that is not, and returns how
 * many bytes were read. Each __get_kernel_nofault() is one load with an entry in the exception
 * table. The fault handler can be traced, so nothing that may fault is read where such a call would
 * lead back here.
 */
static noinline __maybe_unused unsigned int argtrace_fetch_stack_nofault(const u8 *from, u8 *to,
									 unsigned int size)
{
	unsigned int i, part;
	u64 word;

	if (!argtrace_recursion_enter())
		return 0;
	for (i = 0; i < size; i += part) {
		part = min_t(unsigned int, size - i, sizeof(word));
		__get_kernel_nofault(&word, (const u64 *)(from + i), u64, unreadable);
		__builtin_memcpy(to + i, &word, part);
	}
unreadable:
	argtrace_recursion_leave();
	return i;
}

/*
 * Copies an argument from the stack. Arguments are aligned to words, so the last word is read
 * whole. Returns how many bytes could be read: all of them, or a multiple of 8 with the rest
 * zeroed.
 */
static inline unsigned int argtrace_fetch_stack(const struct argtrace_regs *regs,
						unsigned int offset, u8 *to, unsigned int size)
{
	const unsigned int in_page = ARGTRACE_STACK_PAGE - argtrace_stack_place(regs);
	const u8 *from = argtrace_stack(regs) + offset;
	unsigned int i = 0, j, part;
	u64 word;

	for (; i < size && offset + i + sizeof(word) <= in_page; i += part) {
		part = min_t(unsigned int, size - i, sizeof(word));
		word = argtrace_read_stack(from + i);
		__builtin_memcpy(to + i, &word, part);
	}
	if (i < size)
		i += argtrace_fetch_stack_nofault(from + i, to + i, size - i);
	for (j = i; j < size; j++)
		to[j] = 0;
	return i;
}

#endif
