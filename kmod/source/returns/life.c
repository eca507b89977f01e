// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long what calls in flight need stays. A task may sleep in a function for days, with a frame
 * on its stack that refers to a plan and returns to our text.
 *
 *   plan   has a reference from the first call on until all have left. One that is removed, or
 *          whose session goes, is stopped: nothing
 *          more is recorded, and the rings may go. Its lane may go on calling it, and is made to
 *          stop by arm.c, which then
 *          says that the plan is detached. From then on it is on the list of those that are
 *          leaving, and idle when none is
 *          in flight.
 *   text   the module holds a reference to itself while there is a plan that is not idle. It gets
 *          none once it is being
 *          unloaded, so that nothing is followed from then on.
 *
 * A call counts as entered some time after ftrace has called us, and as left some time before it
 * has returned from the trampoline. It may be preempted in between, but it does not sleep:
 * synchronize_rcu_tasks() waits for these.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "base/compat.h"
#include "base/hook.h"
#include "base/memory.h"
#include "session.h"
#include "source/returns/following.h"
#include "source/returns/in_flight.h"
#include "source/returns/returns.h"

#define CHECK_INTERVAL		HZ	  /* of plans that are leaving ... */
#define CHECK_INTERVAL_LOGGED	(10 * HZ) /* ... once all of them are logged */
#define LOG_AFTER		(5 * HZ)  /* then plans with calls in flight are logged */
#define NAME_TASKS_MAX		16	  /* functions whose tasks are named in one check */

static DEFINE_MUTEX(returns_lock);
static LIST_HEAD(leaving);
/* plans that are not idle, and callers between get() and put() */
static u32 nr_users;
/* all that are leaving are logged: the next check is after CHECK_INTERVAL_LOGGED */
static bool all_logged;
/* leaving_check() has taken plans off the list that are not idle yet */
static bool releasing;

static void leaving_check(struct work_struct *work);
static DECLARE_DELAYED_WORK(leaving_work, leaving_check);

/* It disturbs all CPUs: there must be something to wait for. */
static void wait_for_trampolines(void)
{
	ARGTRACE_HOOK(WAIT_FOR_TRAMPOLINES);
	argtrace_synchronize();
	synchronize_rcu_tasks();
}

int argtrace_returns_get(void)
{
	int ret = 0;

	mutex_lock(&returns_lock);
	if (!nr_users) {
		/* Not a module that is being unloaded: its text would go with calls in flight. */
		if (!try_module_get(THIS_MODULE))
			ret = -ESHUTDOWN;
		else
			ret = argtrace_following_begin();
		if (ret && ret != -ESHUTDOWN)
			module_put(THIS_MODULE);
	}
	if (!ret)
		nr_users++;
	mutex_unlock(&returns_lock);
	return ret;
}

static void put_locked(u32 count)
{
	nr_users -= count;
	if (nr_users || !count)
		return;
	argtrace_following_end();
	module_put(THIS_MODULE);
}

void argtrace_returns_put(void)
{
	mutex_lock(&returns_lock);
	put_locked(1);
	mutex_unlock(&returns_lock);
}

void argtrace_return_set_up(struct argtrace_plan *plan, const struct argtrace_session *session)
{
	struct argtrace_return *returns = plan->returns;

	returns->rings = session->rings;
	returns->clock = session->clock;
	returns->kept = argtrace_return_quickly_kept(plan);
	returns->is_narrow = argtrace_return_is_narrow(plan, session);
	/* Pairs with the acquire of argtrace_return_leave(). */
	smp_store_release(&returns->leave_path, argtrace_return_leave_path(plan, session));
}

static void start_following(struct argtrace_plan *plan, struct argtrace_session *session)
{
	struct argtrace_return *returns = plan->returns;

	mutex_lock(&returns_lock);
	WARN_ON_ONCE(returns->life == ARGTRACE_RETURN_LEAVING);
	/* One that was to be removed and could not be is stopped, and still counted. */
	if (returns->life == ARGTRACE_RETURN_IDLE) {
		argtrace_plan_get(plan);
		nr_users++;
	}
	returns->life = ARGTRACE_RETURN_LIVE;
	returns->lane = &session->lanes[plan->lane];
	argtrace_return_set_up(plan, session);
	mutex_unlock(&returns_lock);
}

static void leaving_check_in(unsigned long delay)
{
	/* mod_delayed_work() needs the workqueue, whose name varies by kernel. */
	cancel_delayed_work(&leaving_work);
	schedule_delayed_work(&leaving_work, delay);
}

static void stop_locked(struct argtrace_return *returns)
{
	if (returns->life != ARGTRACE_RETURN_LIVE)
		return;
	WRITE_ONCE(returns->leave_path, ARGTRACE_LEAVE_STOPPED);
	returns->life = ARGTRACE_RETURN_STOPPED;
}

static void leave_locked(struct argtrace_return *returns)
{
	if (returns->life != ARGTRACE_RETURN_STOPPED)
		return;
	returns->life = ARGTRACE_RETURN_LEAVING;
	returns->seen = false;
	returns->logged = false;
	returns->stopped_at = jiffies;
	list_add_tail(&returns->link, &leaving);
	/* Where many stop at once, the first has set the time of the check. */
	if (all_logged)
		leaving_check_in(CHECK_INTERVAL);
	else
		schedule_delayed_work(&leaving_work, CHECK_INTERVAL);
	all_logged = false;
}

static void stop_following(struct argtrace_plan *plan)
{
	mutex_lock(&returns_lock);
	stop_locked(plan->returns);
	mutex_unlock(&returns_lock);
}

