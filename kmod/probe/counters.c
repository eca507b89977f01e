// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "base/memory.h"
#include "probe/counters.h"

DEFINE_PER_CPU(unsigned long, argtrace_counters_offset);

static DEFINE_MUTEX(blocks_lock);
static LIST_HEAD(blocks);
static u32 nr_blocks;
/*
 * CPUs that have been online since the module was loaded, which have pages in every block. Grows
 * under blocks_lock.
 */
static struct cpumask cpus_seen;
/* Mapped in every block for all other CPUs, as vmap() leaves no holes. Never written to. */
static struct page *absent_page;
static enum cpuhp_state hotplug_state;

static void *map_block(const struct argtrace_counters_block *block)
{
	return vmap(block->pages, nr_cpu_ids, VM_MAP, PAGE_KERNEL);
}

/* The block has been unmapped: nothing counts here any more. */
static void free_pages_of(struct argtrace_counters_block *block)
{
	unsigned int cpu;

	for (cpu = 0; block->pages && cpu < nr_cpu_ids; cpu++) {
		if (block->pages[cpu] && block->pages[cpu] != absent_page)
			__free_page(block->pages[cpu]);
	}
	kvfree(block->pages);
	argtrace_memory_uncharge(block->charged);
	kfree(block);
}

static u64 block_charge(void)
{
	return argtrace_kvmalloc_size(sizeof(struct argtrace_counters_block)) +
	       argtrace_kvmalloc_size(nr_cpu_ids * sizeof(struct page *)) +
	       nr_cpu_ids * sizeof(pte_t) + cpumask_weight(&cpus_seen) * PAGE_SIZE;
}

static struct page *alloc_counters_page(unsigned int cpu, gfp_t gfp)
{
	return alloc_pages_node(cpu_to_node(cpu), gfp | __GFP_ZERO, 0);
}

/* A CPU that comes online meanwhile waits for blocks_lock, and then finds the block. */
struct argtrace_counters_block *argtrace_counters_block_create(void)
{
	struct argtrace_counters_block *block;
	unsigned int cpu;
	u64 charge;
	int ret;

	mutex_lock(&blocks_lock);
	charge = block_charge();
	ret = argtrace_memory_charge(charge);
	if (ret)
		goto err_unlock;
	ret = -ENOMEM;
	block = kzalloc(sizeof(*block), ARGTRACE_GFP);
	if (!block) {
		argtrace_memory_uncharge(charge);
		goto err_unlock;
	}
	block->charged = charge;
	block->pages = argtrace_kvcalloc(nr_cpu_ids, sizeof(*block->pages));
	if (!block->pages)
		goto err_free;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		block->pages[cpu] = cpumask_test_cpu(cpu, &cpus_seen) ?
				    alloc_counters_page(cpu, ARGTRACE_GFP) : absent_page;
		if (!block->pages[cpu])
			goto err_free;
	}
	block->base = map_block(block);
	if (!block->base)
		goto err_free;
	list_add_tail(&block->link, &blocks);
	nr_blocks++;
	mutex_unlock(&blocks_lock);
	return block;

err_free:
	free_pages_of(block);
err_unlock:
	mutex_unlock(&blocks_lock);
	return ERR_PTR(ret);
}

void argtrace_counters_block_free(struct argtrace_counters_block *block)
{
	mutex_lock(&blocks_lock);
	list_del(&block->link);
	nr_blocks--;
	mutex_unlock(&blocks_lock);
	vunmap(block->base);
	free_pages_of(block);
}

static struct argtrace_counters *counters_at(void *base, u32 user)
{
	return (struct argtrace_counters *)base + user;
}

bool argtrace_counters_block_join(struct argtrace_counters_block *block,
				  struct argtrace_counters **counters)
{
	if (block->nr_joined == ARGTRACE_COUNTERS_PER_BLOCK)
		return false;
	mutex_lock(&blocks_lock);
	block->users[block->nr_joined] = counters;
	*counters = counters_at(block->base, block->nr_joined++);
	block->nr_users++;
	mutex_unlock(&blocks_lock);
	return true;
}

void argtrace_counters_block_leave(struct argtrace_counters_block *block,
				   struct argtrace_counters **counters)
{
	u32 last;

	mutex_lock(&blocks_lock);
	block->users[*counters - counters_at(block->base, 0)] = NULL;
	*counters = NULL;
	last = !--block->nr_users;
	mutex_unlock(&blocks_lock);
	if (last)
		argtrace_counters_block_free(block);
}

/* Mappings that blocks have replaced, until no callback can be using them any more. */
struct replaced {
	struct list_head link;
	u32 count;
	void *mappings[];
};

static LIST_HEAD(replaced_mappings);	/* under blocks_lock */

