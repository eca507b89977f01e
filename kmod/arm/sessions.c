// SPDX-License-Identifier: GPL-2.0-only
/* The list of sessions: how they come and go, and what the loading of modules has them do. */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "arm/arm.h"
#include "arm/deferred.h"
#include "arm/lanes.h"
#include "arm/sessions.h"
#include "base/limits.h"
#include "base/memory.h"
#include "source/returns/returns.h"

static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static u32 nr_sessions;

/*
 * Held for reading while a session that has had probes in modules is off the list and its probes
 * are being removed. A module that goes does not find that session any more, and waits for the
 * lock: a tracepoint must not be in use when its module is freed.
 */
static DECLARE_RWSEM(leaving);

/*
 * ftrace may go on calling us for a session that has been destroyed, which therefore has not been
 * freed.
 */
static bool any_leaked;

/* Set by argtrace_sessions_close(). */
static bool closing;

static void remove_probes(struct argtrace_session *session)
{
	mutex_lock(&session->lock);
	argtrace_arm_remove_all(session);
	argtrace_deferred_remove(session, NULL);
	mutex_unlock(&session->lock);
}

/* To be called when none of its probes is armed any more. */
static void session_destroy(struct argtrace_session *session)
{
	u32 id;

	if (argtrace_lanes_leaked(session)) {
		WRITE_ONCE(any_leaked, true);
		return;
	}
	/* Its hooks ask for the filter, and tell of new objects. */
	argtrace_stacks_free(session->stacks.user);
	/* No callback can queue its work any more. */
	argtrace_notice_exit(&session->notice);

	argtrace_lanes_free(session);
	argtrace_pid_filter_free(session->pid_filter);
	argtrace_catalog_free(&session->catalog);
	for (id = 0; id < ARGTRACE_MAPS_MAX; id++)
		argtrace_map_free(session->maps[id]);
	argtrace_rings_free(&session->ring_set);
	argtrace_stacks_free(session->stacks.kernel);
	argtrace_user_files_free(&session->user_files);
	mutex_destroy(&session->lock);
	kfree(session);
	argtrace_returns_flush();
}

static struct argtrace_session *session_create(const struct argtrace_session_attr *attr)
{
	struct argtrace_session *session;
	int ret;

	session = kzalloc(sizeof(*session), ARGTRACE_GFP);
	if (!session)
		return ERR_PTR(-ENOMEM);
	kref_init(&session->ref);
	mutex_init(&session->lock);
	argtrace_notice_init(&session->notice);
	session->clock = attr->clock;
	argtrace_deferred_init(&session->deferred);
	session->format = attr->format;
	session->packet_size = attr->packet_size;
	session->nr_packets = attr->nr_packets;
	session->flight = attr->flags & ARGTRACE_SESSION_FLIGHT;
	strscpy(session->name, attr->name, sizeof(session->name));

	session->ring_set = (struct argtrace_ring_set){
		.notice = &session->notice,
		.packet_size = attr->packet_size,
		.nr_packets = attr->nr_packets,
		.format = attr->format,
		.clock = attr->clock,
		.flight = session->flight,
	};
	ret = argtrace_rings_create(&session->ring_set);
	if (ret)
		goto err_free;
	session->rings = session->ring_set.rings;
	session->notice.rings = session->rings;
	ret = argtrace_lanes_create(session);
	if (ret)
		goto err_lanes;
	return session;

err_lanes:
	argtrace_lanes_free(session);
	argtrace_rings_free(&session->ring_set);
err_free:
	mutex_destroy(&session->lock);
	kfree(session);
	return ERR_PTR(ret);
}

static struct argtrace_session *find_named(const char *name)
{
	struct argtrace_session *session;

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(session, &sessions, link) {
		if (session->name[0] && !session->removed && !strcmp(session->name, name))
			return session;
	}
	return NULL;
}

