// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "user_fixtures.h"

/* The test that runs owns them: the mm of an older one is gone. */
static struct kunit *owner;
static u64 memory, used;

u64 user_memory(struct kunit *test)
{
	if (owner != test || !current->mm) {
		/* Which also gives the task an mm. */
		memory = kunit_vm_mmap(test, NULL, 0, USER_MEMORY, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_PRIVATE, 0);
		KUNIT_ASSERT_NE(test, memory, 0);
		owner = test;
		used = USER_COPIES;
	}
	return memory;
}

u64 user_copy(struct kunit *test, const void *bytes, size_t size)
{
	const u64 at = user_memory(test) + used;

	KUNIT_ASSERT_LE(test, used + size, USER_MEMORY);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)at, bytes, size), 0);
	used += ALIGN(size, 8);
	return at;
}

void user_write(struct kunit *test, u64 addr, u64 word)
{
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)addr, &word, sizeof(word)), 0);
}
