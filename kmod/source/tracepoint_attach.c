// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds tracepoints, and registers with them. A probe's address is that of __traceiter_NAME(),
 * which tells one from another.
 */
#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "base/compat.h"
#include "base/memory.h"
#include "session.h"
#include "call/context.h"
#include "source/source.h"
#include "source/tracepoint.h"

/*
 * Tracepoints that are looked for, by the addresses of their iterators, which are sorted and
 * differ.
 */
struct search {
	const unsigned long *addrs;
	u32 count;
	/*
	 * Is given each that is found, with its module, or NULL if it is the kernel's. False ends
	 * the search.
	 */
	bool (*found)(struct search *search, struct tracepoint *tracepoint, struct module *module);
	void *context;
	bool ended;
};

static int compare_places(const void *left, const void *right)
{
	const unsigned long a = *(const unsigned long *)left, b = *(const unsigned long *)right;

	return a < b ? -1 : a > b;
}

static void look_at(struct search *search, struct tracepoint *tracepoint, struct module *module)
{
	const unsigned long addr = (unsigned long)tracepoint->iterator;

	if (!search->ended &&
	    bsearch(&addr, search->addrs, search->count, sizeof(addr), compare_places))
		search->ended = !search->found(search, tracepoint, module);
}

static void look_at_kernel(struct tracepoint *tracepoint, void *search)
{
	look_at(search, tracepoint, NULL);
}

/*
 * The kernel lists the modules that have tracepoints for whoever registers a notifier; it is asked
 * under the lock of that list.
 */
struct module_search {
	struct notifier_block notifier;
	struct search *search;
};

static int look_at_module(struct notifier_block *notifier, unsigned long event, void *data)
{
	const struct tp_module *listed = data;
	struct search *search = container_of(notifier, struct module_search, notifier)->search;
	u32 i;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	for (i = 0; i < listed->mod->num_tracepoints; i++)
		look_at(search, tracepoint_ptr_deref(&listed->mod->tracepoints_ptrs[i]),
			listed->mod);
	return NOTIFY_DONE;
}

static void look_for(struct search *search)
{
	struct module_search in_modules = { .notifier = { .notifier_call = look_at_module },
					    .search = search };

	for_each_kernel_tracepoint(look_at_kernel, search);
	if (!register_tracepoint_module_notifier(&in_modules.notifier))
		unregister_tracepoint_module_notifier(&in_modules.notifier);
}

static bool count_found(struct search *search, struct tracepoint *tracepoint, struct module *module)
{
	++*(u32 *)search->context;
	return true;
}

static bool all_are_found(const unsigned long *addrs, u32 count)
{
	u32 nr_found = 0;
	struct search search = {
		.addrs = addrs, .count = count, .found = count_found, .context = &nr_found
	};

	look_for(&search);
	return nr_found == count;
}

/* Halves what the first bad one is among, which takes no memory. */
static unsigned long find_bad_tracepoint(const unsigned long *addrs, u32 count, bool all)
{
	u32 good = 0, bad = count;

	/* Nothing else is taken for a tracepoint by mistake. */
	if (!all || all_are_found(addrs, count))
		return 0;
	while (bad - good > 1) {
		const u32 middle = good + (bad - good) / 2;

		if (all_are_found(addrs, middle))
			good = middle;
		else
			bad = middle;
		cond_resched();
	}
	return addrs[good];
}

static void init_tracepoints(struct argtrace_lane *lane)
{
	/* Never registered. */
	lane->ops = (struct ftrace_ops){ };
	if (!lane->tracepoints.next)
		INIT_LIST_HEAD(&lane->tracepoints);
}

static bool is_attached(const struct argtrace_lane *lane, unsigned long addr)
{
	const struct argtrace_tracepoint *place;

	list_for_each_entry(place, &lane->tracepoints, link) {
		if (place->addr == addr)
			return true;
	}
	return false;
}

/*
 * The bytes of the function there, as the kernel's symbol table has them: "NAME+0x0/0xSIZE
 * [MODULE]".
 */
static unsigned long size_of_function(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long size;
	const char *slash;

	sprint_symbol(text, addr);
	slash = strchr(text, '/');
	return slash && sscanf(slash, "/0x%lx", &size) == 1 ? size : 0;
}

/* What attach_tracepoints() has found: places that are yet to be registered, or that have been. */
struct attachment {
	struct argtrace_lane *lane;
	const struct argtrace_table *table; /* has their plans */
	struct list_head places;
	u32 nr_found;			/* those that are attached already, too */
	int error;
};

/* NULL, and *error says why. */
static struct argtrace_tracepoint *make_place(int *error)
{
	struct argtrace_tracepoint *place;

	*error = argtrace_memory_charge(sizeof(*place));
	if (*error)
		return NULL;
	place = kzalloc(sizeof(*place), ARGTRACE_GFP);
	if (place)
		return place;
	argtrace_memory_uncharge(sizeof(*place));
	*error = -ENOMEM;
	return NULL;
}