/* Fills in the defaults; false if the settings are out of range. */
static bool attr_is_valid(struct argtrace_session_attr *attr)
{
	if (!attr->packet_size)
		attr->packet_size = ARGTRACE_PACKET_SIZE;
	if (!attr->nr_packets)
		attr->nr_packets = argtrace_default_nr_packets(num_present_cpus());
	return !(attr->format & ~(ARGTRACE_FORMAT_NAMED | ARGTRACE_FORMAT_NO_CALLER)) &&
	       is_power_of_2(attr->packet_size) && is_power_of_2(attr->nr_packets) &&
	       attr->packet_size >= ARGTRACE_PACKET_SIZE_MIN &&
	       attr->packet_size <= ARGTRACE_PACKET_SIZE_MAX &&
	       attr->nr_packets >= 2 && attr->nr_packets <= ARGTRACE_NR_PACKETS_MAX;
}

/* A reference to the session of that name, or NULL. */
static struct argtrace_session *attach_named(const char *name)
{
	struct argtrace_session *session;

	mutex_lock(&sessions_lock);
	session = name[0] ? find_named(name) : NULL;
	if (session)
		kref_get(&session->ref);
	mutex_unlock(&sessions_lock);
	return session;
}

/* Adds it to the list, or returns a reference to a session that has taken the name meanwhile. */
static struct argtrace_session *publish_session(struct argtrace_session *made)
{
	struct argtrace_session *session;

	mutex_lock(&sessions_lock);
	session = made->name[0] ? find_named(made->name) : NULL;
	if (session) {
		kref_get(&session->ref);
	} else {
		session = made;
		list_add_tail(&made->link, &sessions);
		nr_sessions++;
		/* The name holds a reference of its own. */
		if (made->name[0])
			kref_get(&made->ref);
	}
	mutex_unlock(&sessions_lock);
	return session;
}

struct argtrace_session *argtrace_session_get(struct argtrace_session_attr *attr)
{
	struct argtrace_session *session, *made;
	int ret;

	if (!attr_is_valid(attr))
		return ERR_PTR(-EINVAL);
	ret = argtrace_clock_choose(&attr->clock);
	if (ret)
		return ERR_PTR(ret);

	session = attach_named(attr->name);
	if (!session && attr->name[0] && !(attr->flags & ARGTRACE_SESSION_CREATE))
		return ERR_PTR(-ENOENT);
	if (!session) {
		/* Not under sessions_lock, as this may take long. */
		made = session_create(attr);
		if (IS_ERR(made))
			return made;
		session = publish_session(made);
		if (session != made)
			session_destroy(made);
	}

	attr->format = session->format;
	attr->clock = session->clock;
	attr->packet_size = session->packet_size;
	attr->nr_packets = session->nr_packets;
	attr->nr_cpus = nr_cpu_ids;
	attr->flags &= ~ARGTRACE_SESSION_FLIGHT;
	attr->flags |= session->flight ? ARGTRACE_SESSION_FLIGHT : 0;
	return session;
}

static void session_release(struct kref *ref)
{
	struct argtrace_session *session = container_of(ref, struct argtrace_session, ref);
	/*
	 * Nobody is left who could add a probe in a module, and modules do not wait for those that
	 * have none.
	 */
	const bool in_modules = session->in_modules;

	if (in_modules)
		down_read(&leaving);
	list_del(&session->link);
	nr_sessions--;
	mutex_unlock(&sessions_lock);
	remove_probes(session);
	if (in_modules)
		up_read(&leaving);
	session_destroy(session);
}

void argtrace_session_put(struct argtrace_session *session)
{
	kref_put_mutex(&session->ref, session_release, &sessions_lock);
}

/*
 * Takes the name away. The caller inherits the reference that the name held, and must disarm the
 * session.
 */
static void take_name(struct argtrace_session *session)
{
	lockdep_assert_held(&sessions_lock);
	WRITE_ONCE(session->removed, true);
}

/*
 * The session has lost its name. An addition of probes either sees that, or finishes before they
 * are removed here.
 */
static void session_disarm(struct argtrace_session *session)
{
	remove_probes(session);
	argtrace_returns_flush();
	wake_up_all(&session->notice.wait);
}

