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

#include "arm/arm.h"
#include "arm/deferred.h"
#include "arm/lanes.h"
#include "base/compat.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/returns.h"
#include "source/source.h"

struct deferred_entry {
	struct list_head link;
	struct argtrace_on_load_order status;	/* as ON_LOAD_LIST reports it */
	u64 charged;
	struct argtrace_plan **templates;	/* sorted by name */
	u32 *ids;				/* the id under which each was last armed, or 0 */
	/* its functions are armed, its tracepoints not yet; only compared */
	const struct module *coming;
};

/* What to look for among the symbols. */
struct wanted {
	u16 kind;
	const char *name;
	size_t length;
};

/*
 * include/linux/tracepoint.h: DEFINE_TRACE_FN(). The address of this function stands for the
 * tracepoint.
 */
static const char iterator_prefix[] = "__traceiter_";

/*
 * The name of a function, without the mark of a guessed prototype, which is no part of the symbol;
 * for a tracepoint, t:GROUP:NAME or t:NAME, the last part of that.
 */
static struct wanted wanted_by(const struct argtrace_plan *template)
{
	struct wanted wanted = { .kind = template->kind,
				 .name = template->strings,
				 .length = strlen(template->strings) };
	const char *colon =
		template->kind == ARGTRACE_KIND_TRACEPOINT ? strrchr(template->strings, ':') : NULL;

	if (colon) {
		wanted.length -= colon + 1 - wanted.name;
		wanted.name = colon + 1;
	}
	if (wanted.length > 1 && wanted.name[wanted.length - 1] == '~')
		wanted.length--;
	return wanted;
}

static int compare_wanted(const struct wanted *a, const struct wanted *b)
{
	int difference = (int)a->kind - b->kind;

	if (!difference)
		difference = memcmp(a->name, b->name, min(a->length, b->length));
	if (difference)
		return difference;
	return a->length < b->length ? -1 : a->length > b->length;
}

static int compare_template(const struct wanted *wanted, const struct argtrace_plan *template)
{
	const struct wanted other = wanted_by(template);

	return compare_wanted(wanted, &other);
}

static int compare_templates(const void *a, const void *b)
{
	const struct wanted wanted = wanted_by(*(const struct argtrace_plan *const *)a);

	return compare_template(&wanted, *(const struct argtrace_plan *const *)b);
}

