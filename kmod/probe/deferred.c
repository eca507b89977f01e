// SPDX-License-Identifier: GPL-2.0-only
#include <linux/elf.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "arm.h"
#include "compat.h"
#include "source/attachment.h"
#include "memory.h"
#include "probe/deferred.h"
#include "session.h"

struct order {
	struct list_head link;
	struct argtrace_on_load_order status;	/* as ON_LOAD_LIST reports it */
	u64 charged;
	struct argtrace_plan **templates;	/* by name */
};

/* The function's name without the mark behind one that is guessed; it lies in no symbol. */
static size_t name_length(const struct argtrace_plan *template)
{
	size_t length = strlen(template->strings);

	return length > 1 && template->strings[length - 1] == '~' ? length - 1 : length;
}

static int compare_name(const char *name, size_t length, const struct argtrace_plan *template)
{
	size_t other = name_length(template);
	int order = memcmp(name, template->strings, min(length, other));

	if (order)
		return order;
	return length < other ? -1 : length > other;
}

static int compare_templates(const void *a, const void *b)
{
	const struct argtrace_plan *x = *(const struct argtrace_plan *const *)a;

	return compare_name(x->strings, name_length(x), *(const struct argtrace_plan *const *)b);
}

/* The index of the first one of that name; `count` if there is none. */
static u32 find_name(const struct order *order, const char *name, size_t length)
{
	u32 low = 0, high = order->status.count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (compare_name(name, length, order->templates[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < order->status.count && !compare_name(name, length, order->templates[low]))
		return low;
	return order->status.count;
}

void argtrace_deferred_init(struct argtrace_deferred *deferred)
{
	INIT_LIST_HEAD(&deferred->list);
}

static void order_free(struct argtrace_deferred *deferred, struct order *order)
{
	u32 i;

	list_del(&order->link);
	deferred->nr_orders--;
	deferred->nr_probes -= order->status.count;
	for (i = 0; i < order->status.count; i++) {
		argtrace_plan_free(order->templates[i]);
		cond_resched();
	}
	kvfree(order->templates);
	argtrace_memory_uncharge(order->charged);
	kfree(order);
}

/* The first of `templates` that an order for that module has already; `count` if none. */
static u32 find_ordered(const struct argtrace_deferred *deferred, const char *module,
			struct argtrace_plan **templates, u32 count)
{
	const struct order *order;
	u32 i;

	list_for_each_entry(order, &deferred->list, link) {
		if (strcmp(order->status.module, module))
			continue;
		for (i = 0; i < count; i++) {
			cond_resched();
			if (find_name(order, templates[i]->strings, name_length(templates[i])) <
			    order->status.count)
				return i;
		}
	}
	return count;
}

int argtrace_deferred_add(struct argtrace_session *session, const char *module,
		       const char *srcversion, struct argtrace_plan **templates, u32 count,
		       u32 *failed)
{
	struct argtrace_deferred *deferred = &session->deferred;
	const u64 charge = sizeof(struct order) + count * sizeof(*templates);
	struct order *order;
	int ret;

	lockdep_assert_held(&session->lock);
	if (session->removed)
		return -ENOENT;
	*failed = count;
	if (count > ARGTRACE_MAX_PROBES - deferred->nr_probes ||
	    deferred->nr_orders == ARGTRACE_MAX_DEFERRED)
		return -E2BIG;
	*failed = find_ordered(deferred, module, templates, count);
	if (*failed < count)
		return -EEXIST;
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	order = kzalloc(sizeof(*order), GFP_KERNEL);
	if (!order) {
		argtrace_memory_uncharge(charge);
		return -ENOMEM;
	}
	order->charged = charge;
	order->templates = templates;
	order->status.id = ++deferred->last_id;
	order->status.count = count;
	strscpy(order->status.module, module, sizeof(order->status.module));
	strscpy(order->status.srcversion, srcversion, sizeof(order->status.srcversion));
	sort(templates, count, sizeof(*templates), compare_templates, NULL);
	list_add_tail(&order->link, &deferred->list);
	deferred->nr_orders++;
	deferred->nr_probes += count;
	return 0;
}

bool argtrace_deferred_remove(struct argtrace_session *session, const char *module)
{
	struct order *order, *next;
	bool any = false;

	list_for_each_entry_safe(order, next, &session->deferred.list, link) {
		if (module && strcmp(order->status.module, module))
			continue;
		order_free(&session->deferred, order);
		any = true;
	}
	return any;
}

/* The module's functions of one order: where each of its templates is to be armed. */
struct places {
	unsigned long *addrs;		/* for each template, 0: nowhere */
	u32 *found;			/* for the first template of a name: symbols of that name */
};

/*
 * The symbols of the module. Its whole table lies in its init part, which stays as long as the
 * module has not run.
 */
static void find_places(const struct order *order, const struct module *module,
			struct places *places)
{
	const struct mod_kallsyms *symbols = rcu_dereference_raw(module->kallsyms);
	u32 i, n;

	for (i = 1; i < symbols->num_symtab; i++) {
		const Elf_Sym *symbol = &symbols->symtab[i];
		const char *name = symbols->strtab + symbol->st_name;
		u32 first;

		if (symbol->st_shndx == SHN_UNDEF || ELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
		    !within_module(symbol->st_value, module))
			continue;
		first = find_name(order, name, strlen(name));
		if (first == order->status.count)
			continue;
		n = places->found[first]++;
		if (first + n < order->status.count &&
		    !compare_name(name, strlen(name), order->templates[first + n]))
			places->addrs[first + n] = symbol->st_value;
		cond_resched();
	}
}

/* Takes back those of names that are there more or less often than the order has them. */
static void keep_sure(const struct order *order, struct places *places)
{
	u32 first, end, i;

	for (first = 0; first < order->status.count; first = end) {
		for (end = first + 1; end < order->status.count; end++) {
			if (compare_templates(&order->templates[first], &order->templates[end]))
				break;
		}
		for (i = first; i < end && places->found[first] != end - first; i++)
			places->addrs[i] = 0;
	}
}

/* A plan for each place that ftrace traces, into `plans`; how many, or an error. */
static int make_plans(struct order *order, const struct places *places,
		      struct argtrace_plan **plans)
{
	u32 i, count = 0;

	for (i = 0; i < order->status.count; i++) {
		struct argtrace_plan *plan;

		cond_resched();
		if (!places->addrs[i]) {
			order->status.absent++;
		} else if (argtrace_attachment_find_bad(&places->addrs[i], 1, true)) {
			order->status.refused++;
		} else {
			plan = argtrace_plan_create_at(order->templates[i], places->addrs[i]);
			if (IS_ERR(plan)) {
				while (count--)
					argtrace_plan_free(plans[count]);
				return PTR_ERR(plan);
			}
			plans[count++] = plan;
		}
	}
	return count;
}

/* Of those at one address, by several names, the first stays; returns how many do. */
static u32 drop_aliases(const struct argtrace_session *session, struct argtrace_plan **plans,
			u32 count)
{
	u32 i, kept = 0;

	sort(plans, count, sizeof(*plans), argtrace_plan_compare, NULL);
	for (i = 0; i < count; i++) {
		const struct argtrace_plan *there = argtrace_catalog_find(&session->catalog,
									  plans[i]->addr);

		if ((there && !there->removed) ||
		    (kept && plans[i]->addr - plans[kept - 1]->addr <= ARGTRACE_FENTRY_SKEW))
			argtrace_plan_free(plans[i]);
		else
			plans[kept++] = plans[i];
	}
	return kept;
}

static int arm_at(struct argtrace_session *session, struct order *order,
		  const struct places *places)
{
	struct argtrace_plan **plans;
	unsigned long failed_addr;
	int made, ret = 0;
	u32 count;

	plans = kvmalloc_array(order->status.count, sizeof(*plans), GFP_KERNEL);
	if (!plans)
		return -ENOMEM;
	made = make_plans(order, places, plans);
	if (made < 0) {
		ret = made;
		goto out;
	}
	count = drop_aliases(session, plans, made);
	if (count)
		ret = argtrace_arm_add(session, plans, count, &failed_addr);
	/* An alias is traced by its other name. */
	if (!ret)
		order->status.armed = made;
out:
	kvfree(plans);
	return ret;
}

static int find_and_arm(struct argtrace_session *session, struct order *order,
			const struct module *module)
{
	struct places places;
	int ret = -ENOMEM;

	places.addrs = kvcalloc(order->status.count, sizeof(*places.addrs), GFP_KERNEL);
	places.found = kvcalloc(order->status.count, sizeof(*places.found), GFP_KERNEL);
	if (places.addrs && places.found) {
		find_places(order, module, &places);
		keep_sure(order, &places);
		ret = arm_at(session, order, &places);
	}
	kvfree(places.addrs);
	kvfree(places.found);
	return ret;
}

static void arm_order(struct argtrace_session *session, struct order *order,
		      const struct module *module)
{
	struct argtrace_on_load_order *status = &order->status;

	status->loads++;
	status->armed = status->absent = status->refused = 0;
	status->error = 0;
	if (status->srcversion[0] && module->srcversion &&
	    strcmp(status->srcversion, module->srcversion)) {
		status->other_builds++;
		return;
	}
	status->error = find_and_arm(session, order, module);
}

void argtrace_deferred_arm(struct argtrace_session *session, const struct module *module)
{
	struct order *order;

	lockdep_assert_held(&session->lock);
	if (session->removed)
		return;
	list_for_each_entry(order, &session->deferred.list, link) {
		if (!strcmp(order->status.module, module->name))
			arm_order(session, order, module);
	}
}

u32 argtrace_deferred_list(const struct argtrace_session *session, u32 first,
			 struct argtrace_on_load_order *to, u32 room, u32 *next)
{
	const struct order *order;
	u32 count = 0;

	*next = 0;
	list_for_each_entry(order, &session->deferred.list, link) {
		if (order->status.id < first)
			continue;
		if (count == room) {
			*next = order->status.id;
			break;
		}
		to[count++] = order->status;
	}
	return count;
}
