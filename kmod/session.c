// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "arm.h"
#include "limits.h"
#include "memory.h"
#include "session.h"
#include "source/return.h"

static DEFINE_MUTEX(sessions_lock);
static LIST_HEAD(sessions);
static u32 nr_sessions;

/* Ample time for a callback's store to become visible to a CPU that is about to sleep. */
#define RECHECK_DELAY	2	/* jiffies */

static void set_waiting(struct argtrace_session *session, bool waiting)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct argtrace_ring *ring = per_cpu_ptr(session->rings, cpu);

		if (READ_ONCE(ring->waiting) != waiting)
			WRITE_ONCE(ring->waiting, waiting);
	}
}

static void session_wake(struct irq_work *work)
{
	struct argtrace_session *session = container_of(work, struct argtrace_session, wake);

	set_waiting(session, false);
	wake_up_all(&session->wait);
}

static void session_recheck(struct work_struct *work)
{
	struct argtrace_session *session = container_of(to_delayed_work(work),
							struct argtrace_session, recheck);

	if (argtrace_session_has_data(session))
		wake_up_all(&session->wait);
}

/*
 * Held for reading while a session that has had probes in modules is off the list and its probes are being removed. A module that goes
 * does not find that session any more, and waits for the lock: a tracepoint must not be in use when its module is freed.
 */
static DECLARE_RWSEM(leaving);

/* ftrace may go on calling us for a session that has been destroyed, which therefore has not been freed. */
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
	/* No callback can queue the work any more. */
	irq_work_sync(&session->wake);
	cancel_delayed_work_sync(&session->recheck);

	argtrace_lanes_free(session);
	argtrace_pid_filter_free(session->pid_filter);
	argtrace_catalog_free(&session->catalog);
	for (id = 0; id < ARGTRACE_MAPS_MAX; id++)
		argtrace_map_free(session->maps[id]);
	argtrace_rings_free(&session->ring_set);
	argtrace_stacks_free(session->stacks);
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
	init_waitqueue_head(&session->wait);
	init_irq_work(&session->wake, session_wake);
	INIT_DELAYED_WORK(&session->recheck, session_recheck);
	session->clock = attr->clock;
	argtrace_deferred_init(&session->deferred);
	session->format = attr->format;
	session->packet_size = attr->packet_size;
	session->nr_packets = attr->nr_packets;
	session->flight = attr->flags & ARGTRACE_SESSION_FLIGHT;
	strscpy(session->name, attr->name, sizeof(session->name));

	session->ring_set = (struct argtrace_ring_set){
		.session = session,
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
	/* Nobody is left who could add a probe in a module, and modules do not wait for those that have none. */
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

/* Takes the name away. The caller inherits the reference that the name held, and must disarm the session. */
static void take_name(struct argtrace_session *session)
{
	lockdep_assert_held(&sessions_lock);
	WRITE_ONCE(session->removed, true);
}

/* The session has lost its name. An addition of probes either sees that, or finishes before they are removed here. */
static void session_disarm(struct argtrace_session *session)
{
	remove_probes(session);
	argtrace_returns_flush();
	wake_up_all(&session->wait);
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
 * Unnames one named session, and returns it; NULL if there is none. A session that never had a name belongs to whoever holds it. With
 * no file left that is next_concerned(), which may still put one when the module is about to be removed.
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
	/* What a module notifier arms before it sees this is disarmed with its session, whose lock it holds. */
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

/* Whether a module that goes (or has gone, when another one comes) concerns the session. Called without its lock. */
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
 * A reference to the next session after `previous` (NULL: the first) for which concerns() is true; drops the
 * reference to `previous`. Loading or unloading a module does not wait for other sessions.
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
		/* First remove what an addition that raced with GOING has left at these addresses. */
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

int argtrace_session_set_pid_filter(struct argtrace_session *session,
				   struct argtrace_pid_filter *pid_filter)
{
	struct argtrace_pid_filter *before;
	bool armed;

	mutex_lock(&session->lock);
	armed = argtrace_lanes_armed(session);
	before = session->pid_filter;
	if (session->removed || (armed && !pid_filter != !before)) {
		int ret = session->removed ? -ENOENT : -EBUSY;

		mutex_unlock(&session->lock);
		return ret;
	}
	session->pid_filter = pid_filter;
	argtrace_lanes_set_pid_filter(session, pid_filter);
	mutex_unlock(&session->lock);

	if (before && armed)
		argtrace_synchronize();
	argtrace_pid_filter_free(before);
	return 0;
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

struct argtrace_map_set *argtrace_session_make_map(struct argtrace_session *session, const struct argtrace_map *description,
						   u32 *id)
{
	struct argtrace_map_set *map;
	const int taken = take_map_id(session);

	if (taken < 0)
		return ERR_PTR(taken);
	map = argtrace_map_create(session, description);
	if (IS_ERR(map))
		return_map_id(session, taken);
	*id = taken;
	return map;
}

void argtrace_session_publish_map(struct argtrace_session *session, u32 id, struct argtrace_map_set *map)
{
	/* Pairs with argtrace_map_of(). */
	smp_store_release(&session->maps[id], map);
}

void argtrace_session_drop_map(struct argtrace_session *session, u32 id, struct argtrace_map_set *map)
{
	argtrace_map_free(map);
	return_map_id(session, id);
}

int argtrace_session_make_stacks(struct argtrace_session *session, struct argtrace_stacks *description)
{
	struct argtrace_stack_set *stacks;
	int ret = 0;

	mutex_lock(&session->lock);
	stacks = session->stacks;
	if (session->removed) {
		ret = -ENOENT;
	} else if (!stacks) {
		stacks = argtrace_stacks_create(description);
		if (IS_ERR(stacks))
			ret = PTR_ERR(stacks);
		else
			/* Pairs with the acquires of readers without the lock. */
			smp_store_release(&session->stacks, stacks);
	}
	if (!ret)
		argtrace_stacks_describe(stacks, description);
	mutex_unlock(&session->lock);
	return ret;
}

bool argtrace_session_has_data(const struct argtrace_session *session)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (argtrace_ring_has_data(per_cpu_ptr(session->rings, cpu)))
			return true;
	}
	return false;
}

void argtrace_session_changed(struct argtrace_session *session)
{
	/* Not under session->lock, as rings are added under the lock of CPU hotplug. */
	atomic_inc(&session->changes);
	wake_up_all(&session->wait);
}

/*
 * A callback publishes and then reads `waiting`, without a full barrier in between, which every
 * call would pay for. A callback on another CPU may therefore miss that `waiting` is set here
 * while we miss what it has published; the recheck catches that. A flight recorder has nothing to
 * wait for.
 */
void argtrace_session_wait(struct argtrace_session *session)
{
	if (session->flight)
		return;
	set_waiting(session, true);
	/* Re-arm the recheck. mod_delayed_work() needs the workqueue, whose name varies by kernel. */
	cancel_delayed_work(&session->recheck);
	schedule_delayed_work(&session->recheck, RECHECK_DELAY);
}
