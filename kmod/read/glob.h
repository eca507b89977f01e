/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Matches text with a glob. Uses no kernel state: this file is also compiled into the user-side
 * tests, which count its steps.
 */
#ifndef ARGTRACE_GLOB_H
#define ARGTRACE_GLOB_H

#ifdef __KERNEL__
#include <linux/types.h>
#endif

#ifndef ARGTRACE_GLOB_STEP
#define ARGTRACE_GLOB_STEP() do { } while (0)
#endif

/*
 * Whether the character is in the class after a '['. Returns the end of the class; NULL if it has
 * none, and the '[' stands for itself.
 */
static inline const u8 *argtrace_glob_class_has(const u8 *at, u8 c, bool *has)
{
	const bool inverted = *at == '!';
	bool found = false;
	u8 first, last;

	at += inverted;
	do {
		ARGTRACE_GLOB_STEP();
		first = *at++;
		last = first;
		if (!first)
			return NULL;
		if (at[0] == '-' && at[1] != ']') {
			last = at[1];
			if (!last)
				return NULL;
			at += 2;
		}
		found |= first <= c && c <= last;
	} while (*at != ']');
	*has = found != inverted;
	return at + 1;
}

/*
 * Matches one character, unless the pattern begins with '*'. Returns the rest of the pattern; NULL
 * if it does not match. *unclosed is the first '[' that is known to begin no class, or NULL: then
 * no later one does, and none is looked at twice.
 */
static inline const u8 *argtrace_glob_behind_one(const u8 *pattern, u8 c, const u8 **unclosed)
{
	const u8 *behind;
	bool has;

	ARGTRACE_GLOB_STEP();
	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[' && (!*unclosed || pattern < *unclosed)) {
		behind = argtrace_glob_class_has(pattern + 1, c, &has);
		if (behind)
			return has ? behind : NULL;
		*unclosed = pattern;
	} else if (*pattern == '\\' && pattern[1]) {
		pattern++;
	}
	return *pattern == c ? pattern + 1 : NULL;
}

/*
 * As lib/glob.c, which in Linux 6.1 takes the NUL after a text for a character, and reads beyond
 * it.
 *
 * What follows the last '*' met so far is tried once from each place of the text that is left.
 * Earlier ones need not take more: what matches with a later place of a part matches with its first
 * one as well. So each byte of the text is compared once with each of the pattern at most, which is
 * what argtrace_insn_cost() says, and the parts between several '*' share the text.
 */
static inline bool argtrace_glob_matches(const u8 *pattern, const u8 *text, u32 size)
{
	const u8 *star = NULL, *unclosed = NULL, *behind;
	u32 at = 0, from = 0;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			from = at;
			continue;
		}
		if (at == size && !*pattern)
			return true;
		behind = at < size && *pattern ?
				 argtrace_glob_behind_one(pattern, text[at], &unclosed) :
				 NULL;
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

#endif
