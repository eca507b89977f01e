/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_ENTRY_H
#define ARGTRACE_ENTRY_H

#include <linux/ftrace.h>
#include <linux/types.h>

/*
 * What ftrace calls for every call of a traced function; the ops it is given to is a session's,
 * whose clock it is for (ARGTRACE_CLOCK_*). `by_pid`: the session has a set of processes, as long
 * as it is armed.
 */
ftrace_func_t argtrace_callback_of(u32 clock, bool by_pid);

#endif
