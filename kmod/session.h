/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session, with its probes, lanes and rings. The list of sessions holds a reference to each named session
 * until it is removed, and each file that is bound to a session holds one.
 *
 * Lock order: session->lock -> CPU hotplug, ftrace's locks. session->lock is never taken under sessions_lock, as
 * its holder may be waiting for ftrace: take a reference to the session, and drop sessions_lock first.
 */
#ifndef ARGTRACE_SESSION_H
#define ARGTRACE_SESSION_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/argtrace.h>

#include "lane.h"
#include "probe/catalog.h"
#include "arm/deferred.h"
#include "probe/probe.h"
#include "filter/pid_filter.h"
#include "sink/map.h"
#include "sink/ring.h"
#include "probe/table.h"
#include "stack/table.h"

struct module;

struct argtrace_session {
	struct argtrace_lane lanes[ARGTRACE_LANES];
	struct argtrace_ring __percpu *rings;	/* those of ring_set */
	u32 format;			/* ARGTRACE_FORMAT_* */
	u32 clock;			/* ARGTRACE_CLOCK_* */
	struct irq_work wake;

	struct mutex lock;		/* protects all below, and changes to the lanes */
	struct argtrace_catalog catalog;
	struct argtrace_pid_filter *pid_filter;	/* that of the lanes, or NULL */
	struct argtrace_deferred deferred;	/* for modules that are yet to be loaded */
	bool in_modules;		/* has had probes in modules, so that their unloading concerns it */
	bool removed;			/* lost its name: no more probes, poll() says POLLHUP */
	void *reader;			/* the file of the reader, or NULL */
	void *excluder;			/* the file whose process is excluded, or NULL */

	u32 packet_size;
	u32 nr_packets;
	bool flight;			/* overwrites the oldest packets; has no reader */
	struct argtrace_ring_set ring_set;
	struct argtrace_map_set *maps[ARGTRACE_MAPS_MAX];	/* by id, or NULL; maps are never removed */
	DECLARE_BITMAP(map_ids, ARGTRACE_MAPS_MAX);	/* ids that are taken */
	struct argtrace_stack_set *stacks;	/* NULL until they are made; never removed */
	wait_queue_head_t wait;
	atomic_t changes;		/* see argtrace_session_changed() */
	struct delayed_work recheck;	/* see argtrace_session_wait() */

	struct kref ref;
	struct list_head link;		/* in the list of sessions; under sessions_lock */
	char name[ARGTRACE_NAME_LEN];	/* "": nameless */
};

/*
 * Attaches to or makes the session that `wanted` describes and fills in its actual settings.
 * Returns a reference for the caller, or ERR_PTR with the errors of ARGTRACE_IOC_SESSION.
 */
struct argtrace_session *argtrace_session_get(struct argtrace_session_attr *wanted);
void argtrace_session_put(struct argtrace_session *session);

/* Removes the name of a session and disarms it; 0 or -ENOENT. */
int argtrace_session_remove(const char *name);
/* Whether our module is being unloaded: nothing is armed in modules that are loaded meanwhile. */
void argtrace_sessions_close(bool close);
/* Removes the names of all sessions and disarms them, when our module is unloaded. */
void argtrace_sessions_remove_all(void);
/* Whether ftrace may still call us for a session that has been destroyed. */
bool argtrace_sessions_leaked(void);

u32 argtrace_sessions_count(void);

/* A module has been loaded and has not run yet: arms the deferred probes for it. */
void argtrace_sessions_module_coming(const struct module *module);
/* The same for its tracepoints, once the kernel has registered them. */
void argtrace_sessions_tracepoints_coming(const struct module *module);

/* A module, or only its init code, is about to be freed: disarms everything in it. */
void argtrace_sessions_module_going(const struct module *module, bool only_init);

/* Makes `file` the only reader, and excludes its process if asked to; 0, -EBUSY, -EINVAL. */
int argtrace_session_set_reader(struct argtrace_session *session, void *file, bool exclude);
/* Excludes the process of `file`, which does not become the reader; 0, -EBUSY: another one is excluded. */
int argtrace_session_look(struct argtrace_session *session, void *file);
/* Ends what either of them has begun. */
void argtrace_session_drop_reader(struct argtrace_session *session, void *file);

/*
 * Takes over the filter; NULL accepts the calls of all processes. On error it still belongs to the caller: -ENOENT the
 * session has been removed, -EBUSY it is armed and would need another callback.
 */
int argtrace_session_set_pid_filter(struct argtrace_session *session,
				   struct argtrace_pid_filter *pid_filter);

/*
 * Makes a map, which is not visible before argtrace_session_publish_map(), and assigns its id. ERR_PTR: -E2BIG, -ENOENT, and the
 * errors of argtrace_map_create().
 */
struct argtrace_map_set *argtrace_session_make_map(struct argtrace_session *session, const struct argtrace_map *description,
						   u32 *id);
void argtrace_session_publish_map(struct argtrace_session *session, u32 id, struct argtrace_map_set *map);
/* Instead of publishing it. */
void argtrace_session_drop_map(struct argtrace_session *session, u32 id, struct argtrace_map_set *map);

/*
 * Makes the session's tables of stacks as described, unless it has them already, and fills in what they are like. 0, -ENOENT if the
 * session has been removed, and the errors of argtrace_stacks_create().
 */
int argtrace_session_make_stacks(struct argtrace_session *session, struct argtrace_stacks *description);

bool argtrace_session_has_data(const struct argtrace_session *session);
/*
 * A CPU has got a ring, or probes have been added or removed, since the session was made: poll() reports POLLPRI once
 * to each file that is bound to the session and polls for it.
 */
void argtrace_session_changed(struct argtrace_session *session);
/* Asks for a wake-up of session->wait once there is data. */
void argtrace_session_wait(struct argtrace_session *session);

#endif
