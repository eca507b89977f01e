/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session, with its probes, lanes and rings. Who holds references to it: arm/sessions.h.
 *
 * Lock order: session->lock -> CPU hotplug, ftrace's locks. session->lock is never taken under
 * sessions_lock, as its holder may be waiting for ftrace: take a reference to the session, and drop
 * sessions_lock first.
 */
#ifndef ARGTRACE_SESSION_H
#define ARGTRACE_SESSION_H

#include <linux/bitmap.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <uapi/argtrace.h>

#include "lane.h"
#include "probe/catalog.h"
#include "probe/probe.h"
#include "filter/pid_filter.h"
#include "sink/map.h"
#include "sink/notice.h"
#include "sink/ring.h"
#include "probe/table.h"
#include "probe/user_files.h"
#include "stack/table.h"

/* Probes for modules that are yet to be loaded: arm/deferred.h. */
struct argtrace_deferred {
	struct list_head list;		/* by id */
	u32 last_id;
	u32 nr_entries;
	u32 nr_probes;			/* in all entries */
};

struct argtrace_session {
	struct argtrace_lane lanes[ARGTRACE_LANES];
	struct argtrace_ring __percpu *rings;	/* those of ring_set */
	u32 format;			/* ARGTRACE_FORMAT_* */
	u32 clock;			/* ARGTRACE_CLOCK_* */
	struct argtrace_notice notice;

	struct mutex lock;		/* protects all below, and changes to the lanes */
	struct argtrace_catalog catalog;
	struct argtrace_pid_filter *pid_filter;	/* that of the lanes, or NULL */
	struct argtrace_deferred deferred;	/* for modules that are yet to be loaded */
	/* has had probes in modules, so that their unloading concerns it */
	bool in_modules;
	struct argtrace_user_files user_files;	/* in which it has probes */
	bool removed;			/* lost its name: no more probes, poll() says POLLHUP */
	void *reader;			/* the file of the reader, or NULL */
	void *excluder;			/* the file whose process is excluded, or NULL */

	u32 packet_size;
	u32 nr_packets;
	bool flight;			/* overwrites the oldest packets; has no reader */
	struct argtrace_ring_set ring_set;
	/* by id, or NULL; maps are never removed */
	struct argtrace_map_set *maps[ARGTRACE_MAPS_MAX];
	DECLARE_BITMAP(map_ids, ARGTRACE_MAPS_MAX);	/* ids that are taken */
	struct argtrace_stack_sets stacks;	/* NULL until they are made; never removed */

	struct kref ref;
	struct list_head link;		/* in the list of sessions; under sessions_lock */
	char name[ARGTRACE_NAME_LEN];	/* "": nameless */
};

/* Makes `file` the only reader, and excludes its process if asked to; 0, -EBUSY, -EINVAL. */
int argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude);
/*
 * Excludes the process of `file`, which does not become the reader; 0, -EBUSY: another one is
 * excluded.
 */
int argtrace_session_look(struct argtrace_session *session, void *file);
/* Ends what either of them has begun. */
void argtrace_session_drop_reader(struct argtrace_session *session, void *file);

/* The file ceases to answer new objects by tables, if it did. */
void argtrace_session_desert(struct argtrace_session *session, void *file);

/*
 * Makes a map, which is not visible before argtrace_session_publish_map(), and assigns its id.
 * ERR_PTR: -E2BIG, -ENOENT, and the errors of argtrace_map_create().
 */
struct argtrace_map_set *argtrace_session_make_map(struct argtrace_session *session,
						   const struct argtrace_map *description, u32 *id);
void argtrace_session_publish_map(struct argtrace_session *session, u32 id,
				  struct argtrace_map_set *map);
/* Instead of publishing it. */
void argtrace_session_drop_map(struct argtrace_session *session, u32 id,
			       struct argtrace_map_set *map);

/*
 * Makes the session's tables of kernel or user stacks as described, unless it has them already, and
 * fills in what they are like. 0, -ENOENT if the session has been removed, and the errors of
 * argtrace_stacks_create().
 */
int argtrace_session_make_stacks(struct argtrace_session *session,
				 struct argtrace_stacks *description);

/* These tables, without the lock; or NULL. */
static inline struct argtrace_stack_set *
argtrace_session_stacks(const struct argtrace_session *session, bool user)
{
	struct argtrace_stack_set *const *stacks = user ? &session->stacks.user :
							  &session->stacks.kernel;

	/* Pairs with the release of argtrace_session_make_stacks(). */
	return smp_load_acquire(stacks);
}

/* The plan of a place by what the lane's table says now, or NULL. Under session->lock. */
static inline struct argtrace_plan *argtrace_lane_plan(const struct argtrace_lane *lane,
						       unsigned long addr)
{
	const struct argtrace_table *table =
		rcu_dereference_protected(lane->table, lockdep_is_held(&lane->session->lock));

	return argtrace_table_lookup(table, addr);
}

#endif
