// SPDX-License-Identifier: GPL-2.0-only
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "source/user_call_memory.h"

/* Powers of two, of which each CPU keeps a few spare ones. */
#define SMALLEST_ORDER	8
#define NR_SIZES	5
#define SPARE_MAX	8

/* Memory that no call has; it remains charged. */
struct spare {
	struct spare *next;
};

struct spares {
	struct spare *first[NR_SIZES];
	u8 count[NR_SIZES];
};

/* Only tasks have them, with preemption off. */
static DEFINE_PER_CPU(struct spares, spare_calls);

static u32 order_of(u32 size)
{
	return max_t(u32, order_base_2(size), SMALLEST_ORDER) - SMALLEST_ORDER;
}

static void *take_spare(u32 order)
{
	struct spares *spares;
	struct spare *spare;

	preempt_disable_notrace();
	spares = this_cpu_ptr(&spare_calls);
	spare = spares->first[order];
	if (likely(spare)) {
		spares->first[order] = spare->next;
		spares->count[order]--;
	}
	preempt_enable_notrace();
	return spare;
}

static bool keep_spare(void *memory, u32 order)
{
	struct spare *spare = memory;
	struct spares *spares;
	bool kept;

	preempt_disable_notrace();
	spares = this_cpu_ptr(&spare_calls);
	kept = spares->count[order] < SPARE_MAX;
	if (likely(kept)) {
		spare->next = spares->first[order];
		spares->first[order] = spare;
		spares->count[order]++;
	}
	preempt_enable_notrace();
	return kept;
}

static u32 charge_of(u32 size, u32 order)
{
	return order < NR_SIZES ? 1u << (order + SMALLEST_ORDER) : size;
}

void *argtrace_user_call_memory(u32 size)
{
	const u32 order = order_of(size), charge = charge_of(size, order);
	void *memory = order < NR_SIZES ? take_spare(order) : NULL;

	if (likely(memory))
		return memory;
	if (unlikely(argtrace_memory_charge(charge)))
		return NULL;
	/* A program is not to wait for memory because it is looked at. */
	memory = kmalloc(charge, GFP_NOWAIT | __GFP_NOWARN);
	if (unlikely(!memory))
		argtrace_memory_uncharge(charge);
	return memory;
}

void argtrace_user_call_memory_free(void *memory, u32 size)
{
	const u32 order = order_of(size);

	if (order < NR_SIZES && likely(keep_spare(memory, order)))
		return;
	argtrace_memory_uncharge(charge_of(size, order));
	kfree(memory);
}

void argtrace_user_call_memory_uncharge(u32 size)
{
	argtrace_memory_uncharge(charge_of(size, order_of(size)));
}

void argtrace_user_call_memory_free_spares(void)
{
	struct spare *spare, *next;
	u32 order;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct spares *spares = per_cpu_ptr(&spare_calls, cpu);

		for (order = 0; order < NR_SIZES; order++) {
			for (spare = spares->first[order]; spare; spare = next) {
				next = spare->next;
				argtrace_memory_uncharge(1u << (order + SMALLEST_ORDER));
				kfree(spare);
			}
		}
		*spares = (struct spares){ };
	}
}
