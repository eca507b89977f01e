/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads text and bytes from kernel or user memory, depending on the address, that may not be mapped. */
#ifndef ARGTRACE_TEXT_H
#define ARGTRACE_TEXT_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "fetch/load.h"

/* False if any of them cannot be read. */
bool argtrace_read_bytes(u8 *to, u64 from, u32 size);

/*
 * Reads text up to its NUL, which is not counted, or up to `limit` bytes; *cut if it continues after these. Returns the length or
 * -EFAULT. `to` has room for `limit` bytes, all of which may be overwritten.
 */
int argtrace_read_text(u8 *to, u64 from, u32 limit, bool *cut);

/* Sets the highest bit of each zero byte of a word, given with its complement. Exact for the lowest zero byte only. */
static __always_inline u64 argtrace_zero_bytes_of(u64 word, u64 inverted)
{
	return (word - 0x0101010101010101ull) & inverted & 0x8080808080808080ull;
}

static __always_inline u64 argtrace_zero_bytes(u64 word)
{
	return argtrace_zero_bytes_of(word, ~word);
}

/*
 * The same for kernel text whose end can be found by reading words. Calls no function. Negative if it cannot: the last word may
 * extend into a page that is not mapped; argtrace_read_text() finds out.
 */
static __always_inline long argtrace_read_text_quickly(u8 *to, u64 from, u64 limit)
{
	u64 word, inverted, zeros, at;

	if (unlikely(!argtrace_is_kernel_address(from)))
		return -1;
	for (at = sizeof(word); at <= limit; at += sizeof(word)) {
		word = argtrace_load_quickly(from + at - sizeof(word));
		*(u64 *)(to + at - sizeof(word)) = word;
		/* In two registers: the word is not needed any more. */
		inverted = ~word;
		OPTIMIZER_HIDE_VAR(inverted);
		zeros = argtrace_zero_bytes_of(word, inverted);
		if (zeros)
			return at - sizeof(word) + __ffs(zeros) / 8;
		/* -EFAULT has no byte that is 0. */
		if (unlikely(inverted == ~(u64)-EFAULT))
			break;
	}
	return -1;
}

/*
 * Whether the first `limit` bytes of the text (at most ARGTRACE_MATCH_MAX) match, or -EFAULT. `how` is
 * ARGTRACE_MATCH_*. A NUL follows the literal.
 */
int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how);

#endif
