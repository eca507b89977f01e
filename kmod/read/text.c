// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <uapi/argtrace.h>

#include "base/compat.h"
#include "read/absent.h"
#include "read/glob.h"
#include "read/load.h"
#include "read/text.h"
#include "read/user_word.h"

#define USER_PART	64

/* User memory is read page by page, with a function call for each. */
static bool read_user(u8 *to, u64 from, u32 size)
{
	if (!argtrace_is_user_address(from))
		return false;
	if (likely(!copy_from_user_nofault(to, (const void __user *)from, size)))
		return true;
	argtrace_absent_note(from, size);
	return false;
}

/* The same, of which there are few, within a page. False if they are to be read the other way. */
static noinline bool read_user_words(u8 *to, u64 from, u32 size)
{
	const u64 last = from + size - sizeof(u64);
	u64 word = 0;
	u32 at;

	if (size < sizeof(word) || size > USER_PART || offset_in_page(from) > PAGE_SIZE - size ||
	    !argtrace_is_user_address(from) || !argtrace_has_own_memory() ||
	    !argtrace_user_words_begin(from))
		return false;
	for (at = 0; at < size; at += sizeof(word)) {
		/* The last word begins within the one before, if they do not end together. */
		const u64 next = min(from + at, last);

		if (unlikely(!argtrace_user_word(next, &word)))
			break;
		__builtin_memcpy(to + (next - from), &word, sizeof(word));
	}
	argtrace_user_words_end();
	return likely(at >= size);
}

bool argtrace_read_bytes(u8 *to, u64 from, u32 size, bool user)
{
	u64 word;
	u32 i = 0;

	if (user) {
		/* Nothing is there at any address. */
		if (!size || likely(read_user_words(to, from, size)) || read_user(to, from, size))
			return true;
		goto fault;
	}
	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		if (!argtrace_load(from + i, sizeof(word), false, &word))
			goto fault;
		__builtin_memcpy(to + i, &word, sizeof(word));
	}
	for (; i < size; i++) {
		if (!argtrace_load(from + i, 1, false, &word))
			goto fault;
		to[i] = word;
	}
	return true;
fault:
	memset(to, 0, size);
	return false;
}

/* Reads words within a page, and bytes across its end, as the next page may not be mapped. */
static int read_kernel_text(u8 *to, u64 from, u32 limit)
{
	u64 word, zeros;
	u32 at = 0;

	while (at < limit) {
		if (at + sizeof(word) > limit ||
		    offset_in_page(from + at) > PAGE_SIZE - sizeof(word)) {
			if (!argtrace_load(from + at, 1, false, &word))
				goto fault;
			if (!(u8)word)
				return at;
			to[at++] = word;
			continue;
		}
		if (!argtrace_load(from + at, sizeof(word), false, &word))
			goto fault;
		zeros = argtrace_zero_bytes(word);
		if (zeros)
			word &= argtrace_up_to_zero(zeros);
		__builtin_memcpy(to + at, &word, sizeof(word));
		if (zeros)
			return at + __ffs(zeros) / 8;
		at += sizeof(word);
	}
	return limit;
fault:
	memset(to, 0, at);
	return -EFAULT;
}

/*
 * Copies `size` bytes up to the first NUL, and zeros up to the end of its word. Returns the length.
 */
static u32 copy_text(u8 *to, const u64 *from, u32 size)
{
	u64 zeros;
	u32 at;

	for (at = 0; at + sizeof(u64) <= size; at += sizeof(u64), from++) {
		zeros = argtrace_zero_bytes(*from);
		if (zeros) {
			const u64 last = *from & argtrace_up_to_zero(zeros);

			__builtin_memcpy(to + at, &last, sizeof(last));
			return at + __ffs(zeros) / 8;
		}
		__builtin_memcpy(to + at, from, sizeof(*from));
	}
	for (; at < size && ((const u8 *)from)[at % sizeof(u64)]; at++)
		to[at] = ((const u8 *)from)[at % sizeof(u64)];
	return at;
}

/*
 * The beginning of a text, in words that are in one page, as far as that is present. *ends: all of
 * it. Returns the length.
 */
