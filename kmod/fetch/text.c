// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <uapi/argtrace.h>

#include "compat.h"
#include "fetch/load.h"
#include "fetch/text.h"

/* User memory is read page by page, with a function call for each. */
static bool read_user(u8 *to, u64 from, u32 size)
{
	return !copy_from_user_nofault(to, (const void __user *)from, size);
}

bool argtrace_read_bytes(u8 *to, u64 from, u32 size)
{
	u64 word;
	u32 i = 0;

	if (argtrace_is_user_address(from))
		return read_user(to, from, size);
	for (; i + sizeof(word) <= size; i += sizeof(word)) {
		if (!argtrace_load(from + i, sizeof(word), &word))
			return false;
		__builtin_memcpy(to + i, &word, sizeof(word));
	}
	for (; i < size; i++) {
		if (!argtrace_load(from + i, 1, &word))
			return false;
		to[i] = word;
	}
	return true;
}

/* Reads words within a page, and bytes across its end, as the next page may not be mapped. */
static int read_kernel_text(u8 *to, u64 from, u32 limit)
{
	u64 word, zeros;
	u32 at = 0;

	while (at < limit) {
		if (at + sizeof(word) > limit || offset_in_page(from + at) > PAGE_SIZE - sizeof(word)) {
			if (!argtrace_load(from + at, 1, &word))
				return -EFAULT;
			if (!(u8)word)
				return at;
			to[at++] = word;
			continue;
		}
		if (!argtrace_load(from + at, sizeof(word), &word))
			return -EFAULT;
		__builtin_memcpy(to + at, &word, sizeof(word));
		zeros = argtrace_zero_bytes(word);
		if (zeros)
			return at + __ffs(zeros) / 8;
		at += sizeof(word);
	}
	return limit;
}

static int read_user_text(u8 *to, u64 from, u32 limit)
{
	u32 at = 0, part;

	while (at < limit) {
		const u8 *nul;

		/* Most texts are short: do not read much more than that. */
		part = min3(limit - at, 64u, (u32)(PAGE_SIZE - offset_in_page(from + at)));
		if (!read_user(to + at, from + at, part))
			return -EFAULT;
		nul = memchr(to + at, 0, part);
		if (nul)
			return nul - to;
		at += part;
	}
	return limit;
}

static int read_text(u8 *to, u64 from, u32 limit)
{
	if (argtrace_is_user_address(from))
		return read_user_text(to, from, limit);
	return read_kernel_text(to, from, limit);
}

int argtrace_read_text(u8 *to, u64 from, u32 limit, bool *cut)
{
	const int length = read_text(to, from, limit);
	u64 next;

	/* If the byte after it cannot be read, the text ends here. */
	*cut = length == limit && argtrace_load(from + limit, 1, &next) && next;
	return length;
}

/* Reads no more of the text than a comparison with a literal of this length needs. */
static int whole_or_prefix(u64 from, u32 limit, const u8 *literal, u32 length, bool whole)
{
	u64 byte;
	u32 at;

	for (at = 0; at < length; at++) {
		if (at == limit)
			return 0;
		if (!argtrace_load(from + at, 1, &byte))
			return -EFAULT;
		if (byte != literal[at])
			return 0;
	}
	if (!whole || at == limit)
		return 1;
	return argtrace_load(from + at, 1, &byte) ? !byte : -EFAULT;
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

/*
 * Whether the character is in the class after a '['. Returns the end of the class; NULL if it has none, and the '[' stands for itself.
 */
static const u8 *class_has(const u8 *class, u8 c, bool *has)
{
	const bool inverted = *class == '!';
	bool found = false;
	u8 first, last;

	class += inverted;
	do {
		first = last = *class++;
		if (!first)
			return NULL;
		if (class[0] == '-' && class[1] != ']') {
			last = class[1];
			if (!last)
				return NULL;
			class += 2;
		}
		found |= first <= c && c <= last;
	} while (*class != ']');
	*has = found != inverted;
	return class + 1;
}

/* Matches one character, unless the pattern begins with '*'. Returns the rest of the pattern; NULL if it does not match. */
static const u8 *behind_one(const u8 *pattern, u8 c)
{
	const u8 *behind;
	bool has;

	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[') {
		behind = class_has(pattern + 1, c, &has);
		if (behind)
			return has ? behind : NULL;
	} else if (*pattern == '\\' && pattern[1]) {
		pattern++;
	}
	return *pattern == c ? pattern + 1 : NULL;
}

/* As lib/glob.c, which in Linux 6.1 takes the NUL after a text for a character, and reads beyond it. */
static bool glob_matches(const u8 *pattern, const u8 *text, u32 size)
{
	const u8 *star = NULL, *behind;
	u32 at = 0, from = 0;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			from = at;
			continue;
		}
		if (at == size && !*pattern)
			return true;
		behind = at < size && *pattern ? behind_one(pattern, text[at]) : NULL;
		if (behind) {
			pattern = behind;
			at++;
			continue;
		}
		/* The last '*' takes one more. */
		if (!star || from == size)
			return false;
		pattern = star;
		at = ++from;
	}
}

int argtrace_text_matches(u64 from, u32 limit, const u8 *literal, u32 length, u32 how)
{
	u8 text[ARGTRACE_MATCH_MAX] argtrace_uninitialized;
	int size;

	if (how <= ARGTRACE_MATCH_PREFIX)
		return whole_or_prefix(from, limit, literal, length, how == ARGTRACE_MATCH_WHOLE);
	size = read_text(text, from, min_t(u32, limit, ARGTRACE_MATCH_MAX));
	if (size < 0)
		return size;
	if (how == ARGTRACE_MATCH_SUFFIX)
		return ends_with(text, size, literal, length);
	if (how == ARGTRACE_MATCH_CONTAINS)
		return contains(text, size, literal, length);
	return glob_matches(literal, text, size);
}
