/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A lane's ftrace_ops and its filter: which functions ftrace calls us for. All but
 * argtrace_attachment_find_bad() under session->lock.
 */
#ifndef ARGTRACE_ATTACHMENT_H
#define ARGTRACE_ATTACHMENT_H

#include <linux/types.h>

struct argtrace_lane;

/* Prepares the ftrace_ops of a lane that is not armed: which callback it gets follows from the lane. */
void argtrace_attachment_init(struct argtrace_lane *lane);

/*
 * Which of the addresses no traceable function begins at; 0: none. With `all` each is
 * asked for, else only those that ftrace_set_filter_ips() would take by mistake.
 */
unsigned long argtrace_attachment_find_bad(const unsigned long *addrs, u32 count, bool all);

/* Adds the addresses to the filter and registers the ops if it is not; 0, -EINVAL, -EBUSY ... */
int argtrace_attachment_add(struct argtrace_lane *lane, unsigned long *addrs, u32 count);

/*
 * Makes the filter what the catalog says is live in this lane, and unregisters if that is nothing. A
 * function that has gone with its module without our notice (see module_event()) is found
 * here, and removed as well.
 */
int argtrace_attachment_follow(struct argtrace_lane *lane);

#endif
