/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How those who poll a session's file hear of what is new: data in the rings, and that a CPU has
 * got memory of its own. One for all sinks of a session, since one poll() waits for them.
 */
#ifndef ARGTRACE_NOTICE_H
#define ARGTRACE_NOTICE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct argtrace_ring;

struct argtrace_notice {
	struct irq_work wake;		/* queued by calls, in any context */
	struct argtrace_ring __percpu *rings;
	wait_queue_head_t wait;
	atomic_t changes;		/* see argtrace_notice_change() */
	struct delayed_work recheck;	/* see argtrace_notice_await() */
};

/* `rings` may be set later, but before anybody waits. */
void argtrace_notice_init(struct argtrace_notice *notice);
/* When no call can queue `wake` any more. */
void argtrace_notice_exit(struct argtrace_notice *notice);

/*
 * A CPU has got memory, or probes have been added or removed: poll() reports POLLPRI once to each
 * file that is bound to the session and polls for it.
 */
void argtrace_notice_change(struct argtrace_notice *notice);

/* Asks for a wake-up of notice->wait once there is data in the rings. */
void argtrace_notice_await(struct argtrace_notice *notice);

#endif
