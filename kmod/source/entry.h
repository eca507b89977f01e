/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ENTRY_H
#define ARGTRACE_ENTRY_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct argtrace_lane;

/*
 * What ftrace is to call for every call of a function of this lane. Which it is follows from the kind
 * of the lane, the clock of the session and whether there is a filter by process: none of them may
 * change while the lane is armed.
 */
ftrace_func_t argtrace_entry_callback(const struct argtrace_lane *lane);

/* The same of the rich lane: source/rich.c. */
ftrace_func_t argtrace_rich_callback(const struct argtrace_lane *lane);

#endif