/* The index of the first template of that kind and name; `count` if there is none. */
static u32 find_wanted(const struct deferred_entry *entry, const struct wanted *wanted)
{
	u32 low = 0, high = entry->status.count;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (compare_template(wanted, entry->templates[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < entry->status.count && !compare_template(wanted, entry->templates[low]))
		return low;
	return entry->status.count;
}

void argtrace_deferred_init(struct argtrace_deferred *deferred)
{
	INIT_LIST_HEAD(&deferred->list);
}

static void entry_free(struct argtrace_deferred *deferred, struct deferred_entry *entry)
{
	u32 i;

	list_del(&entry->link);
	deferred->nr_entries--;
	deferred->nr_probes -= entry->status.count;
	for (i = 0; i < entry->status.count; i++) {
		argtrace_plan_free(entry->templates[i]);
		cond_resched();
	}
	kvfree(entry->templates);
	kvfree(entry->ids);
	argtrace_memory_uncharge(entry->charged);
	kfree(entry);
}

/*
 * The index of the first of `templates` that is deferred for that module already; `count` if none
 * is.
 */
static u32 find_deferred(const struct argtrace_deferred *deferred, const char *module,
			 struct argtrace_plan **templates, u32 count)
{
	const struct deferred_entry *entry;
	u32 i;

	list_for_each_entry(entry, &deferred->list, link) {
		if (strcmp(entry->status.module, module))
			continue;
		for (i = 0; i < count; i++) {
			const struct wanted wanted = wanted_by(templates[i]);

			cond_resched();
			if (find_wanted(entry, &wanted) < entry->status.count)
				return i;
		}
	}
	return count;
}

/*
 * The index of the first function whose return cannot be followed, else `count`. Functions with
 * guessed prototypes are not followed anyway.
 */
static u32 find_unfollowed(struct argtrace_plan **templates, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (templates[i]->returns && argtrace_return_refusal_of(templates[i]->strings))
			break;
	}
	return i;
}

/*
 * Whether the address cannot be traced, or not as wanted: an alias may be a function whose return
 * must not be followed.
 */
static bool is_refused(const struct argtrace_plan *template, unsigned long addr)
{
	if (template->kind == ARGTRACE_KIND_TRACEPOINT)
		return argtrace_tracepoint_source.find_bad(&addr, 1, true);
	return argtrace_entry_source.find_bad(&addr, 1, true) ||
	       (template->returns && argtrace_return_refusal(addr));
}

int argtrace_deferred_add(struct argtrace_session *session, const char *module,
			  const char *srcversion, struct argtrace_plan **templates, u32 count,
			  u32 *failed)
{
	struct argtrace_deferred *deferred = &session->deferred;
	const u64 charge = sizeof(struct deferred_entry) + count * sizeof(*templates) +
			   argtrace_kvmalloc_size(count * sizeof(u32));
	struct deferred_entry *entry;
	int ret;

	lockdep_assert_held(&session->lock);
	if (session->removed)
		return -ENOENT;
	*failed = count;
	if (count > ARGTRACE_MAX_PROBES - deferred->nr_probes ||
	    deferred->nr_entries == ARGTRACE_MAX_DEFERRED)
		return -E2BIG;
	*failed = find_deferred(deferred, module, templates, count);
	if (*failed < count)
		return -EEXIST;
	*failed = find_unfollowed(templates, count);
	if (*failed < count)
		return -EOPNOTSUPP;
	ret = argtrace_memory_charge(charge);
	if (ret)
		return ret;
	entry = kzalloc(sizeof(*entry), ARGTRACE_GFP);
	if (entry)
		entry->ids = argtrace_kvcalloc(count, sizeof(*entry->ids));
	if (!entry || !entry->ids) {
		kfree(entry);
		argtrace_memory_uncharge(charge);
		return -ENOMEM;
	}
	entry->charged = charge;
	entry->templates = templates;
	entry->status.id = ++deferred->last_id;
	entry->status.count = count;
	strscpy(entry->status.module, module, sizeof(entry->status.module));
	strscpy(entry->status.srcversion, srcversion, sizeof(entry->status.srcversion));
	sort(templates, count, sizeof(*templates), compare_templates, NULL);
	list_add_tail(&entry->link, &deferred->list);
	deferred->nr_entries++;
	deferred->nr_probes += count;
	return 0;
}

bool argtrace_deferred_remove(struct argtrace_session *session, const char *module)
{
	struct deferred_entry *entry, *next;
	bool any = false;

	list_for_each_entry_safe(entry, next, &session->deferred.list, link) {
		if (module && strcmp(entry->status.module, module))
			continue;
		entry_free(&session->deferred, entry);
		any = true;
	}
	return any;
}

/* Where in the module to arm the templates of one entry. */
struct places {
	u16 kind;			/* only templates of this kind */
	unsigned long *addrs;		/* for each template; 0: nowhere */
	/* for the first template of a name, how many symbols have it */
	u32 *found;
};

/*
 * Searches the module's symbols. The complete symbol table is in the init part, which stays until
 * the module's init function has run.
 */
static void find_places(const struct deferred_entry *entry, const struct module *module,
			struct places *places)
{
	const struct mod_kallsyms *symbols = rcu_dereference_raw(module->kallsyms);
	u32 i, n;

	for (i = 1; i < symbols->num_symtab; i++) {
		const Elf_Sym *symbol = &symbols->symtab[i];
		const char *name = symbols->strtab + symbol->st_name;
		struct wanted wanted = { .kind = places->kind, .name = name };
		u32 first;

		if (symbol->st_shndx == SHN_UNDEF || ELF_ST_TYPE(symbol->st_info) != STT_FUNC ||
		    !within_module(symbol->st_value, module))
			continue;
		if (places->kind == ARGTRACE_KIND_TRACEPOINT) {
			if (!strstarts(name, iterator_prefix))
				continue;
			wanted.name += strlen(iterator_prefix);
		}
		wanted.length = strlen(wanted.name);
		first = find_wanted(entry, &wanted);
		if (first == entry->status.count)
			continue;
		n = places->found[first]++;
		if (first + n < entry->status.count &&
		    !compare_template(&wanted, entry->templates[first + n]))
			places->addrs[first + n] = symbol->st_value;
		cond_resched();
	}
}

/* Drops names whose symbol count differs from the request's. */
static void keep_sure(const struct deferred_entry *entry, struct places *places)
{
	u32 first, end, i;

	for (first = 0; first < entry->status.count; first = end) {
		for (end = first + 1; end < entry->status.count; end++) {
			if (compare_templates(&entry->templates[first], &entry->templates[end]))
				break;
		}
		for (i = first; i < end && places->found[first] != end - first; i++)
			places->addrs[i] = 0;
	}
}

/* The removed probe of this template from the last time that the module was loaded, or NULL. */
static struct argtrace_plan *predecessor(const struct argtrace_session *session,
					 const struct deferred_entry *entry, u32 i)
{
	struct argtrace_plan *plan = session->catalog.by_id[entry->ids[i]];

	return plan->removed && argtrace_plan_same_schema(plan, entry->templates[i]) ? plan : NULL;
}

/* Makes a plan for each place that can be traced; returns how many, or an error. */
static int make_plans(const struct argtrace_session *session, struct deferred_entry *entry,
		      const struct places *places, struct argtrace_plan **plans)
{
	u32 i, count = 0;

	for (i = 0; i < entry->status.count; i++) {
		struct argtrace_plan *plan, *removed;

		cond_resched();
		if (entry->templates[i]->kind != places->kind)
			continue;
		if (!places->addrs[i]) {
			entry->status.absent++;
		} else if (is_refused(entry->templates[i], places->addrs[i])) {
			entry->status.refused++;
		} else {
			plan = argtrace_plan_create_at(entry->templates[i], places->addrs[i]);
			if (IS_ERR(plan)) {
				while (count--)
					argtrace_plan_free(plans[count]);
				return PTR_ERR(plan);
			}
			/* Every load of the module uses the same ids. */
			removed = entry->ids[i] ? predecessor(session, entry, i) : NULL;
			if (removed)
				argtrace_plan_succeed(plan, removed);
			plans[count++] = plan;
		}
	}
	return count;
}

/* Remembers the ids of the armed templates. A function that is traced by an alias has none. */
static void note_ids(const struct argtrace_session *session, struct deferred_entry *entry,
		     const struct places *places)
{
	u32 i;

	for (i = 0; i < entry->status.count; i++) {
		const struct argtrace_plan *plan;

		plan = places->addrs[i] ? argtrace_catalog_find(&session->catalog, places->kind,
								places->addrs[i]) :
					  NULL;
		if (plan && argtrace_plan_same_schema(plan, entry->templates[i]))
			entry->ids[i] = plan->id;
	}
}

/* Keeps one plan where several names have the same address; returns how many are kept. */
static u32 drop_aliases(const struct argtrace_session *session, struct argtrace_plan **plans,
			u32 count)
{
	u32 i, kept = 0;

	sort(plans, count, sizeof(*plans), argtrace_plan_compare, NULL);
	for (i = 0; i < count; i++) {
		const struct argtrace_plan *there =
			argtrace_catalog_find(&session->catalog, plans[i]->kind, plans[i]->addr);

		if ((there && !there->removed) ||
		    (kept && plans[i]->kind == plans[kept - 1]->kind &&
		     plans[i]->addr - plans[kept - 1]->addr <= ARGTRACE_FENTRY_SKEW))
			argtrace_plan_free(plans[i]);
		else
			plans[kept++] = plans[i];
	}
	return kept;
}

static int arm_at(struct argtrace_session *session, struct deferred_entry *entry,
		  const struct places *places)
{
	struct argtrace_plan **plans;
	unsigned long failed_addr;
	int made, ret = 0;
	u32 count;

	plans = argtrace_kvmalloc_array(entry->status.count, sizeof(*plans));
	if (!plans)
		return -ENOMEM;
	made = make_plans(session, entry, places, plans);
	if (made < 0) {
		ret = made;
		goto out;
	}
	count = drop_aliases(session, plans, made);
	if (count)
		ret = argtrace_arm_add(session, plans, count, &failed_addr);
	/* An alias is traced by its other name. */
	if (!ret) {
		entry->status.armed += made;
		note_ids(session, entry, places);
	}
out:
	kvfree(plans);
	return ret;
}

static bool has_kind(const struct deferred_entry *entry, u16 kind)
{
	u32 i;

	for (i = 0; i < entry->status.count; i++) {
		if (entry->templates[i]->kind == kind)
			return true;
	}
	return false;
}

static int find_and_arm(struct argtrace_session *session, struct deferred_entry *entry,
			const struct module *module, u16 kind)
{
	struct places places = { .kind = kind };
	int ret = -ENOMEM;

	if (!has_kind(entry, kind))
		return 0;
	places.addrs = argtrace_kvcalloc(entry->status.count, sizeof(*places.addrs));
	places.found = argtrace_kvcalloc(entry->status.count, sizeof(*places.found));
	if (places.addrs && places.found) {
		find_places(entry, module, &places);
		keep_sure(entry, &places);
		ret = arm_at(session, entry, &places);
	}
	kvfree(places.addrs);
	kvfree(places.found);
	return ret;
}

static void arm_entry(struct argtrace_session *session, struct deferred_entry *entry,
		      const struct module *module)
{
	struct argtrace_on_load_order *status = &entry->status;

	entry->coming = NULL;
	status->loads++;
	status->armed = 0;
	status->absent = 0;
	status->refused = 0;
	status->error = 0;
	if (status->srcversion[0] && module->srcversion &&
	    strcmp(status->srcversion, module->srcversion)) {
		status->other_builds++;
		return;
	}
	status->error = find_and_arm(session, entry, module, ARGTRACE_KIND_ENTRY);
	entry->coming = module;
}

static void arm_tracepoints_of_entry(struct argtrace_session *session, struct deferred_entry *entry,
				     const struct module *module)
{
	int error;

	/*
	 * Another build of the module, or an entry that was made after the functions of other
	 * entries had been armed.
	 */
	if (entry->coming != module)
		return;
	entry->coming = NULL;
	error = find_and_arm(session, entry, module, ARGTRACE_KIND_TRACEPOINT);
	if (!entry->status.error)
		entry->status.error = error;
}

static void for_each_of(struct argtrace_session *session, const struct module *module,
			void (*arm)(struct argtrace_session *session, struct deferred_entry *entry,
				    const struct module *module))
{
	struct deferred_entry *entry;

	lockdep_assert_held(&session->lock);
	if (session->removed)
		return;
	list_for_each_entry(entry, &session->deferred.list, link) {
		if (!strcmp(entry->status.module, module->name))
			arm(session, entry, module);
	}
}

void argtrace_deferred_arm(struct argtrace_session *session, const struct module *module)
{
	for_each_of(session, module, arm_entry);
}

void argtrace_deferred_arm_tracepoints(struct argtrace_session *session,
				       const struct module *module)
{
	for_each_of(session, module, arm_tracepoints_of_entry);
}

u32 argtrace_deferred_list(const struct argtrace_session *session, u32 first,
			   struct argtrace_on_load_order *to, u32 room, u32 *next)
{
	const struct deferred_entry *entry;
	u32 count = 0;

	*next = 0;
	list_for_each_entry(entry, &session->deferred.list, link) {
		if (entry->status.id < first)
			continue;
		if (count == room) {
			*next = entry->status.id;
			break;
		}
		to[count++] = entry->status;
	}
	return count;
}
