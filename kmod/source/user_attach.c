// SPDX-License-Identifier: GPL-2.0-only
/* Registers consumers with the kernel's uprobes, and has their breakpoints follow the filter. */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "base/uprobes.h"
#include "base/memory.h"
#include "probe/user_files.h"
#include "session.h"
#include "source/source.h"
#include "source/user.h"

static u32 file_of(unsigned long addr)
{
	return (u64)addr / ARGTRACE_USER_OFFSET_MAX;
}

static loff_t offset_of(unsigned long addr)
{
	return (u64)addr % ARGTRACE_USER_OFFSET_MAX;
}

/* Which files there are depends on the session: attach() knows. */
static unsigned long find_bad_place(const unsigned long *addrs, u32 count, bool all)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!file_of(addrs[i]))
			return addrs[i];
	}
	return 0;
}

static void init_user_lane(struct argtrace_lane *lane)
{
	/* Never registered. */
	lane->ops = (struct ftrace_ops){ };
	if (!lane->user_places.next)
		INIT_LIST_HEAD(&lane->user_places);
}

static struct inode *inode_of(const struct argtrace_user_place *place)
{
	return argtrace_user_files_inode(&place->lane->session->user_files, file_of(place->addr));
}

/*
 * All consumers of a place must have the same semaphore: the kernel refuses others. It raises and
 * lowers that as it sets and removes the breakpoint in each process.
 */
static struct uprobe *register_consumer(const struct argtrace_user_place *place,
					struct uprobe_consumer *consumer)
{
	const struct argtrace_user_files *files = &place->lane->session->user_files;

	return argtrace_uprobe_register(inode_of(place), offset_of(place->addr),
					argtrace_user_files_semaphore(files, file_of(place->addr)),
					consumer);
}

static void user_table_changed(struct argtrace_lane *lane)
{
	struct argtrace_user_place *place;

	list_for_each_entry(place, &lane->user_places, link)
		rcu_assign_pointer(place->plan, argtrace_lane_plan(lane, place->addr));
}

static struct argtrace_user_place *make_user_place(struct argtrace_lane *lane, unsigned long addr)
{
	struct argtrace_user_place *place;
	int ret = argtrace_memory_charge(sizeof(*place));

	if (ret)
		return ERR_PTR(ret);
	place = kzalloc(sizeof(*place), ARGTRACE_GFP);
	if (!place) {
		argtrace_memory_uncharge(sizeof(*place));
		return ERR_PTR(-ENOMEM);
	}
	argtrace_user_consumer(&place->consumer);
	place->lane = lane;
	place->addr = addr;
	place->is_new = true;
	return place;
}

/* No handler has it any more. */
static void free_user_place(struct argtrace_user_place *place)
{
	kfree(place);
	argtrace_memory_uncharge(sizeof(*place));
}

/* Takes these places from those that call us, and waits until none does. */
static void detach_places(struct argtrace_session *session, struct list_head *places)
{
	struct argtrace_user_place *place, *next;

	if (list_empty(places))
		return;
	list_for_each_entry(place, places, link) {
		argtrace_uprobe_unregister(place->uprobe, inode_of(place), offset_of(place->addr),
					   &place->consumer);
		cond_resched();
	}
	argtrace_uprobes_synchronize();
	list_for_each_entry_safe(place, next, places, link) {
		argtrace_user_files_detach(&session->user_files, file_of(place->addr));
		list_del(&place->link);
		free_user_place(place);
	}
}

/* uprobes have different errors for what they do not take. */
static int refusal_of(int error)
{
	return error == -ENOMEM || error == -EINTR || error == -ENOSPC ? error : -EOPNOTSUPP;
}