static void unmap_replaced(struct work_struct *work)
{
	struct replaced *replaced, *next;
	LIST_HEAD(list);
	u32 i;

	mutex_lock(&blocks_lock);
	list_splice_init(&replaced_mappings, &list);
	mutex_unlock(&blocks_lock);
	argtrace_synchronize();
	list_for_each_entry_safe(replaced, next, &list, link) {
		for (i = 0; i < replaced->count; i++)
			vunmap(replaced->mappings[i]);
		kvfree(replaced);
	}
}

static DECLARE_WORK(unmap_work, unmap_replaced);

/*
 * Maps the block again, with a page for the CPU, and returns the old mapping, or NULL if there is
 * no memory. Meanwhile the other CPUs count through either mapping, as their pages are the same in
 * both.
 */
static void *remap_with_cpu(struct argtrace_counters_block *block, unsigned int cpu)
{
	struct page *page = alloc_counters_page(cpu, ARGTRACE_GFP_REMOVAL);
	void *base, *old = block->base;
	u32 user;

	if (!page)
		return NULL;
	block->pages[cpu] = page;
	base = map_block(block);
	if (!base) {
		block->pages[cpu] = absent_page;
		__free_page(page);
		return NULL;
	}
	argtrace_memory_charge_anyway(PAGE_SIZE);
	block->charged += PAGE_SIZE;
	block->base = base;
	for (user = 0; user < block->nr_joined; user++) {
		if (!block->users[user])
			continue;
		/*
		 * Pairs with the address dependency of argtrace_counters_here(): what it finds
		 * there is mapped.
		 */
		smp_store_release(block->users[user], counters_at(base, user));
	}
	return old;
}

static int add_cpu_to_blocks(unsigned int cpu)
{
	struct argtrace_counters_block *block;
	struct replaced *replaced;
	int ret = 0;

	if (!nr_blocks)
		return 0;
	replaced = kvzalloc(struct_size(replaced, mappings, nr_blocks), ARGTRACE_GFP_REMOVAL);
	if (!replaced)
		return -ENOMEM;
	list_for_each_entry(block, &blocks, link) {
		void *old;

		if (block->pages[cpu] != absent_page)
			continue;
		old = remap_with_cpu(block, cpu);
		if (!old) {
			ret = -ENOMEM;
			break;
		}
		replaced->mappings[replaced->count++] = old;
	}
	list_add_tail(&replaced->link, &replaced_mappings);
	schedule_work(&unmap_work);
	return ret;
}

/*
 * Called before a CPU comes online. If there is no memory for its counters, it stays offline, as
 * its calls could not be counted. This must not wait for the other CPUs, which is left to
 * unmap_work.
 */
static int counters_cpu_comes(unsigned int cpu)
{
	int ret = 0;

	mutex_lock(&blocks_lock);
	if (!cpumask_test_cpu(cpu, &cpus_seen))
		ret = add_cpu_to_blocks(cpu);
	if (!ret)
		cpumask_set_cpu(cpu, &cpus_seen);
	mutex_unlock(&blocks_lock);
	return ret;
}

int argtrace_counters_init(void)
{
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu)
		per_cpu(argtrace_counters_offset, cpu) = cpu * PAGE_SIZE;
	absent_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!absent_page)
		return -ENOMEM;
	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "argtrace/counters:prepare",
				counters_cpu_comes, NULL);
	if (ret < 0) {
		__free_page(absent_page);
		return ret;
	}
	hotplug_state = ret;
	return 0;
}

void argtrace_counters_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	flush_work(&unmap_work);
	__free_page(absent_page);
}

#define NR_WORDS	(sizeof(struct argtrace_counters) / sizeof(unsigned long))

static void sum_words(struct argtrace_counters *const *counters, unsigned long *sum)
{
	struct argtrace_counters *first;
	unsigned int i;
	int cpu;

	/*
	 * The mapping that is read must not be unmapped meanwhile: see unmap_replaced(). To list
	 * forty thousand probes calls no function for each of them, as for_each_cpu() and
	 * rcu_read_lock() would: such calls may be what is recorded.
	 */
	preempt_disable_notrace();
	first = READ_ONCE(*counters);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const unsigned long *on = (const unsigned long *)argtrace_counters_of(first, cpu);

		if (!cpumask_test_cpu(cpu, &cpus_seen))
			continue;
		for (i = 0; i < NR_WORDS; i++)
			sum[i] += READ_ONCE(on[i]);
	}
	preempt_enable_notrace();
}

struct argtrace_counters argtrace_counters_sum(struct argtrace_counters *const *counters)
{
	struct argtrace_counters sum = { };

	sum_words(counters, (unsigned long *)&sum);
	return sum;
}

struct argtrace_return_counters
argtrace_return_counters_sum(struct argtrace_counters *const *counters)
{
	struct argtrace_return_counters sum = { };

	sum_words(counters, (unsigned long *)&sum);
	return sum;
}
