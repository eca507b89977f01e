// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/percpu.h>

#include "mapping/atlas.h"
#include "session.h"

static void set_excluder(struct argtrace_session *session, void *file)
{
	session->excluder = file;
	argtrace_lanes_exclude(session, file ? current->tgid : -1);
}

int argtrace_session_look(struct argtrace_session *session, void *file)
{
	int ret = 0;

	mutex_lock(&session->lock);
	if (session->excluder && session->excluder != file)
		ret = -EBUSY;
	else
		set_excluder(session, file);
	mutex_unlock(&session->lock);
	return ret;
}

int argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude)
{
	bool repaired = false;
	int cpu, ret = 0;

	if (session->flight)
		return -EINVAL;
	mutex_lock(&session->lock);
	if (session->reader && session->reader != file) {
		ret = -EBUSY;
		goto out;
	}
	for_each_possible_cpu(cpu)
		repaired |= argtrace_ring_repair_tail(per_cpu_ptr(session->rings, cpu));
	if (repaired) {
		argtrace_synchronize();
		for_each_possible_cpu(cpu)
			argtrace_ring_repair_tail(per_cpu_ptr(session->rings, cpu));
	}
	WRITE_ONCE(session->reader, file);
	if (exclude)
		set_excluder(session, file);
	else if (session->excluder == file)
		set_excluder(session, NULL);
out:
	mutex_unlock(&session->lock);
	return ret;
}

void argtrace_session_drop_reader(struct argtrace_session *session, void *file)
{
	mutex_lock(&session->lock);
	if (session->reader == file)
		WRITE_ONCE(session->reader, NULL);
	if (session->excluder == file)
		set_excluder(session, NULL);
	mutex_unlock(&session->lock);
}

/* Takes the lowest id that is free; negative: there is none. */
static int take_map_id(struct argtrace_session *session)
{
	int id;

	mutex_lock(&session->lock);
	id = session->removed ? -ENOENT : find_first_zero_bit(session->map_ids, ARGTRACE_MAPS_MAX);
	if (id == ARGTRACE_MAPS_MAX)
		id = -E2BIG;
	if (id >= 0)
		__set_bit(id, session->map_ids);
	mutex_unlock(&session->lock);
	return id;
}

static void return_map_id(struct argtrace_session *session, u32 id)
{
	mutex_lock(&session->lock);
	__clear_bit(id, session->map_ids);
	mutex_unlock(&session->lock);
}

struct argtrace_map_set *argtrace_session_make_map(struct argtrace_session *session,
						   const struct argtrace_map *description, u32 *id)
{
	struct argtrace_map_set *map;
	const int taken = take_map_id(session);

	if (taken < 0)
		return ERR_PTR(taken);
	map = argtrace_map_create(&session->notice, description);
	if (IS_ERR(map))
		return_map_id(session, taken);
	*id = taken;
	return map;
}

void argtrace_session_publish_map(struct argtrace_session *session, u32 id,
				  struct argtrace_map_set *map)
{
	/* Pairs with argtrace_map_of(). */
	smp_store_release(&session->maps[id], map);
}

void argtrace_session_drop_map(struct argtrace_session *session, u32 id,
			       struct argtrace_map_set *map)
{
	argtrace_map_free(map);
	return_map_id(session, id);
}

void argtrace_session_desert(struct argtrace_session *session, void *file)
{
	const struct argtrace_stack_set *stacks = argtrace_session_stacks(session, true);

	if (stacks)
		argtrace_atlas_leave(stacks->atlas, file);
}

/* In the hooks of its atlas. All lanes have the same filter. */
static bool selects_current(const struct argtrace_session *session)
{
	const struct argtrace_lane *lane = &session->lanes[ARGTRACE_LANE_PLAIN];
	bool selected;

	rcu_read_lock();
	selected = !argtrace_is_filtered(lane, rcu_access_pointer(lane->pid_bits));
	rcu_read_unlock();
	return selected;
}

int argtrace_session_make_stacks(struct argtrace_session *session,
				 struct argtrace_stacks *description)
{
	struct argtrace_stack_set **known = description->flags & ARGTRACE_STACKS_USER ?
						    &session->stacks.user :
						    &session->stacks.kernel;
	const struct argtrace_atlas_owner owner = {
		.notice = &session->notice,
		.selects = selects_current,
		.session = session,
	};
	struct argtrace_stack_set *stacks;
	int ret = 0;

	mutex_lock(&session->lock);
	stacks = *known;
	if (session->removed) {
		ret = -ENOENT;
	} else if (!stacks) {
		stacks = argtrace_stacks_create(description, &owner);
		if (IS_ERR(stacks))
			ret = PTR_ERR(stacks);
		else
			/* Pairs with the acquire of argtrace_session_stacks(). */
			smp_store_release(known, stacks);
	}
	if (!ret)
		argtrace_stacks_describe(stacks, description);
	mutex_unlock(&session->lock);
	return ret;
}
