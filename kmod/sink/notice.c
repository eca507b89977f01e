// SPDX-License-Identifier: GPL-2.0-only
#include "sink/notice.h"
#include "sink/ring.h"

/* Ample time for a callback's store to become visible to a CPU that is about to sleep. */
#define RECHECK_DELAY	2	/* jiffies */

static void set_waiting(struct argtrace_notice *notice, bool waiting)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct argtrace_ring *ring = per_cpu_ptr(notice->rings, cpu);

		if (READ_ONCE(ring->waiting) != waiting)
			WRITE_ONCE(ring->waiting, waiting);
	}
}

static void wake_waiters(struct irq_work *work)
{
	struct argtrace_notice *notice = container_of(work, struct argtrace_notice, wake);

	set_waiting(notice, false);
	wake_up_all(&notice->wait);
}

static void recheck_rings(struct work_struct *work)
{
	struct argtrace_notice *notice =
		container_of(to_delayed_work(work), struct argtrace_notice, recheck);

	if (argtrace_rings_have_data(notice->rings))
		wake_up_all(&notice->wait);
}

void argtrace_notice_init(struct argtrace_notice *notice)
{
	init_waitqueue_head(&notice->wait);
	init_irq_work(&notice->wake, wake_waiters);
	INIT_DELAYED_WORK(&notice->recheck, recheck_rings);
}

void argtrace_notice_exit(struct argtrace_notice *notice)
{
	irq_work_sync(&notice->wake);
	cancel_delayed_work_sync(&notice->recheck);
}

void argtrace_notice_change(struct argtrace_notice *notice)
{
	/* Without the session's lock, as rings are added under the lock of CPU hotplug. */
	atomic_inc(&notice->changes);
	wake_up_all(&notice->wait);
}

/*
 * A callback publishes and then reads `waiting`, without a full barrier in between, which every
 * call would pay for. A callback on another CPU may therefore miss that `waiting` is set here
 * while we miss what it has published; the recheck catches that.
 */
void argtrace_notice_await(struct argtrace_notice *notice)
{
	set_waiting(notice, true);
	/* Re-arm it. mod_delayed_work() needs the workqueue, whose name varies by kernel. */
	cancel_delayed_work(&notice->recheck);
	schedule_delayed_work(&notice->recheck, RECHECK_DELAY);
}