int argtrace_session_remove(const char *name)
{
	struct argtrace_session *session;

	mutex_lock(&sessions_lock);
	session = find_named(name);
	if (session)
		take_name(session);
	mutex_unlock(&sessions_lock);
	if (!session)
		return -ENOENT;
	session_disarm(session);
	argtrace_session_put(session);
	return 0;
}

/*
 * Unnames one named session, and returns it; NULL if there is none. A session that never had a name
 * belongs to whoever holds it. With no file left that is next_concerned(), which may still put one
 * when the module is about to be removed.
 */
static struct argtrace_session *take_any_name(void)
{
	struct argtrace_session *session;

	lockdep_assert_held(&sessions_lock);
	list_for_each_entry(session, &sessions, link) {
		if (session->name[0] && !session->removed) {
			take_name(session);
			return session;
		}
	}
	return NULL;
}

void argtrace_sessions_close(bool close)
{
	/*
	 * What a module notifier arms before it sees this is disarmed with its session, whose lock
	 * it holds.
	 */
	WRITE_ONCE(closing, close);
}

void argtrace_sessions_remove_all(void)
{
	struct argtrace_session *session;

	for (;;) {
		mutex_lock(&sessions_lock);
		session = take_any_name();
		mutex_unlock(&sessions_lock);
		if (!session)
			return;
		session_disarm(session);
		argtrace_session_put(session);
	}
}

bool argtrace_sessions_leaked(void)
{
	return READ_ONCE(any_leaked);
}

u32 argtrace_sessions_count(void)
{
	return READ_ONCE(nr_sessions);
}

/*
 * Whether a module that goes (or has gone, when another one comes) concerns the session. Called
 * without its lock.
 */
static bool concerns_going(const struct argtrace_session *session)
{
	return READ_ONCE(session->in_modules);
}

static bool has_deferred(const struct argtrace_session *session)
{
	return READ_ONCE(session->deferred.nr_entries);
}

static bool concerns_coming(const struct argtrace_session *session)
{
	return concerns_going(session) || has_deferred(session);
}

/*
 * A reference to the next session after `previous` (NULL: the first) for which concerns() is true;
 * drops the reference to `previous`. Loading or unloading a module does not wait for other
 * sessions.
 */
static struct argtrace_session *
next_concerned(struct argtrace_session *previous,
	       bool (*concerns)(const struct argtrace_session *session))
{
	struct argtrace_session *session, *next = NULL;

	mutex_lock(&sessions_lock);
	session = list_prepare_entry(previous, &sessions, link);
	list_for_each_entry_continue(session, &sessions, link) {
		if (concerns(session)) {
			next = session;
			kref_get(&next->ref);
			break;
		}
	}
	mutex_unlock(&sessions_lock);
	if (previous)
		argtrace_session_put(previous);
	return next;
}

void argtrace_sessions_module_going(const struct module *module, bool only_init)
{
	struct argtrace_session *session = NULL;

	while ((session = next_concerned(session, concerns_going))) {
		mutex_lock(&session->lock);
		argtrace_arm_module_going(session, module, only_init);
		mutex_unlock(&session->lock);
	}
	/* Those that had left the list by then. */
	down_write(&leaving);
	up_write(&leaving);
}

void argtrace_sessions_module_coming(const struct module *module)
{
	struct argtrace_session *session = NULL;

	while ((session = next_concerned(session, concerns_coming))) {
		mutex_lock(&session->lock);
		/*
		 * First remove what an addition that raced with GOING has left at these addresses.
		 */
		argtrace_arm_module_going(session, module, false);
		if (!READ_ONCE(closing))
			argtrace_deferred_arm(session, module);
		mutex_unlock(&session->lock);
	}
}

void argtrace_sessions_tracepoints_coming(const struct module *module)
{
	struct argtrace_session *session = NULL;

	while ((session = next_concerned(session, has_deferred))) {
		mutex_lock(&session->lock);
		if (!READ_ONCE(closing))
			argtrace_deferred_arm_tracepoints(session, module);
		mutex_unlock(&session->lock);
	}
}