void argtrace_return_detached(struct argtrace_plan *plan)
{
	mutex_lock(&returns_lock);
	leave_locked(plan->returns);
	mutex_unlock(&returns_lock);
}

bool argtrace_return_is_leaving(struct argtrace_plan *plan)
{
	const enum argtrace_return_life life = READ_ONCE(plan->returns->life);

	return life == ARGTRACE_RETURN_STOPPED || life == ARGTRACE_RETURN_LEAVING;
}

/*
 * One that has been started, and has not come into the table of its lane after all, has not been
 * stopped.
 */
static void release_followed(struct argtrace_plan *plan)
{
	struct argtrace_return *returns = plan->returns;

	mutex_lock(&returns_lock);
	stop_locked(returns);
	leave_locked(returns);
	mutex_unlock(&returns_lock);
}

const struct argtrace_plan_rules argtrace_return_rules = {
	.start = start_following,
	.stop = stop_following,
	.release = release_followed,
};

/*
 * Notes which are leaving, and get no more calls once wait_for_trampolines() has returned. False:
 * that is known of all of them.
 */
static bool leaving_mark_seen(void)
{
	struct argtrace_return *returns;
	bool any = false;

	mutex_lock(&returns_lock);
	list_for_each_entry(returns, &leaving, link) {
		any |= !returns->seen;
		returns->seen = true;
	}
	mutex_unlock(&returns_lock);
	return any;
}

/* The stacks of all tasks are unwound to name them, for each function anew. */
static void leaving_log(const struct argtrace_return *returns, u64 in_flight, bool name_tasks)
{
	char tasks[160] = "";

	if (name_tasks)
		argtrace_in_flight_name_tasks(returns, tasks, sizeof(tasks));
	pr_info("calls of %s have not returned since it is not traced any more: %llu%s; until then the module cannot be unloaded\n",
		returns->plan->strings, in_flight, tasks);
}

/*
 * Moves those that have no calls in flight to `idle`, and logs those that still have some after a
 * while.
 */
static void leaving_take_idle(struct list_head *idle)
{
	struct argtrace_return *returns, *next;
	u32 nr_logged = 0;

	mutex_lock(&returns_lock);
	list_for_each_entry_safe(returns, next, &leaving, link) {
		const u64 in_flight = returns->seen ? argtrace_plan_in_flight(returns->plan) : 0;

		if (returns->seen && !in_flight) {
			list_move_tail(&returns->link, idle);
		} else if (in_flight && !returns->logged &&
			   time_after_eq(jiffies, returns->stopped_at + LOG_AFTER)) {
			returns->logged = true;
			leaving_log(returns, in_flight, nr_logged++ < NAME_TASKS_MAX);
		}
	}
	releasing = !list_empty(idle);
	mutex_unlock(&returns_lock);
}

/*
 * What is idle is so from now on, and plans that their owner has given up go. Returns how many
 * there were.
 */
static u32 release_idle(struct list_head *idle)
{
	struct argtrace_return *returns, *next;
	u32 count = 0;

	mutex_lock(&returns_lock);
	list_for_each_entry_safe(returns, next, idle, link) {
		count++;
		returns->life = ARGTRACE_RETURN_IDLE;
		list_del(&returns->link);
		argtrace_plan_put(returns->plan);
	}
	mutex_unlock(&returns_lock);
	return count;
}

static void leaving_check_again(void)
{
	const struct argtrace_return *returns;
	unsigned long delay = CHECK_INTERVAL_LOGGED;

	if (list_empty(&leaving))
		return;
	list_for_each_entry(returns, &leaving, link) {
		if (!returns->logged)
			delay = CHECK_INTERVAL;
	}
	all_logged = delay == CHECK_INTERVAL_LOGGED;
	schedule_delayed_work(&leaving_work, delay);
}

static void leaving_check(struct work_struct *work)
{
	LIST_HEAD(idle);
	u32 count = 0;

	if (leaving_mark_seen())
		wait_for_trampolines();
	leaving_take_idle(&idle);
	if (!list_empty(&idle)) {
		/* Those that have counted themselves out may be on their way through our text. */
		wait_for_trampolines();
		count = release_idle(&idle);
	}

	mutex_lock(&returns_lock);
	releasing = false;
	leaving_check_again();
	put_locked(count);
	mutex_unlock(&returns_lock);
}

/* Whether a check would find more than that calls are still in flight. */
static bool leaving_needs_check(void)
{
	const struct argtrace_return *returns;

	if (releasing)
		return true;
	list_for_each_entry(returns, &leaving, link) {
		if (!returns->seen || !argtrace_plan_in_flight(returns->plan))
			return true;
	}
	return false;
}

void argtrace_returns_flush(void)
{
	bool needed;

	mutex_lock(&returns_lock);
	needed = leaving_needs_check();
	if (needed)
		leaving_check_in(0);
	mutex_unlock(&returns_lock);
	if (needed)
		flush_delayed_work(&leaving_work);
}

u64 argtrace_returns_in_flight(void)
{
	const struct argtrace_return *returns;
	u64 sum = 0;

	mutex_lock(&returns_lock);
	list_for_each_entry(returns, &leaving, link)
		sum += argtrace_plan_in_flight(returns->plan);
	/* The caller may be waiting until the module can be unloaded. */
	if (leaving_needs_check())
		leaving_check_in(0);
	mutex_unlock(&returns_lock);
	return sum;
}

void argtrace_returns_exit(void)
{
	cancel_delayed_work_sync(&leaving_work);
	WARN_ON_ONCE(nr_users);
}
