/* SPDX-License-Identifier: GPL-2.0-only */
/* User memory for a test, which runs in a task of the kernel's that borrows an mm. */
#ifndef ARGTRACE_KUNIT_USER_FIXTURES_H
#define ARGTRACE_KUNIT_USER_FIXTURES_H

#include <linux/types.h>

struct kunit;

#define USER_MEMORY	0x20000		/* bytes */
#define USER_COPIES	0x18000		/* copies are from here on */

/* The address of memory that the test alone uses, readable, writable and zero; the same for each call in a test. */
u64 user_memory(struct kunit *test);

/* A copy of these bytes in it. */
u64 user_copy(struct kunit *test, const void *bytes, size_t size);

/* Writes a word there. */
void user_write(struct kunit *test, u64 addr, u64 word);

#endif
