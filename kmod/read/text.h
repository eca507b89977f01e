/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads text and bytes from kernel or user memory, as the caller says, that may not be mapped. */
#ifndef ARGTRACE_TEXT_H
#define ARGTRACE_TEXT_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "read/load.h"

/*
 * What these write may be mapped: they write nothing but what they report, and zeros. If they fail,
 * they clear what they have written.
 */

/* False if any of them cannot be read. */
bool argtrace_read_bytes(u8 *to, u64 from, u32 size, bool user);

/*
 * Reads text up to its NUL, which is not counted, or up to `limit` bytes; *cut if it continues
 * after these. Returns the length or -EFAULT. `to` has room for `limit` bytes, all of which may be
 * overwritten.
 */
int argtrace_read_text(u8 *to, u64 from, u32 limit, bool user, bool *cut);

/*
 * Reads the texts that an array of pointers of `width` bytes at `from` leads to, up to its NULL,
 * each with its NUL, but the last if it is cut; up to `limit` bytes, and `most` texts. *cut if
 * there are more. Returns the length, or -EFAULT if a pointer or a text cannot be read.
 */
int argtrace_read_texts(u8 *to, u64 from, u32 limit, u32 most, u32 width, bool user, bool *cut);

/*
 * Sets the highest bit of each zero byte of a word, given with its complement. Exact for the lowest
 * zero byte only.
 */
static __always_inline u64 argtrace_zero_bytes_of(u64 word, u64 inverted)
{
	return (word - 0x0101010101010101ull) & inverted & 0x8080808080808080ull;
}

static __always_inline u64 argtrace_zero_bytes(u64 word)
{
	return argtrace_zero_bytes_of(word, ~word);
}

/*
 * A mask for the bytes of a word up to the first that is zero, as argtrace_zero_bytes() has found
 * it.
 */
static __always_inline u64 argtrace_up_to_zero(u64 zeros)
{
	return zeros ^ (zeros - 1);
}

/*
 * The same for kernel text whose end can be found by reading words. Calls no function. `to` has
 * room for ARGTRACE_TEXT_ROOM bytes more, as what the last word has behind the end is cleared.
 * Negative if the end cannot be found: the last word may extend into a page that is not mapped;
 * argtrace_read_text() finds out. Some of it has been written then, which the caller clears, or
 * with ARGTRACE_TEXT_ELSEWHERE nothing.
 */
#define ARGTRACE_TEXT_ROOM	sizeof(u64)
#define ARGTRACE_TEXT_ELSEWHERE	(-1)	/* it is not in kernel memory */
#define ARGTRACE_TEXT_UNENDED	(-2)

static __always_inline long argtrace_read_text_quickly(u8 *to, u64 from, u64 limit)
{
	u64 word, inverted, zeros, at;

	if (unlikely(!argtrace_is_kernel_address(from)))
		return ARGTRACE_TEXT_ELSEWHERE;
	for (at = sizeof(word); at <= limit; at += sizeof(word)) {
		word = argtrace_load_quickly(from + at - sizeof(word));
		*(u64 *)(to + at - sizeof(word)) = word;
		/* In two registers: the word is not needed any more. */
		inverted = ~word;
		OPTIMIZER_HIDE_VAR(inverted);
		zeros = argtrace_zero_bytes_of(word, inverted);
		if (zeros) {
			at += __ffs(zeros) / 8 - sizeof(word);
			*(u64 *)(to + at) = 0;
			return at;
		}
		/* -EFAULT has no byte that is 0. */
		if (unlikely(inverted == ~(u64)-EFAULT))
			break;
	}
	return ARGTRACE_TEXT_UNENDED;
}

/*
 * Whether the first `limit` bytes of the text (at most ARGTRACE_MATCH_MAX) match, or -EFAULT. `how`
 * is ARGTRACE_MATCH_*. A NUL follows the literal.
 */
int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how, bool user);

#endif
