/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of one node that user space can map: rings, and the slots of maps. */
#ifndef ARGTRACE_REGION_H
#define ARGTRACE_REGION_H

#include <linux/types.h>

/*
 * `count` zeroed pages of the node, one after the other, fit to be mapped by user space. NULL: no memory. Freed by vfree(), with
 * the array that names them.
 */
void *argtrace_region_alloc(unsigned int count, int node);

/* What that takes. */
u64 argtrace_region_charge(unsigned int count);

#endif
