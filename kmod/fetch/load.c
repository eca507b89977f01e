// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <asm/desc.h>

#include "fetch/load.h"

struct argtrace_template argtrace_percpu_template __read_mostly;

static DEFINE_PER_CPU(u8, own);

/*
 * The bounds of the template are not exported. gdt_page is among its first variables, those aligned to a page, and the per-cpu variables
 * of modules, ours included, are allocated in the PERCPU_MODULE_RESERVE bytes behind it. The range found here is a little too wide, but
 * on both sides of the template the image contains only what is freed or never read again once the kernel has started.
 */
void __init argtrace_load_init(void)
{
	const u64 first = (u64)(unsigned long __force)&gdt_page, mine = (u64)(unsigned long __force)&own;

	if ((s64)first >= 0 || mine < first || mine - first > SZ_16M)
		return;
	argtrace_percpu_template.start = first - SZ_64K;
	argtrace_percpu_template.size = mine + PERCPU_MODULE_RESERVE - argtrace_percpu_template.start;
}
