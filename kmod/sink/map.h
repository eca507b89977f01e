/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A map: each CPU has its own slots, which only that CPU writes, in any context up to NMI, while
 * user space may be reading them (include/uapi/argtrace_map.h).
 *
 * Open addressing: the hash of a key determines its home, where the search for it begins. Each step
 * goes one slot further than the previous step, so that keys with neighbouring homes diverge. The
 * search ends after ARGTRACE_MAP_STEPS slots; in a map that is half full, it has almost certainly
 * found a free slot by then. Nothing is ever deleted, so a free slot means that the key is not in
 * the map, and is claimed for it. The steps have letters:
 *
 *   A  read the tag: the slot is free
 *   B  compare and exchange the tag for the key's, without bit 0: the slot is ours
 *   C  write the key
 *   D  set bit 0 of the tag: from here on the slot has the key. A release, which pairs with the
 *      acquire of MapReader::read_slot()
 *      (user/session/map_reader.cpp)
 *
 * An interrupt completes before the writer that it has interrupted continues. If it claims the slot
 * between A and B, it also finishes the slot, and B fails: the slot is examined again. An interrupt
 * between B and D finds an unfinished slot; it cannot wait, and tries the next slot. So a key may
 * have several slots, which user space adds up. Each number is updated by a single instruction.
 */
#ifndef ARGTRACE_MAP_H
#define ARGTRACE_MAP_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

#include "arch/percpu.h"
#include "base/compat.h"
#include "base/percpu.h"
#include "sink/bucket.h"

struct argtrace_notice;

#define ARGTRACE_MAP_STEPS	16

/* The longest key, with its bucket. */
#define ARGTRACE_MAP_WORDS	(ARGTRACE_MAP_KEY_WORDS_MAX + 1)

/* The low bits of a tag; the others are those of its key's hash. */
#define ARGTRACE_MAP_FINISHED	1ull	/* the key is there */
/* never 0, so that the slot is not free whatever the hash */
#define ARGTRACE_MAP_CLAIMED	2ull

/* The slots of one CPU. */
struct argtrace_map_cpu {
	u8 *slots;			/* argtrace_map_no_slot if the CPU has none */
	u64 slot_size;			/* 0 in that case */
	u8 shift;			/* the upper bits of a hash are the number of a slot */
};

struct argtrace_map_set {
	struct argtrace_map_cpu __percpu *cpus;
	struct argtrace_notice *notice;
	struct argtrace_buckets buckets;
	u32 slots;			/* of each CPU: a power of two */
	u32 slot_size;
	u32 key_words;			/* without the bucket's */
	/* where they begin behind the slots of a CPU; 0 without values */
	u32 carries;
	bool has_value;

	struct argtrace_percpu percpu;
};

/*
 * Makes the slots of each present CPU in the memory of its node, and later those of CPUs that come.
 * ERR_PTR: -EINVAL, -ENOMEM, -ENOSPC.
 */
struct argtrace_map_set *argtrace_map_create(struct argtrace_notice *notice,
					     const struct argtrace_map *description);
/* To be called when no callback uses it any more. Accepts NULL. */
void argtrace_map_free(struct argtrace_map_set *map);

/* The map with that id, which may be any number; NULL if there is none. */
struct argtrace_map_set *argtrace_map_of(struct argtrace_map_set *const *maps, u64 id);

/*
 * The memory that user space maps, or NULL if this CPU has no slots. It may get slots at any time,
 * and never loses them.
 */
void *argtrace_map_memory(const struct argtrace_map_set *map, int cpu);

/* Stands in for the slots of a CPU that has none. It is neither free nor has any key. */
extern struct argtrace_map_slot argtrace_map_no_slot;

static __always_inline u64 *argtrace_map_key(struct argtrace_map_slot *slot, bool has_value)
{
	return (u64 *)((u8 *)slot +
		       (has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY));
}

/*
 * Hashes a key word by word, starting with 0. Each bit of the key affects the bits above it, and so
 * those that determine where the search begins.
 */
static __always_inline u64 argtrace_map_hash(u64 hash, u64 word)
{
	return (hash ^ word) * 0x9e3779b97f4a7c15ull;
}

/*
 * The hash of a key that is only the number of a bucket: its upper bits are the number itself, as
 * these numbers are few and consecutive.
 */
static __always_inline u64 argtrace_map_hash_bucket(const struct argtrace_map_cpu *cpu, u64 bucket)
{
	return bucket << (cpu->shift & 63);
}

/* The number of a key's home. The mask saves UBSAN's check of the shift, which takes a call. */
static __always_inline u64 argtrace_map_home_number(const struct argtrace_map_cpu *cpu, u64 hash)
{
	return hash >> (cpu->shift & 63);
}

static __always_inline struct argtrace_map_slot *
argtrace_map_home(const struct argtrace_map_cpu *cpu, u64 hash)
{
	return (struct argtrace_map_slot *)(cpu->slots +
					    argtrace_map_home_number(cpu, hash) * cpu->slot_size);
}

/* The tag of a finished slot. */
static __always_inline u64 argtrace_map_tag(u64 hash)
{
	return hash | ARGTRACE_MAP_CLAIMED | ARGTRACE_MAP_FINISHED;
}

static __always_inline bool argtrace_map_is_lower(u64 a, u64 b, bool is_signed)
{
	return is_signed ? (s64)a < (s64)b : a < b;
}

/* Atomic with respect to interrupts: on x86, one instruction. */
static __always_inline void argtrace_map_count(u64 *number)
{
	local_inc((local_t *)number);
}

static_assert(sizeof(local_t) == sizeof(u64));

/*
 * Adds to the sum of a slot, and returns whether that has wrapped, as a signed or as an unsigned
 * number.
 */
static __always_inline bool argtrace_map_sum_wraps(struct argtrace_map_slot *slot, u64 value,
						   bool is_signed)
{
	return argtrace_add_wraps(&slot->sum, value, is_signed);
}

/* The sum of this CPU's slot has wrapped when the value was added. */
void argtrace_map_carry(const struct argtrace_map_set *map, const struct argtrace_map_slot *slot,
			u64 value);

static __always_inline void argtrace_map_sum(const struct argtrace_map_set *map,
					     struct argtrace_map_slot *slot, u64 value,
					     bool is_signed)
{
	if (unlikely(argtrace_map_sum_wraps(slot, value, is_signed)))
		argtrace_map_carry(map, slot, value);
}

/* The last step of adding a call, after its value. */
static __always_inline void argtrace_map_count_call(struct argtrace_map_slot *slot)
{
	/*
	 * Pairs with the acquire with which MapReader::read_slot() (user/session/map_reader.cpp)
	 * reads the count first, so that it finds the values of at least as many calls.
	 */
	smp_wmb();
	argtrace_map_count(&slot->count);
}

/* Lowers min or raises max to the value, if necessary. */
void argtrace_map_extend(struct argtrace_map_slot *slot, u64 value, bool is_signed);

/* The outcome of adding a call. */
enum argtrace_map_result {
	ARGTRACE_MAP_ADDED,
	ARGTRACE_MAP_FULL,
	ARGTRACE_MAP_NO_SLOTS,		/* the CPU has none */
};

/*
 * Adds a call on this CPU; preemption is off. The key consists of its words, followed by room for
 * its bucket. `unreadable` says that the value could not be read; it is 0 then.
 */
enum argtrace_map_result argtrace_map_add(const struct argtrace_map_set *map, u64 *key, u64 value,
					  bool unreadable);

#endif
