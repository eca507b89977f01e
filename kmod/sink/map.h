/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A map: for each CPU slots of its own, which that CPU alone writes, in any context up to NMI, and user space reads meanwhile
 * (include/uapi/argtrace_map.h).
 *
 * Open addressing: where the search for a key begins, its home, follows from its hash. From slot to slot it goes one further than the
 * time before, so that keys of neighbouring homes part, and it ends after ARGTRACE_MAP_STEPS slots: in a map that is half full it has
 * almost surely found a free one by then. Nothing is ever deleted, so a free slot on the way says that the key is not there, and is claimed for it. The steps have letters:
 *
 *   A  read the tag: the slot is free
 *   B  compare and exchange the tag for the key's, without bit 0: the slot is ours
 *   C  write the key
 *   D  set bit 0 of the tag: from here on the key is there. A release, which pairs with the acquire of MapReader::read_slot()
 *      (user/session/map_reader.cpp)
 *
 * An interrupt runs to its end before the writer that it has interrupted goes on. One that claims the slot between A and B has B
 * fail, and finished it: the slot is looked at again. One between B and D finds a slot that is not finished; it cannot wait, and goes
 * on to the next one, so that a key may have several slots, which user space adds up. Counting is one instruction for each number.
 */
#ifndef ARGTRACE_MAP_H
#define ARGTRACE_MAP_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/local.h>
#include <uapi/argtrace.h>

#include "compat.h"
#include "sink/bucket.h"

struct argtrace_session;

#define ARGTRACE_MAP_STEPS	16

/* The longest key, with its bucket. */
#define ARGTRACE_MAP_WORDS	(ARGTRACE_MAP_KEY_WORDS_MAX + 1)

/* The low bits of a tag; the others are those of its key's hash. */
#define ARGTRACE_MAP_FINISHED	1ull	/* the key is there */
#define ARGTRACE_MAP_CLAIMED	2ull	/* it is no free slot, whatever the hash */

/* The slots of one CPU. */
struct argtrace_map_cpu {
	u8 *slots;			/* of a CPU without any: argtrace_map_no_slot */
	u64 slot_size;			/* 0 then */
	u8 shift;			/* the upper bits of a hash are the number of a slot */
};

struct argtrace_map_set {
	struct argtrace_map_cpu __percpu *cpus;
	struct argtrace_session *session;
	struct argtrace_buckets buckets;
	u32 slots;			/* of each CPU: a power of two */
	u32 slot_size;
	u32 key_words;			/* without the bucket's */
	bool has_value;

	struct hlist_node node;
	u64 charged;			/* under the lock of CPU hotplug */
};

/* At module load and unload. */
int argtrace_maps_init(void);
void argtrace_maps_exit(void);

/*
 * Makes the slots of the present CPUs, each in the memory of its own node, and from then on those of CPUs that come. ERR_PTR:
 * -EINVAL, -ENOMEM, -ENOSPC.
 */
struct argtrace_map_set *argtrace_map_create(struct argtrace_session *session, const struct argtrace_map *description);
/* No callback uses it any more. NULL is none. */
void argtrace_map_free(struct argtrace_map_set *map);

/* The map with that id, whatever the number, of a session's; NULL: there is none. */
struct argtrace_map_set *argtrace_map_of(struct argtrace_map_set *const *maps, u64 id);

/* The memory that user space maps; NULL: this CPU has no slots. It may get some at any time, and never loses them. */
void *argtrace_map_memory(const struct argtrace_map_set *map, int cpu);

/* In place of the slots of a CPU that has none. It is not free, and no key's. */
extern struct argtrace_map_slot argtrace_map_no_slot;

static __always_inline u64 *argtrace_map_key(struct argtrace_map_slot *slot, bool has_value)
{
	return (u64 *)((u8 *)slot + (has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY));
}

/*
 * The hash of a key, one word after the other, begun with 0. Each bit of the key has a part in the bits above it, and so in those
 * that say where the search begins.
 */
static __always_inline u64 argtrace_map_hash(u64 hash, u64 word)
{
	return (hash ^ word) * 0x9e3779b97f4a7c15ull;
}

/*
 * That of a key which is nothing but the number of a bucket: its upper bits are those of the number itself, which are few and in
 * a row.
 */
static __always_inline u64 argtrace_map_hash_bucket(const struct argtrace_map_cpu *cpu, u64 bucket)
{
	return bucket << (cpu->shift & 63);
}

/* The number of a key's home. The mask spares kernels with UBSAN the check of the shift, which takes a call. */
static __always_inline u64 argtrace_map_home_number(const struct argtrace_map_cpu *cpu, u64 hash)
{
	return hash >> (cpu->shift & 63);
}

static __always_inline struct argtrace_map_slot *argtrace_map_home(const struct argtrace_map_cpu *cpu, u64 hash)
{
	return (struct argtrace_map_slot *)(cpu->slots + argtrace_map_home_number(cpu, hash) * cpu->slot_size);
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

/* One instruction each on x86: whole under interrupts. */
static __always_inline void argtrace_map_count(u64 *number)
{
	local_inc((local_t *)number);
}

static __always_inline void argtrace_map_sum(struct argtrace_map_slot *slot, u64 value)
{
	local_add(value, (local_t *)&slot->sum);
}
static_assert(sizeof(local_t) == sizeof(u64));

/* Lowers min and raises max, if the value says so. */
void argtrace_map_extend(struct argtrace_map_slot *slot, u64 value, bool is_signed);

/* What has become of a call. */
enum argtrace_map_result {
	ARGTRACE_MAP_ADDED,
	ARGTRACE_MAP_FULL,
	ARGTRACE_MAP_NO_SLOTS,		/* the CPU has none */
};

/*
 * Adds a call on this CPU; preemption is off. The key has its words, and room for its bucket. `unreadable`: the value could not be
 * read, and is 0.
 */
enum argtrace_map_result argtrace_map_add(const struct argtrace_map_set *map, u64 *key, u64 value, bool unreadable);

#endif
