// SPDX-License-Identifier: GPL-2.0-only
#include "lane.h"
#include "session.h"

bool argtrace_lanes_armed(const struct argtrace_session *session)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		if (session->lanes[kind].armed)
			return true;
	}
	return false;
}

bool argtrace_lanes_leaked(const struct argtrace_session *session)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		if (session->lanes[kind].leaked)
			return true;
	}
	return false;
}

void argtrace_lanes_exclude(struct argtrace_session *session, pid_t tgid)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++)
		WRITE_ONCE(session->lanes[kind].excluded_tgid, tgid);
}

void argtrace_lanes_stop_excluding(struct argtrace_session *session, pid_t tgid)
{
	enum argtrace_lane_kind kind;

	for (kind = 0; kind < ARGTRACE_LANES; kind++) {
		pid_t *excluded = &session->lanes[kind].excluded_tgid;

		if (READ_ONCE(*excluded) == tgid)
			cmpxchg(excluded, tgid, -1);
	}
}