static int attach_place(struct argtrace_lane *lane, unsigned long addr, struct list_head *attached)
{
	struct argtrace_user_files *files = &lane->session->user_files;
	struct argtrace_user_place *place;

	if (!argtrace_user_files_inode(files, file_of(addr)))
		return -EOPNOTSUPP;
	place = make_user_place(lane, addr);
	if (IS_ERR(place))
		return PTR_ERR(place);
	rcu_assign_pointer(place->plan, argtrace_lane_plan(lane, addr));
	place->uprobe = register_consumer(place, &place->consumer);
	if (IS_ERR(place->uprobe)) {
		const int error = PTR_ERR(place->uprobe);

		/* It may have been hit before that failed, and no handler has it now. */
		free_user_place(place);
		return refusal_of(error);
	}
	WRITE_ONCE(place->is_new, false);
	argtrace_user_files_attach(files, file_of(addr));
	list_add_tail(&place->link, attached);
	return 0;
}

static bool is_attached_at(const struct argtrace_lane *lane, unsigned long addr)
{
	const struct argtrace_user_place *place;

	list_for_each_entry(place, &lane->user_places, link) {
		if (place->addr == addr)
			return true;
	}
	return false;
}

static int attach_user(struct argtrace_lane *lane, const struct argtrace_table *table,
		       unsigned long *addrs, u32 count)
{
	const bool any_before = lane->armed;
	LIST_HEAD(attached);
	int ret = 0;
	u32 i;

	for (i = 0; i < count && !ret; i++) {
		if (any_before && is_attached_at(lane, addrs[i]))
			continue;
		ret = fatal_signal_pending(current) ? -EINTR :
						      attach_place(lane, addrs[i], &attached);
		if (ret == -EOPNOTSUPP)
			lane->refused = addrs[i];
		cond_resched();
	}
	if (ret) {
		detach_places(lane->session, &attached);
		return ret;
	}
	list_splice_tail(&attached, &lane->user_places);
	lane->armed = !list_empty(&lane->user_places);
	return 0;
}

static int follow_user(struct argtrace_lane *lane)
{
	struct argtrace_user_place *place, *next;
	LIST_HEAD(detached);

	list_for_each_entry_safe(place, next, &lane->user_places, link) {
		const struct argtrace_plan *plan;

		plan = argtrace_catalog_find(&lane->session->catalog, ARGTRACE_KIND_USER,
					     place->addr);
		if (!plan || plan->removed)
			list_move_tail(&place->link, &detached);
	}
	detach_places(lane->session, &detached);
	lane->armed = !list_empty(&lane->user_places);
	return 0;
}

DEFINE_UPROBE_HANDLER(refresh_hit, consumer, full)
{
	return 0;
}

DEFINE_UPROBE_FILTER(refresh_filter, consumer, mm)
{
	return argtrace_user_wants(container_of(consumer, struct argtrace_user_place, refresher),
				   mm);
}

static int refresh_place(struct argtrace_user_place *place)
{
	struct uprobe *uprobe;

	place->refresher = (struct uprobe_consumer){ .handler = refresh_hit,
						     .filter = refresh_filter };
	uprobe = register_consumer(place, &place->refresher);
	if (IS_ERR(uprobe))
		return PTR_ERR(uprobe);
	argtrace_uprobe_unregister(uprobe, inode_of(place), offset_of(place->addr),
				   &place->refresher);
	return 0;
}

/*
 * uprobes set breakpoints where the filter of a consumer wants them when that is registered, and
 * remove those that no filter wants when one is unregistered. So another consumer comes and goes,
 * which does nothing, while the place stays.
 */
static int user_filter_changed(struct argtrace_lane *lane)
{
	struct argtrace_user_place *place;
	int ret = 0;

	list_for_each_entry(place, &lane->user_places, link) {
		ret = refresh_place(place);
		if (ret)
			break;
		cond_resched();
	}
	argtrace_uprobes_synchronize();
	return ret;
}

const struct argtrace_source argtrace_user_source = {
	.kind = ARGTRACE_KIND_USER,
	.addr_is_number = true,
	.init = init_user_lane,
	.find_bad = find_bad_place,
	.attach = attach_user,
	.follow = follow_user,
	.table_changed = user_table_changed,
	.filter_changed = user_filter_changed,
};
