// SPDX-License-Identifier: GPL-2.0-only
#include <linux/compiler.h>

#include "targets.h"

void target_none(void)
{
	barrier();
}

void target_three(u64 a, u64 b, u64 c)
{
	barrier();
}

void target_alias(u64 a, u64 b, u64 c) __attribute__((__alias__("target_three")));

notrace void target_untraceable(void)
{
	barrier();
}

void target_six(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	barrier();
}

void target_eight(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	barrier();
}
