// SPDX-License-Identifier: GPL-2.0-only
/* Registers consumers with the kernel's uprobes, and has their breakpoints follow the filter. */
#include <linux/err.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "base/schema.h"
#include "base/uprobes.h"
#include "probe/user_files.h"
#include "session.h"
#include "source/source.h"
#include "source/user.h"
#include "source/user_calls.h"
#include "source/user_return.h"

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
static struct uprobe *register_consumer(const struct argtrace_user_point *point,
					struct uprobe_consumer *consumer)
{
	const struct argtrace_user_place *place = point->place;
	const struct argtrace_user_files *files = &place->lane->session->user_files;

	return argtrace_uprobe_register(inode_of(place), point->offset,
					argtrace_user_files_semaphore(files, file_of(place->addr)),
					consumer);
}

static void user_table_changed(struct argtrace_lane *lane)
{
	struct argtrace_user_place *place;

	list_for_each_entry(place, &lane->user_places, link)
		rcu_assign_pointer(place->plan, argtrace_lane_plan(lane, place->addr));
}

static struct argtrace_user_place *alloc_place(u32 nr_points)
{
	const u64 bytes = struct_size_t(struct argtrace_user_place, points, nr_points);
	const u64 charge = argtrace_kvmalloc_size(bytes);
	struct argtrace_user_place *place;
	int ret = argtrace_memory_charge(charge);

	if (ret)
		return ERR_PTR(ret);
	place = argtrace_kvzalloc(bytes);
	if (!place) {
		argtrace_memory_uncharge(charge);
		return ERR_PTR(-ENOMEM);
	}
	place->charged = charge;
	return place;
}

/* No handler has it any more, and no call. */
static void free_user_place(struct argtrace_user_place *place)
{
	if (place->call_size)
		argtrace_user_calls_put();
	argtrace_memory_uncharge(place->charged);
	kvfree(place);
}

/* The first is the place itself. */
static void add_point(struct argtrace_user_place *place, loff_t offset)
{
	const bool is_entry = !place->nr_points;
	struct argtrace_user_point *point = &place->points[place->nr_points++];

	point->place = place;
	point->offset = offset;
	if (!place->call_size)
		argtrace_user_consumer(&point->consumer);
	else if (is_entry)
		argtrace_user_entry_consumer(&point->consumer, place->by_uretprobe);
	else
		argtrace_user_exit_consumer(&point->consumer);
}

static bool result_is_floating(const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = argtrace_schema_args(schema);
	u32 i;

	for (i = 0; i < schema->nr_args; i++) {
		if (args[i].loc == ARGTRACE_LOC_RETURN)
			return args[i].type == ARGTRACE_TYPE_F32 ||
			       args[i].type == ARGTRACE_TYPE_F64;
	}
	return false;
}

static struct argtrace_user_place *make_user_place(struct argtrace_lane *lane,
						   struct argtrace_plan *plan)
{
	const struct argtrace_probe *schema = plan->schema;
	const u32 nr_returns = argtrace_schema_nr_returns(schema);
	const s32 *returns = argtrace_schema_returns(schema);
	struct argtrace_user_place *place;
	u32 i;
	int ret;

	place = alloc_place(1 + nr_returns);
	if (IS_ERR(place))
		return place;
	if (plan->returns) {
		place->goroutines = schema->flags & ARGTRACE_PROBE_GOROUTINES;
		ret = argtrace_user_calls_get(place->goroutines);
		if (ret) {
			free_user_place(place);
			return ERR_PTR(ret);
		}
		place->call_size = argtrace_user_call_size(plan);
		place->loops = schema->flags & ARGTRACE_PROBE_LOOPS;
		place->by_uretprobe = argtrace_schema_is_by_uretprobe(schema);
		place->result_in_vector = result_is_floating(schema);
	}
	place->lane = lane;
	place->addr = plan->addr;
	place->is_new = true;
	add_point(place, offset_of(place->addr));
	for (i = 0; i < nr_returns; i++) {
		/* uprobes call two consumers of one instruction in an order of their own. */
		if (!returns[i])
			place->returns_at_once = true;
		else
			add_point(place, offset_of(place->addr) + returns[i]);
	}
	rcu_assign_pointer(place->plan, argtrace_lane_plan(lane, place->addr));
	return place;
}

/* The entry first: what is called from then on is not followed. */
static void unregister_points(struct argtrace_user_place *place)
{
	struct inode *inode = inode_of(place);
	u32 i;

	for (i = 0; i < place->nr_points; i++) {
		struct argtrace_user_point *point = &place->points[i];

		if (point->registered)
			argtrace_uprobe_unregister(point->uprobe, inode, point->offset,
						   &point->consumer);
		point->registered = false;
		cond_resched();
	}
}

/* Takes these places from those that call us, waits until none does, and frees them. */
static void detach_places(struct argtrace_session *session, struct list_head *places)
{
	struct argtrace_user_place *place, *next;
	bool followed = false;

	if (list_empty(places))
		return;
	list_for_each_entry(place, places, link)
		unregister_points(place);
	argtrace_uprobes_synchronize();
	list_for_each_entry(place, places, link) {
		place->leaves = true;
		followed |= place->call_size;
	}
	if (followed)
		argtrace_user_calls_forget();
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

/* The entry last: each call that is followed from then on is seen to return. */
static int register_points(struct argtrace_user_place *place)
{
	u32 i;

	for (i = place->nr_points; i--;) {
		struct argtrace_user_point *point = &place->points[i];

		/* A signed offset may lead before the beginning of the file. */
		if (point->offset < 0)
			return -EOPNOTSUPP;
		point->uprobe = register_consumer(point, &point->consumer);
		if (IS_ERR(point->uprobe))
			return refusal_of(PTR_ERR(point->uprobe));
		point->registered = true;
	}
	return 0;
}

static int attach_place(struct argtrace_lane *lane, struct argtrace_plan *plan,
			struct list_head *attached)
{
	struct argtrace_user_files *files = &lane->session->user_files;
	struct argtrace_user_place *place;
	LIST_HEAD(failed);
	int ret;

	if (!argtrace_user_files_inode(files, file_of(plan->addr)))
		return -EOPNOTSUPP;
	place = make_user_place(lane, plan);
	if (IS_ERR(place))
		return PTR_ERR(place);
	argtrace_user_files_attach(files, file_of(plan->addr));
	ret = register_points(place);
	WRITE_ONCE(place->is_new, false);
	list_add_tail(&place->link, ret ? &failed : attached);
	/* It may have been hit before that failed. */
	detach_places(lane->session, &failed);
	return ret;
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
		ret = fatal_signal_pending(current) ?
			      -EINTR :
			      attach_place(lane, argtrace_table_lookup(table, addrs[i]), &attached);
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
	return argtrace_user_wants(container_of(consumer, struct argtrace_user_point,
						refresher)->place, mm);
}

static int refresh_point(struct argtrace_user_point *point)
{
	struct uprobe *uprobe;

	point->refresher = (struct uprobe_consumer){ .handler = refresh_hit,
						     .filter = refresh_filter };
	uprobe = register_consumer(point, &point->refresher);
	if (IS_ERR(uprobe))
		return PTR_ERR(uprobe);
	argtrace_uprobe_unregister(uprobe, inode_of(point->place), point->offset,
				   &point->refresher);
	return 0;
}

static int refresh_place(struct argtrace_user_place *place)
{
	u32 i;
	int ret = 0;

	for (i = 0; i < place->nr_points && !ret; i++)
		ret = refresh_point(&place->points[i]);
	return ret;
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
