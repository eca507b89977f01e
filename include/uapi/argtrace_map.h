/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: maps. A program whose sink is ARGTRACE_SINK_MAP adds each call that it accepts to a slot of a map: the slot with
 * the key that the program computes. Each CPU has its own slots, so that adding takes no lock; user space maps them
 * read-only and adds up the slots of equal keys, at any time, without stopping the writers.
 *
 * The outputs of the program make the key, in their order, and with ARGTRACE_MAP_VALUE the last one is the value, an OUT of 8 bytes.
 * In the key, an OUT takes a word of 8 bytes, zero-extended, and a STR or BUF its `arg` bytes, a multiple of 8, which are the text,
 * or the bytes, padded with zeros. Other outputs are refused (-EINVAL), and so is a key whose length is not the map's. An output that cannot be read
 * is zeros, and the call is counted in argtrace_counts.faults. If it is the value, the call is in the bucket of 0, and is counted in the
 * slot's `count` and `faults`, but not in sum, min and max.
 *
 * A map with buckets has one more word at the end of the key, the number of the bucket that the value is in:
 *
 *   LOG2    0 for 0, n for 2^(n-1) to 2^n - 1, and with SIGNED -n for -2^(n-1) to -(2^n - 1)
 *   LINEAR  n for low + n * step to low + (n + 1) * step - 1, up to nr_buckets - 1; -1 for lower values, nr_buckets for higher
 *           ones
 *
 * The bounds of all buckets of LINEAR must be 64-bit numbers, signed ones with SIGNED.
 *
 * Nothing is ever deleted. If the CPU has no slot left for a key (or none near the place that its hash determines), the call is lost
 * (ARGTRACE_LOST_FULL). So the sum of `count` over all slots equals the sum of argtrace_counts.records over the map's probes.
 *
 * A map with VALUE has a carry for each slot, a __s64, in an array that begins `carries` bytes from the first slot, in the order of the
 * slots. The sum of a slot's values is `sum`, a signed number with SIGNED, plus 2^64 times its carry. A call that makes `sum` wrap
 * changes the carry after `sum`, and before `count`. A module whose `carries` is 0 keeps the lower 64 bits alone.
 *
 * A key may have several slots on a CPU, as an interrupt that finds its slot unfinished takes another. `count` is the last number of a
 * slot that a call changes: numbers that are read after it, with acquire, include at least as many calls.
 */
#ifndef _UAPI_ARGTRACE_MAP_H
#define _UAPI_ARGTRACE_MAP_H

#include <linux/types.h>

#define ARGTRACE_MAPS_MAX		8	/* of a session */
#define ARGTRACE_MAP_KEY_WORDS_MAX	8	/* words of 8 bytes, that of the bucket not counted */
#define ARGTRACE_MAP_SLOTS_MIN		64
#define ARGTRACE_MAP_SLOTS_MAX		(1u << 20)
#define ARGTRACE_MAP_BUCKETS_MAX	4096	/* of LINEAR */

enum argtrace_map_buckets {
	ARGTRACE_BUCKETS_NONE	= 0,
	ARGTRACE_BUCKETS_LOG2	= 1,
	ARGTRACE_BUCKETS_LINEAR	= 2,
};

/*
 * ARGTRACE_IOC_MAP: makes a map of the session that the file is bound to. It is freed with the session.
 * -EINVAL an invalid description, -E2BIG there are ARGTRACE_MAPS_MAX already, -ENOSPC the memory limit, -ENOMEM no
 * memory, -ENOENT the session has been removed.
 */
struct argtrace_map {
	__u32	size;
	__u32	flags;			/* ARGTRACE_MAP_* */
	__u32	slots;			/* for each CPU: a power of two */
	__u16	key_words;		/* of the key without its bucket; may be 0 */
	__u16	buckets;		/* enum argtrace_map_buckets; takes VALUE */
	__u64	low;			/* LINEAR, else 0 */
	__u64	step;			/* LINEAR, at least 1; else 0 */
	__u32	nr_buckets;		/* LINEAR, at least 1; else 0 */
	__u32	id;			/* out: 0 to ARGTRACE_MAPS_MAX - 1 */
	__u32	slot_size;		/* out: bytes from one slot to the next */
	__u32	carries;		/* out: with VALUE, where the carries begin in the memory of a CPU; else 0 */
};

#define ARGTRACE_MAP_VALUE	(1u << 0)	/* the last output of the programs is a value */
#define ARGTRACE_MAP_SIGNED	(1u << 1)	/* it is a signed number */

/* A slot. With VALUE the key comes after `max`, without after `count`. */
struct argtrace_map_slot {
	__u64	tag;			/* 0: the slot is free; bit 0: its key is there, and will not change. Read it with acquire. */
	__u64	count;			/* calls */
	/* The values of those calls: */
	__u64	faults;			/* could not be read */
	__u64	sum;			/* of the others: its lower 64 bits, see "carries" */
	__u64	min;			/* meaningless while count == faults */
	__u64	max;
};

#define ARGTRACE_MAP_SLOT_KEY		16	/* offset of the key in a slot */
#define ARGTRACE_MAP_SLOT_KEY_VALUE	48	/* its offset with VALUE */

#endif
