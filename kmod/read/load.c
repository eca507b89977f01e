// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/mm.h>
#include <linux/uaccess.h>

#include "read/absent.h"
#include "read/load.h"
#include "read/user_word.h"

DEFINE_PER_CPU(struct argtrace_absent, argtrace_absent);

/* Loads within a page, of memory that is there. False if it is to be loaded the other way. */
static bool load_word(u64 addr, unsigned int width, u64 *value)
{
	u64 word;
	bool is_there;

	if (offset_in_page(addr) > PAGE_SIZE - sizeof(word) || !argtrace_has_own_memory() ||
	    !argtrace_user_words_begin(addr))
		return false;
	is_there = argtrace_user_word(addr, &word);
	argtrace_user_words_end();
	if (likely(is_there))
		*value = word & GENMASK_ULL(width * BITS_PER_BYTE - 1, 0);
	return is_there;
}

bool argtrace_load_user(u64 addr, unsigned int width, u64 *value)
{
	*value = 0;
	if (!argtrace_is_user_address(addr))
		return false;
	if (likely(load_word(addr, width, value)))
		return true;
	if (likely(!copy_from_user_nofault(value, (const void __user *)addr, width)))
		return true;
	argtrace_absent_note(addr, width);
	return false;
}
