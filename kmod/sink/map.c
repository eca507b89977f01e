// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "base/hook.h"
#include "base/memory.h"
#include "sink/notice.h"
#include "sink/map.h"
#include "base/region.h"

struct argtrace_map_slot argtrace_map_no_slot = { .tag = ARGTRACE_MAP_CLAIMED };

static unsigned int map_pages(const struct argtrace_map_set *map)
{
	const u64 carries = map->has_value ? (u64)map->slots * sizeof(u64) : 0;

	return DIV_ROUND_UP_ULL((u64)map->slots * map->slot_size + carries, PAGE_SIZE);
}

void *argtrace_map_memory(const struct argtrace_map_set *map, int cpu)
{
	/* Pairs with the release of slots_create(). */
	u8 *slots = smp_load_acquire(&per_cpu_ptr(map->cpus, cpu)->slots);

	return slots == (u8 *)&argtrace_map_no_slot ? NULL : slots;
}

struct argtrace_map_set *argtrace_map_of(struct argtrace_map_set *const *maps, u64 id)
{
	if (id >= ARGTRACE_MAPS_MAX)
		return NULL;
	/* Pairs with argtrace_session_publish_map(). */
	return smp_load_acquire(&maps[array_index_nospec(id, ARGTRACE_MAPS_MAX)]);
}

static struct argtrace_map_set *map_of(const struct argtrace_percpu *percpu)
{
	return container_of(percpu, struct argtrace_map_set, percpu);
}

static u64 slots_charge(const struct argtrace_percpu *percpu)
{
	return argtrace_region_charge(map_pages(map_of(percpu)));
}

static bool slots_exist(const struct argtrace_percpu *percpu, unsigned int cpu)
{
	return argtrace_map_memory(map_of(percpu), cpu);
}

static int slots_create(struct argtrace_percpu *percpu, unsigned int number)
{
	const struct argtrace_map_set *map = map_of(percpu);
	struct argtrace_map_cpu *cpu = per_cpu_ptr(map->cpus, number);
	u8 *slots = argtrace_region_alloc(map_pages(map), cpu_to_node(number));

	if (!slots)
		return -ENOMEM;
	cpu->slot_size = map->slot_size;
	cpu->shift = 64 - ilog2(map->slots);
	/* Pairs with argtrace_map_memory(). */
	smp_store_release(&cpu->slots, slots);
	return 0;
}

static void slots_came(struct argtrace_percpu *percpu)
{
	argtrace_notice_change(map_of(percpu)->notice);
}

static const struct argtrace_percpu_kind slots_kind = {
	.charge = slots_charge,
	.exists = slots_exist,
	.create = slots_create,
	.came = slots_came,
};

static void free_map(struct argtrace_map_set *map)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(argtrace_map_memory(map, cpu));
	free_percpu(map->cpus);
	argtrace_memory_uncharge(map->percpu.charged);
	kfree(map);
}

/* Sizes that do not make slots straddle cache lines more than necessary. */
static u32 slot_size(const struct argtrace_map *description)
{
	const bool has_value = description->flags & ARGTRACE_MAP_VALUE;
	const u32 words = description->key_words + !!description->buckets;
	const u32 size = (has_value ? ARGTRACE_MAP_SLOT_KEY_VALUE : ARGTRACE_MAP_SLOT_KEY) + words * sizeof(u64);

	return size <= L1_CACHE_BYTES ? roundup_pow_of_two(size) : ALIGN(size, L1_CACHE_BYTES / 2);
}

static bool map_is_valid(const struct argtrace_map *description)
{
	const bool has_value = description->flags & ARGTRACE_MAP_VALUE;

	if (description->flags & ~(ARGTRACE_MAP_VALUE | ARGTRACE_MAP_SIGNED))
		return false;
	if (!has_value && (description->buckets || description->flags & ARGTRACE_MAP_SIGNED))
		return false;
	return !description->id && !description->slot_size && !description->carries &&
	       is_power_of_2(description->slots) && description->slots >= ARGTRACE_MAP_SLOTS_MIN &&
	       description->slots <= ARGTRACE_MAP_SLOTS_MAX && description->key_words <= ARGTRACE_MAP_KEY_WORDS_MAX;
}

struct argtrace_map_set *argtrace_map_create(struct argtrace_notice *notice, const struct argtrace_map *description)
{
	const u64 charge = argtrace_percpu_size(sizeof(struct argtrace_map_cpu));
	struct argtrace_buckets buckets;
	struct argtrace_map_set *map;
	int cpu, ret;

