/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The number of the bucket that a value is in: see include/uapi/argtrace_map.h. Called in the
 * callback, so there is no division.
 */
#ifndef ARGTRACE_BUCKET_H
#define ARGTRACE_BUCKET_H

#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/overflow.h>
#include <linux/types.h>
#include <uapi/argtrace.h>

struct argtrace_buckets {
	u16 kind;			/* enum argtrace_map_buckets */
	bool is_signed;
	/* LINEAR: */
	u32 nr;
	u64 low;
	/* how far above `low` the last value of the last bucket is */
	u64 span;
	u64 step;
	u64 inverse;			/* (2^64 - 1) / step */
};

/* False if the description is not valid. */
static inline bool argtrace_buckets_init(struct argtrace_buckets *buckets,
					 const struct argtrace_map *map)
{
	const bool is_signed = map->flags & ARGTRACE_MAP_SIGNED;
	const u64 highest = is_signed ? S64_MAX : U64_MAX;

	*buckets = (struct argtrace_buckets){ .kind = map->buckets, .is_signed = is_signed };
	if (map->buckets != ARGTRACE_BUCKETS_LINEAR)
		return map->buckets <= ARGTRACE_BUCKETS_LINEAR && !map->low && !map->step &&
		       !map->nr_buckets;
	if (!map->step || !map->nr_buckets || map->nr_buckets > ARGTRACE_MAP_BUCKETS_MAX)
		return false;
	/* nr * step - 1, which must not exceed the highest value. */
	if (check_mul_overflow(map->step, (u64)map->nr_buckets - 1, &buckets->span) ||
	    check_add_overflow(buckets->span, map->step - 1, &buckets->span) ||
	    buckets->span > highest - map->low)
		return false;
	buckets->nr = map->nr_buckets;
	buckets->low = map->low;
	buckets->step = map->step;
	buckets->inverse = U64_MAX / map->step;
	return true;
}

static __always_inline u64 argtrace_bucket_log2(u64 value, bool is_signed)
{
	if (is_signed && (s64)value < 0)
		return -(u64)(u32)fls64(-value);
	/* Never negative, so that extending it takes no instruction. */
	return (u32)fls64(value);
}

static __always_inline u64 argtrace_bucket_linear(const struct argtrace_buckets *buckets, u64 value,
						  bool is_signed)
{
	const u64 above = value - buckets->low;
	u64 number;

	if (is_signed ? (s64)value < (s64)buckets->low : value < buckets->low)
		return -1ull;
	if (above > buckets->span)
		return buckets->nr;
	/*
	 * The inverse is at most 1 short of 2^64 / step, and `above` less than 2^64: the number is
	 * right, or one too low.
	 */
	number = mul_u64_u64_shr(above, buckets->inverse, 64);
	return number + (above - number * buckets->step >= buckets->step);
}

static __always_inline u64 argtrace_bucket(const struct argtrace_buckets *buckets, u64 value)
{
	return buckets->kind == ARGTRACE_BUCKETS_LOG2 ?
		       argtrace_bucket_log2(value, buckets->is_signed) :
		       argtrace_bucket_linear(buckets, value, buckets->is_signed);
}

#endif
