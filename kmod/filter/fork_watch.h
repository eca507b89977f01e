/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that remembers processes by PID has to know when a PID is reused. The moment that
 * matters is the fork of the new process, not the end of the old one: a process may go on in
 * other threads after the thread that has its PID has exited.
 */
#ifndef ARGTRACE_FORK_WATCH_H
#define ARGTRACE_FORK_WATCH_H

#include <linux/list.h>

struct task_struct;

/* `begins` is called for each new process (not for threads) before it runs; it may not sleep. */
struct argtrace_fork_watch {
	struct list_head link;
	void (*begins)(struct argtrace_fork_watch *watch, const struct task_struct *parent,
		       const struct task_struct *child);
};

/* 0; -EOPNOTSUPP the kernel does not say when processes are forked, -ENOMEM. */
int argtrace_fork_watch_add(struct argtrace_fork_watch *watch);
/* Once this returns, `begins` is not called any more. */
void argtrace_fork_watch_remove(struct argtrace_fork_watch *watch);

#endif
