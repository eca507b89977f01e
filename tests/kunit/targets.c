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

static u64 mix(u64 sum, u64 value)
{
	return sum * 31 + value;
}

u64 target_value(u64 a, u64 b, u64 c)
{
	return mix(mix(a, b), c);
}

s32 target_narrow(s32 a)
{
	return -a;
}

struct target_pair target_pair(u64 a, u32 b)
{
	return (struct target_pair){ a + 1, b + 1 };
}

__int128 target_wide(u64 a, u64 b)
{
	return (__int128)a << 64 | b;
}

struct target_large target_by_memory(u64 a)
{
	return (struct target_large){ { a, a + 1, a + 2 } };
}

u64 target_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i, u64 j)
{
	return mix(mix(mix(mix(mix(mix(mix(mix(mix(a, b), c), d), e), f), g), h), i), j);
}

u64 target_by_value(struct target_large large, u64 a)
{
	return mix(mix(mix(large.words[0], large.words[1]), large.words[2]), a);
}

u64 target_recursive(u64 depth)
{
	u64 (*volatile itself)(u64) = target_recursive;

	return depth ? mix(itself(depth - 1), depth) : 7;
}

u64 target_calls(u64 (*function)(void *), void *argument)
{
	return function(argument) + 1;
}
