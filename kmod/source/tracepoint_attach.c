// SPDX-License-Identifier: GPL-2.0-only
/* Finds tracepoints, and registers with them. A probe's address is that of __traceiter_NAME(), which tells one from another. */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>

#include "compat.h"
#include "memory.h"
#include "session.h"
#include "source/source.h"
#include "source/tracepoint.h"

/* Tracepoints that are looked for, by the addresses of their iterators. */
struct search {
	const unsigned long *addrs;
	u32 count;
	/* Is given each that is found, with its module, or NULL if it is the kernel's. False ends the search. */
	bool (*found)(struct search *search, u32 index, struct tracepoint *tracepoint, struct module *module);
	void *context;
	bool ended;
};

static void look_at(struct search *search, struct tracepoint *tracepoint, struct module *module)
{
	u32 i;

	for (i = 0; i < search->count && !search->ended; i++) {
		if (search->addrs[i] == (unsigned long)tracepoint->iterator)
			search->ended = !search->found(search, i, tracepoint, module);
	}
}

static void look_at_kernel(struct tracepoint *tracepoint, void *search)
{
	look_at(search, tracepoint, NULL);
}

/* The kernel lists the modules that have tracepoints for whoever registers a notifier; it is asked under the lock of that list. */
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
		look_at(search, tracepoint_ptr_deref(&listed->mod->tracepoints_ptrs[i]), listed->mod);
	return NOTIFY_DONE;
}

static void look_for(struct search *search)
{
	struct module_search in_modules = { .notifier = { .notifier_call = look_at_module }, .search = search };

	for_each_kernel_tracepoint(look_at_kernel, search);
	if (!register_tracepoint_module_notifier(&in_modules.notifier))
		unregister_tracepoint_module_notifier(&in_modules.notifier);
}

static bool note_found(struct search *search, u32 index, struct tracepoint *tracepoint, struct module *module)
{
	__set_bit(index, search->context);
	return true;
}

static unsigned long find_bad(const unsigned long *addrs, u32 count, bool all)
{
	struct search search = { .addrs = addrs, .count = count, .found = note_found };
	unsigned long bad = 0;
	u32 index;

	/* Nothing else is taken for a tracepoint by mistake. */
	if (!all || !count)
		return 0;
	search.context = bitmap_zalloc(count, GFP_KERNEL);
	if (!search.context)
		return 0;
	look_for(&search);
	index = find_first_zero_bit(search.context, count);
	if (index < count)
		bad = addrs[index];
	bitmap_free(search.context);
	return bad;
}

static void init(struct argtrace_lane *lane)
{
	/* Never registered; what records looks there whether somebody beside us has disabled preemption. */
	lane->ops = (struct ftrace_ops){ .trampoline_size = 1 };
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

/* The bytes of the function there, as the kernel's symbol table has them: "NAME+0x0/0xSIZE [MODULE]". */
static unsigned long size_of_function(unsigned long addr)
{
	char text[KSYM_SYMBOL_LEN];
	unsigned long size;
	const char *slash;

	sprint_symbol(text, addr);
	slash = strchr(text, '/');
	return slash && sscanf(slash, "/0x%lx", &size) == 1 ? size : 0;
}

/* What attach() has found: places that are yet to be registered, or that have been. */
struct attachment {
	struct argtrace_lane *lane;
	struct list_head places;
	u32 nr_places;
	int error;
};

static bool prepare_place(struct search *search, u32 index, struct tracepoint *tracepoint, struct module *module)
{
	struct attachment *attachment = search->context;
	struct argtrace_tracepoint *place;

	/* A module that is going has been looked through already by whoever would remove this. */
	if (!try_module_get(module))
		return true;
	place = kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT);
	if (!place) {
		module_put(module);
		attachment->error = -ENOMEM;
		return false;
	}
	place->lane = attachment->lane;
	place->addr = search->addrs[index];
	place->tracepoint = tracepoint;
	place->module = module;
	place->own_levels = argtrace_tracepoint_own_levels(tracepoint);
	list_add_tail(&place->link, &attachment->places);
	attachment->nr_places++;
	return true;
}

static void detach(struct argtrace_tracepoint *place)
{
	WARN_ON_ONCE(tracepoint_probe_unregister(place->tracepoint, argtrace_tracepoint_callback(place->lane), place));
}

/* None of them is registered any more. */
static void free_places(struct list_head *places)
{
	struct argtrace_tracepoint *place, *next;

	list_for_each_entry_safe(place, next, places, link) {
		list_del(&place->link);
		kfree(place);
	}
}

/* All of them, or none. */
static int register_places(struct list_head *places)
{
	struct argtrace_tracepoint *place;
	int ret = 0;

	list_for_each_entry(place, places, link) {
		place->size = size_of_function(place->addr);
		ret = tracepoint_probe_register(place->tracepoint, argtrace_tracepoint_callback(place->lane), place);
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

static int attach(struct argtrace_lane *lane, unsigned long *addrs, u32 count)
{
	struct attachment attachment = { .lane = lane, .places = LIST_HEAD_INIT(attachment.places) };
	struct search search = { .addrs = addrs, .found = prepare_place, .context = &attachment };
	struct argtrace_tracepoint *place;
	u32 i;

	if (!ARGTRACE_TRACEPOINTS_CALL_ANYTHING)
		return -EOPNOTSUPP;
	for (i = 0; i < count; i++) {
		if (is_attached(lane, addrs[i]))
			continue;
		swap(addrs[search.count], addrs[i]);
		search.count++;
	}
	look_for(&search);
	if (!attachment.error && attachment.nr_places != search.count)
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

static int follow(struct argtrace_lane *lane)
{
	struct argtrace_tracepoint *place, *next;
	LIST_HEAD(detached);

	list_for_each_entry_safe(place, next, &lane->tracepoints, link) {
		const struct argtrace_plan *plan =
			argtrace_catalog_find(&lane->session->catalog, ARGTRACE_KIND_TRACEPOINT, place->addr);

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
	.init = init,
	.find_bad = find_bad,
	.attach = attach,
	.follow = follow,
};
