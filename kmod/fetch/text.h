/* SPDX-License-Identifier: GPL-2.0-only */
/* Text and bytes from memory that may not be there, the kernel's or the user's, which the address says. */
#ifndef ARGTRACE_TEXT_H
#define ARGTRACE_TEXT_H

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/types.h>

#include "fetch/load.h"

/* All of them or none: false. */
bool argtrace_read_bytes(u8 *to, u64 from, u32 size);

/*
 * Text up to its NUL, which is not counted, or `limit` bytes; *cut: it goes on after these. Returns the length or -EFAULT. `to` has
 * room for `limit` bytes, all of which may be written to.
 */
int argtrace_read_text(u8 *to, u64 from, u32 limit, bool *cut);

/* The bytes of a word that are 0 have their highest bit set, the lowest of them surely. */
static __always_inline u64 argtrace_zero_bytes(u64 word)
{
	return (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
}

/*
 * The same of the kernel's text whose end is found in words; it calls nothing. Negative: it is not, or the words cannot be
 * read, as the last one may be where no page follows; argtrace_read_text() finds out.
 */
static __always_inline long argtrace_read_text_quickly(u8 *to, u64 from, u64 limit)
{
	u64 word, zeros, at;

	if (unlikely(!argtrace_is_kernel_address(from)))
		return -1;
	for (at = sizeof(word); at <= limit; at += sizeof(word)) {
		word = argtrace_load_quickly(from + at - sizeof(word));
		*(u64 *)(to + at - sizeof(word)) = word;
		zeros = argtrace_zero_bytes(word);
		if (zeros)
			return at - sizeof(word) + __ffs(zeros) / 8;
		/* -EFAULT has no byte that is 0. */
		if (unlikely(word == (u64)-EFAULT))
			break;
	}
	return -1;
}

/*
 * Whether the text, of which `limit` bytes are looked at (at most ARGTRACE_MATCH_MAX), matches; -EFAULT. `how` is
 * ARGTRACE_MATCH_*. A NUL follows the literal.
 */
int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how);

#endif
