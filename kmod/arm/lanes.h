/* SPDX-License-Identifier: GPL-2.0-only */
/* The lanes of a session, with the source of each. */
#ifndef ARGTRACE_LANES_H
#define ARGTRACE_LANES_H

#include <linux/types.h>

#include "probe/plan.h"

struct argtrace_pid_filter;
struct argtrace_session;
struct argtrace_source;

/*
 * The lane of a probe. It depends only on the schema, so that a probe is in the same lane when it
 * is revived.
 */
enum argtrace_lane_kind argtrace_lane_of(const struct argtrace_plan *plan);

/* The source of a kind of probe, which is valid. */
const struct argtrace_source *argtrace_kind_source(u16 kind);

/*
 * Makes the lanes of a session that has its clock and rings. 0 or an error, on which nothing is
 * freed.
 */
int argtrace_lanes_create(struct argtrace_session *session);
/* To be called when no callback uses them any more. */
void argtrace_lanes_free(struct argtrace_session *session);

/*
 * Takes over the filter; NULL accepts the calls of all processes. On error it still belongs to the
 * caller: -ENOENT the session has been removed, -EBUSY it is armed and would need another callback.
 */
int argtrace_lanes_set_pid_filter(struct argtrace_session *session,
				  struct argtrace_pid_filter *pid_filter);

#endif