static __always_inline u32 read_user_text_words(u8 *to, u64 from, u32 limit, bool *ends)
{
	u64 word, zeros;
	u32 at = 0;

	*ends = false;
	if (unlikely(!argtrace_has_own_memory()) || unlikely(!argtrace_user_words_begin(from)))
		return 0;
	limit = min(limit, (u32)(PAGE_SIZE - offset_in_page(from)));
	for (; at + sizeof(word) <= limit; at += sizeof(word)) {
		if (unlikely(!argtrace_user_word(from + at, &word)))
			break;
		zeros = argtrace_zero_bytes(word);
		/* What follows the text is nobody's business. */
		if (zeros)
			word &= argtrace_up_to_zero(zeros);
		__builtin_memcpy(to + at, &word, sizeof(word));
		if (zeros) {
			*ends = true;
			at += __ffs(zeros) / 8;
			break;
		}
	}
	argtrace_user_words_end();
	return at;
}

static int read_user_text(u8 *to, u64 from, u32 limit)
{
	/* What follows the text is not read to where it may be mapped. */
	u64 words[USER_PART / sizeof(u64)] argtrace_uninitialized;
	u32 at = 0, part, length;
	bool ends;

	while (at < limit) {
		if (argtrace_is_user_address(from + at)) {
			at += read_user_text_words(to + at, from + at, limit - at, &ends);
			if (likely(ends) || at == limit)
				return at;
		}
		/* Most texts are short: do not read much more than that. */
		part = min3(limit - at, (u32)USER_PART,
			    (u32)(PAGE_SIZE - offset_in_page(from + at)));
		if (!read_user((u8 *)words, from + at, part)) {
			memset(to, 0, at);
			return -EFAULT;
		}
		length = copy_text(to + at, words, part);
		at += length;
		if (length < part)
			return at;
	}
	return limit;
}

static int read_text(u8 *to, u64 from, u32 limit, bool user)
{
	return user ? read_user_text(to, from, limit) : read_kernel_text(to, from, limit);
}

int argtrace_read_text(u8 *to, u64 from, u32 limit, bool user, bool *cut)
{
	const int length = read_text(to, from, limit, user);
	u64 next;

	/* If the byte after it cannot be read, the text ends here. */
	*cut = length == limit && argtrace_load(from + limit, 1, user, &next) && next;
	return length;
}

int argtrace_read_texts(u8 *to, u64 from, u32 limit, u32 most, u32 width, bool user, bool *cut)
{
	u32 at = 0, i;
	u64 text;
	int length;

	for (i = 0; i < most; i++, from += width) {
		if (!argtrace_load(from, width, user, &text))
			goto fault;
		*cut = text && at == limit;
		if (!text || *cut)
			return at;
		length = argtrace_read_text(to + at, text, limit - at, user, cut);
		if (length < 0)
			goto fault;
		at += length;
		/* The NUL may have no room, though all of the text has. */
		if (*cut)
			return at;
		if (at < limit)
			to[at++] = 0;
	}
	*cut = argtrace_load(from, width, user, &text) && text;
	return at;
fault:
	memset(to, 0, at);
	return -EFAULT;
}

/* Reads no more of the text than a comparison with a literal of this length needs. */
static int whole_or_prefix(u64 from, u32 limit, const u8 *literal, u32 length, bool whole,
			   bool user)
{
	u64 byte;
	u32 at;

	for (at = 0; at < length; at++) {
		if (at == limit)
			return 0;
		if (!argtrace_load(from + at, 1, user, &byte))
			return -EFAULT;
		if (byte != literal[at])
			return 0;
	}
	if (!whole || at == limit)
		return 1;
	return argtrace_load(from + at, 1, user, &byte) ? !byte : -EFAULT;
}

/* As strstr() for a text without a NUL, at its end or anywhere. */
static bool ends_with(const u8 *text, u32 size, const u8 *literal, u32 length)
{
	return size >= length && !memcmp(text + size - length, literal, length);
}

static bool contains(const u8 *text, u32 size, const u8 *literal, u32 length)
{
	u32 end;

	for (end = length; end <= size; end++) {
		if (ends_with(text, end, literal, length))
			return true;
	}
	return false;
}

int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how, bool user)
{
	u8 text[ARGTRACE_MATCH_MAX] argtrace_uninitialized;
	int size;

	if (how <= ARGTRACE_MATCH_PREFIX)
		return whole_or_prefix(from, limit, literal, length, how == ARGTRACE_MATCH_WHOLE,
				       user);
	size = read_text(text, from, min_t(u32, limit, ARGTRACE_MATCH_MAX), user);
	if (size < 0)
		return size;
	if (how == ARGTRACE_MATCH_SUFFIX)
		return ends_with(text, size, literal, length);
	if (how == ARGTRACE_MATCH_CONTAINS)
		return contains(text, size, literal, length);
	return argtrace_glob_matches(literal, text, size);
}
