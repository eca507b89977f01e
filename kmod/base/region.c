// SPDX-License-Identifier: GPL-2.0-only
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>

#include "base/memory.h"
#include "base/region.h"

void *argtrace_region_alloc(unsigned int count, int node)
{
	struct page **pages = argtrace_kvmalloc(count * sizeof(*pages));
	unsigned int i;
	void *region;

	if (!pages)
		return NULL;
	for (i = 0; i < count; i++) {
		pages[i] = alloc_pages_node(node, ARGTRACE_GFP | __GFP_ZERO, 0);
		if (!pages[i])
			goto err;
		cond_resched();
	}
	region = vmap(pages, count, VM_MAP | VM_MAP_PUT_PAGES | VM_USERMAP, PAGE_KERNEL);
	if (region)
		return region;
err:
	while (i--)
		__free_page(pages[i]);
	kvfree(pages);
	return NULL;
}

u64 argtrace_region_charge(unsigned int count)
{
	return (u64)count * PAGE_SIZE + argtrace_kvmalloc_size(count * sizeof(struct page *));
}
