/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_CALLBACK_H
#define ARGTRACE_CALLBACK_H

#include <linux/ftrace.h>

/* What ftrace calls for every call of a traced function; ops is a session's. */
void argtrace_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);

#endif