	if (!map_is_valid(description) || !argtrace_buckets_init(&buckets, description))
		return ERR_PTR(-EINVAL);
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ERR_PTR(ret);
	map = kzalloc(sizeof(*map), ARGTRACE_GFP);
	if (map)
		map->cpus = alloc_percpu_gfp(struct argtrace_map_cpu, ARGTRACE_GFP);
	if (!map || !map->cpus) {
		kfree(map);
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	map->percpu.charged = charge;
	map->notice = notice;
	map->buckets = buckets;
	map->slots = description->slots;
	map->slot_size = slot_size(description);
	map->key_words = description->key_words;
	map->has_value = description->flags & ARGTRACE_MAP_VALUE;
	map->carries = map->has_value ? map->slots * map->slot_size : 0;
	for_each_possible_cpu(cpu)
		*per_cpu_ptr(map->cpus, cpu) = (struct argtrace_map_cpu){
			.slots = (u8 *)&argtrace_map_no_slot,
			.shift = 63,
		};
	ret = argtrace_percpu_provide(&map->percpu, &slots_kind);
	if (ret) {
		free_map(map);
		return ERR_PTR(ret);
	}
	return map;
}

void argtrace_map_free(struct argtrace_map_set *map)
{
	if (!map)
		return;
	argtrace_percpu_stop(&map->percpu);
	free_map(map);
}

static bool has_key(struct argtrace_map_slot *slot, bool has_value, const u64 *key, u32 words)
{
	const u64 *there = argtrace_map_key(slot, has_value);
	u32 i;

	for (i = 0; i < words; i++) {
		if (there[i] != key[i])
			return false;
	}
	return true;
}

/* Step C. If the map has values, min and max start as those of no value. */
static void write_slot(const struct argtrace_map_set *map, struct argtrace_map_slot *slot, const u64 *key, u32 words)
{
	u64 *to = argtrace_map_key(slot, map->has_value);
	u32 i;

	for (i = 0; i < words; i++)
		WRITE_ONCE(to[i], key[i]);
	if (map->has_value) {
		WRITE_ONCE(slot->min, map->buckets.is_signed ? S64_MAX : U64_MAX);
		WRITE_ONCE(slot->max, map->buckets.is_signed ? (u64)S64_MIN : 0);
	}
}

/* The slot of a key, which is claimed for it if necessary. NULL if no slot is left near its home. */
static struct argtrace_map_slot *find_slot(const struct argtrace_map_set *map, const struct argtrace_map_cpu *cpu, u64 hash,
					   const u64 *key, u32 words)
{
	const u64 finished = argtrace_map_tag(hash), claimed = finished & ~ARGTRACE_MAP_FINISHED;
	u32 at = argtrace_map_home_number(cpu, hash), step;

	for (step = 0; step < ARGTRACE_MAP_STEPS; at = (at + ++step) & (map->slots - 1)) {
		struct argtrace_map_slot *slot = (struct argtrace_map_slot *)(cpu->slots + (u64)at * cpu->slot_size);
		u64 tag = READ_ONCE(slot->tag);				/* A */

		if (!tag) {
			ARGTRACE_HOOK(MAP_AB);
			tag = cmpxchg_local(&slot->tag, 0, claimed);	/* B */
			if (!tag) {
				ARGTRACE_HOOK(MAP_BC);
				write_slot(map, slot, key, words);	/* C */
				ARGTRACE_HOOK(MAP_CD);
				smp_store_release(&slot->tag, finished); /* D */
				return slot;
			}
		}
		if (tag == finished && has_key(slot, map->has_value, key, words))
			return slot;
	}
	return NULL;
}

void argtrace_map_extend(struct argtrace_map_slot *slot, u64 value, bool is_signed)
{
	u64 there = READ_ONCE(slot->min), before;

	while (argtrace_map_is_lower(value, there, is_signed)) {
		ARGTRACE_HOOK(MAP_EXTEND);
		before = cmpxchg_local(&slot->min, there, value);
		if (before == there)
			break;
		there = before;
	}
	there = READ_ONCE(slot->max);
	while (argtrace_map_is_lower(there, value, is_signed)) {
		ARGTRACE_HOOK(MAP_EXTEND);
		before = cmpxchg_local(&slot->max, there, value);
		if (before == there)
			break;
		there = before;
	}
}

/* Rare, so that the carry may be found by a division. */
void argtrace_map_carry(const struct argtrace_map_set *map, const struct argtrace_map_slot *slot, u64 value)
{
	u8 *slots = this_cpu_ptr(map->cpus)->slots;
	local_t *carry = (local_t *)(slots + map->carries) + (u32)((const u8 *)slot - slots) / map->slot_size;

	ARGTRACE_HOOK(MAP_CARRY);
	if (map->buckets.is_signed && (s64)value < 0)
		local_dec(carry);
	else
		local_inc(carry);
}

enum argtrace_map_result argtrace_map_add(const struct argtrace_map_set *map, u64 *key, u64 value, bool unreadable)
{
	const struct argtrace_map_cpu *cpu = this_cpu_ptr(map->cpus);
	struct argtrace_map_slot *slot;
	u32 words = map->key_words, i;
	u64 hash = 0;

	if (unlikely(cpu->slots == (u8 *)&argtrace_map_no_slot))
		return ARGTRACE_MAP_NO_SLOTS;
	if (map->buckets.kind)
		key[words++] = argtrace_bucket(&map->buckets, value);
	if (map->buckets.kind && words == 1)
		hash = argtrace_map_hash_bucket(cpu, key[0]);
	else
		for (i = 0; i < words; i++)
			hash = argtrace_map_hash(hash, key[i]);
	slot = find_slot(map, cpu, hash, key, words);
	if (unlikely(!slot))
		return ARGTRACE_MAP_FULL;
	/* The count last: see argtrace_map_count_call(). */
	if (map->has_value && !unreadable) {
		argtrace_map_extend(slot, value, map->buckets.is_signed);
		argtrace_map_sum(map, slot, value, map->buckets.is_signed);
	} else if (map->has_value) {
		argtrace_map_count(&slot->faults);
	}
	argtrace_map_count_call(slot);
	return ARGTRACE_MAP_ADDED;
}
