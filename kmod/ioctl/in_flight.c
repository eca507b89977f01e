// SPDX-License-Identifier: GPL-2.0-only
/* Listing the calls that are in flight. */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/clock.h"
#include "ioctl/ioctl.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/in_flight.h"
#include "source/returns/returns.h"

/* Under session->lock: collects the probes with calls in flight on the stacks of tasks. */
static void collect_wanted(const struct argtrace_catalog *catalog,
			   struct argtrace_in_flight_search *search)
{
	u32 id;

	for (id = 1; id < catalog->nr_ids; id++) {
		const struct argtrace_plan *plan = catalog->by_id[id];

		if (plan && plan->returns && !plan->returns->fallback && plan->counters &&
		    argtrace_plan_in_flight(plan))
			search->wanted[search->nr_wanted++] = plan->returns;
		cond_resched();
	}
}

/* Under session->lock, which protects the plans. */
static int find(struct argtrace_session *session, struct argtrace_in_flight_search *search)
{
	int ret;

	search->wanted =
		argtrace_kvmalloc_array(max(session->catalog.nr_ids, 1u), sizeof(*search->wanted));
	if (!search->wanted)
		return -ENOMEM;
	collect_wanted(&session->catalog, search);
	ret = argtrace_in_flight_find(search);
	kvfree(search->wanted);
	return ret;
}

long argtrace_ioctl_in_flight(struct file *file, struct argtrace_session *session, void __user *arg)
{
	struct argtrace_in_flight_search search = { };
	struct argtrace_in_flight list;
	int ret = argtrace_copy_in(&list, sizeof(list), ARGTRACE_IN_FLIGHT_SIZE_V1, arg);

	if (ret)
		return ret;
	if (list.flags || list.count || list.found || list.missed || list.mult || list.clock ||
	    list.ns)
		return -EINVAL;
	search.room = min_t(u64, list.length, ARGTRACE_LIST_PIECE) / sizeof(*search.calls);
	search.calls = argtrace_kvmalloc_array(max(search.room, 1u), sizeof(*search.calls));
	if (!search.calls)
		return -ENOMEM;
	list.mult = session->ring_set.mult;
	list.clock = argtrace_clock_read(session->clock);
	list.ns = argtrace_clock_ns(session->clock, list.clock, list.mult);
	mutex_lock(&session->lock);
	ret = find(session, &search);
	mutex_unlock(&session->lock);
	list.found = search.found;
	list.count = min(search.found, search.room);
	list.missed = search.missed;
	if (!ret && copy_to_user(u64_to_user_ptr(list.buffer), search.calls,
				 list.count * sizeof(*search.calls)))
		ret = -EFAULT;
	kvfree(search.calls);
	return ret ?: argtrace_copy_out(arg, &list, sizeof(list), list.size);
}