static void free_place(struct argtrace_tracepoint *place)
{
	kfree(place);
	argtrace_memory_uncharge(sizeof(*place));
}

static void table_changed(struct argtrace_lane *lane)
{
	struct argtrace_tracepoint *place;

	list_for_each_entry(place, &lane->tracepoints, link)
		rcu_assign_pointer(place->plan, argtrace_lane_plan(place->lane, place->addr));
}

static bool prepare_place(struct search *search, struct tracepoint *tracepoint,
			  struct module *module)
{
	struct attachment *attachment = search->context;
	const struct argtrace_plan *plan;
	struct argtrace_tracepoint *place;

	if (is_attached(attachment->lane, (unsigned long)tracepoint->iterator)) {
		attachment->nr_found++;
		return true;
	}
	/* A module that is going has been looked through already by whoever would remove this. */
	if (!try_module_get(module))
		return true;
	place = make_place(&attachment->error);
	if (!place) {
		module_put(module);
		return false;
	}
	place->lane = attachment->lane;
	place->rings = attachment->lane->rings;
	place->addr = (unsigned long)tracepoint->iterator;
	place->tracepoint = tracepoint;
	place->module = module;
	place->own_levels = argtrace_tracepoint_own_levels(tracepoint);
	place->plain = argtrace_plain_preempt_word(place->own_levels);
	plan = argtrace_table_lookup(attachment->table, place->addr);
	place->callback = argtrace_tracepoint_callback(place->lane, plan);
	rcu_assign_pointer(place->plan, argtrace_lane_plan(place->lane, place->addr));
	list_add_tail(&place->link, &attachment->places);
	attachment->nr_found++;
	return true;
}

static void detach(struct argtrace_tracepoint *place)
{
	WARN_ON_ONCE(tracepoint_probe_unregister(place->tracepoint, place->callback, place));
}

/* None of them is registered any more. */
static void free_places(struct list_head *places)
{
	struct argtrace_tracepoint *place, *next;

	list_for_each_entry_safe(place, next, places, link) {
		list_del(&place->link);
		free_place(place);
	}
}

/* All of them, or none. */
static int register_places(struct list_head *places)
{
	struct argtrace_tracepoint *place;
	int ret = 0;

	list_for_each_entry(place, places, link) {
		place->size = size_of_function(place->addr);
		ret = tracepoint_probe_register(place->tracepoint, place->callback, place);
		if (ret)
			break;
	}
	if (!ret)
		return 0;
	list_for_each_entry_continue_reverse(place, places, link)
		detach(place);
	tracepoint_synchronize_unregister();
	return ret;
}

static int attach_tracepoints(struct argtrace_lane *lane, const struct argtrace_table *table,
			      unsigned long *addrs, u32 count)
{
	struct attachment attachment = { .lane = lane,
					 .table = table,
					 .places = LIST_HEAD_INIT(attachment.places) };
	struct search search = {
		.addrs = addrs, .count = count, .found = prepare_place, .context = &attachment
	};
	struct argtrace_tracepoint *place;

	if (!ARGTRACE_TRACEPOINTS_CALL_ANYTHING)
		return -EOPNOTSUPP;
	look_for(&search);
	if (!attachment.error && attachment.nr_found != count)
		attachment.error = -EINVAL;
	if (!attachment.error)
		attachment.error = register_places(&attachment.places);
	list_for_each_entry(place, &attachment.places, link) {
		module_put(place->module);
		place->module = NULL;
	}
	if (attachment.error) {
		free_places(&attachment.places);
		return attachment.error;
	}
	list_splice(&attachment.places, &lane->tracepoints);
	lane->armed = !list_empty(&lane->tracepoints);
	return 0;
}

static int follow_tracepoints(struct argtrace_lane *lane)
{
	struct argtrace_tracepoint *place, *next;
	LIST_HEAD(detached);

	list_for_each_entry_safe(place, next, &lane->tracepoints, link) {
		const struct argtrace_plan *plan;

		plan = argtrace_catalog_find(&lane->session->catalog, ARGTRACE_KIND_TRACEPOINT,
					     place->addr);
		if (plan && !plan->removed)
			continue;
		detach(place);
		list_move(&place->link, &detached);
	}
	if (!list_empty(&detached))
		tracepoint_synchronize_unregister();
	free_places(&detached);
	lane->armed = !list_empty(&lane->tracepoints);
	return 0;
}

const struct argtrace_source argtrace_tracepoint_source = {
	.kind = ARGTRACE_KIND_TRACEPOINT,
	.init = init_tracepoints,
	.find_bad = find_bad_tracepoint,
	.attach = attach_tracepoints,
	.follow = follow_tracepoints,
	.table_changed = table_changed,
};
