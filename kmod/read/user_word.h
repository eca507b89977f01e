/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words of user memory, for those who read several of them: what is the same for all of them is
 * done once, so that a word takes some ten instructions instead of a call of
 * copy_from_user_nofault().
 */
#ifndef ARGTRACE_READ_USER_WORD_H
#define ARGTRACE_READ_USER_WORD_H

#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/*
 * Whether the memory of the current process can be read without asking whose memory is loaded: not
 * while tasks or their memory are switched, which is done with interrupts off, or after a kernel
 * thread's memory has been taken away.
 */
static inline bool argtrace_has_own_memory(void)
{
	return current->mm && !irqs_disabled();
}

/*
 * Whether user memory can be read here: not in an NMI that interrupts a switch of tasks, in which
 * copy_from_user_nofault() reads nothing; there, the word at `addr` must be present. Between the
 * two calls, words can be read if they are present.
 */
static inline bool argtrace_user_words_begin(u64 addr)
{
	u64 word;

	if (unlikely(in_nmi()) &&
	    copy_from_user_nofault(&word, (const void __user *)addr, sizeof(word)))
		return false;
	pagefault_disable();
	return true;
}

static inline void argtrace_user_words_end(void)
{
	pagefault_enable();
}

static __always_inline bool argtrace_user_word(u64 addr, u64 *word)
{
	const u64 __user *from = (const u64 __user *)addr;
	u64 value;

	if (unlikely(!user_read_access_begin(from, sizeof(*from))))
		return false;
	unsafe_get_user(value, from, failed);
	user_read_access_end();
	*word = value;
	return true;
failed:
	user_read_access_end();
	return false;
}

/* Two of them, at once. */
static __always_inline bool argtrace_user_two_words(u64 addr, u64 *word, u64 other_addr, u64 *other)
{
	const u64 __user *from = (const u64 __user *)addr;
	const u64 __user *other_from = (const u64 __user *)other_addr;
	u64 value, other_value;

	/* Before the access begins, whose barrier is for both. */
	if (unlikely(!access_ok(other_from, sizeof(*other_from))) ||
	    unlikely(!user_read_access_begin(from, sizeof(*from))))
		return false;
	unsafe_get_user(value, from, failed);
	unsafe_get_user(other_value, other_from, failed);
	user_read_access_end();
	*word = value;
	*other = other_value;
	return true;
failed:
	user_read_access_end();
	return false;
}

#endif
