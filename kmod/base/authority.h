/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the calling task may do, checked at the moment of use: a file may have been inherited
 * or received by a task with fewer capabilities than the one that opened it.
 */
#ifndef ARGTRACE_AUTHORITY_H
#define ARGTRACE_AUTHORITY_H

#include <linux/capability.h>
#include <linux/security.h>

/* 0; -EPERM without CAP_PERFMON and CAP_SYS_ADMIN, or where lockdown refuses tracefs. */
static inline int argtrace_may_trace(void)
{
	if (!perfmon_capable())
		return -EPERM;
	/* We expose what tracefs exposes; refuse it alike. */
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/* Whether it may also read memory: as for a BPF tracing program, that takes CAP_BPF as well. */
static inline bool argtrace_may_read_memory(void)
{
	return perfmon_capable() && bpf_capable();
}

/*
 * Whether it may have us call functions with as many words of stack arguments as it claims they
 * take.
 */
static inline bool argtrace_may_follow(void)
{
	return capable(CAP_SYS_ADMIN) && !security_locked_down(LOCKDOWN_DBG_WRITE_KERNEL);
}

#endif
