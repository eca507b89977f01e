/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory on one node that user space can map: rings, the slots of maps, and tables of stacks. */
#ifndef ARGTRACE_REGION_H
#define ARGTRACE_REGION_H

#include <linux/types.h>

/*
 * Allocates `count` zeroed pages on the node, virtually contiguous, which user space can map. NULL
 * if there is no memory. Freed by vfree(), along with the array of pages.
 */
void *argtrace_region_alloc(unsigned int count, int node);

/* How much memory that takes. */
u64 argtrace_region_charge(unsigned int count);

#endif
