// SPDX-License-Identifier: GPL-2.0-only
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "base/memory.h"

static unsigned int memory_limit_mb;
module_param(memory_limit_mb, uint, 0644);
MODULE_PARM_DESC(memory_limit_mb,
		 "MiB that all sessions may take together (default 0: a quarter of the memory)");

static atomic64_t memory_used = ATOMIC64_INIT(0);

u64 argtrace_memory_limit(void)
{
	unsigned int mb = READ_ONCE(memory_limit_mb);

	return mb ? (u64)mb << 20 : (u64)totalram_pages() << (PAGE_SHIFT - 2);
}

u64 argtrace_memory_used(void)
{
	return atomic64_read(&memory_used);
}

static int charge_within(u64 bytes, u64 limit)
{
	if (bytes > limit || atomic64_add_return(bytes, &memory_used) > limit) {
		if (bytes <= limit)
			atomic64_sub(bytes, &memory_used);
		return -ENOSPC;
	}
	return 0;
}

int argtrace_memory_charge(u64 bytes)
{
	return charge_within(bytes, argtrace_memory_limit());
}

int argtrace_memory_charge_optional(u64 bytes)
{
	const u64 limit = argtrace_memory_limit();

	return charge_within(bytes, limit - limit / 16);
}

void argtrace_memory_charge_anyway(u64 bytes)
{
	atomic64_add(bytes, &memory_used);
}

u64 argtrace_kvmalloc_size(u64 bytes)
{
	/*
	 * kvmalloc() tries kmalloc(), in powers of two above a page, before it takes single pages.
	 */
	return bytes <= KMALLOC_MAX_SIZE ? kmalloc_size_roundup(bytes) : PAGE_ALIGN(bytes);
}

u64 argtrace_percpu_size(u64 bytes)
{
	bytes = ALIGN(bytes, sizeof(u64));
	/*
	 * The allocator keeps a pointer for each PCPU_MIN_ALLOC_SIZE of one CPU
	 * (mm/percpu-internal.h).
	 */
	return bytes * num_possible_cpus() + bytes / PCPU_MIN_ALLOC_SIZE * sizeof(void *);
}

void argtrace_memory_uncharge(u64 bytes)
{
	WARN_ON_ONCE(atomic64_sub_return(bytes, &memory_used) < 0);
}
