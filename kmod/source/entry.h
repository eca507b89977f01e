/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ENTRY_H
#define ARGTRACE_ENTRY_H

#include <linux/ftrace.h>

struct argtrace_lane;

/*
 * The function that ftrace calls for the functions of the plain lane. Like those of the other
 * lanes, it depends on the session's clock and kind of ring, and on whether there is a PID filter,
 * none of which may change while the lane is armed.
 */
ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane);

#endif
