/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_FILE_H
#define ARGTRACE_FILE_H

#include <linux/fs.h>
#include <linux/mutex.h>
#include <asm/barrier.h>

#include "filter/fork_watch.h"

struct argtrace_session;

/* What an open file of /dev/argtrace holds. */
struct argtrace_file {
	struct mutex lock;			/* held to set what follows, each once */
	struct argtrace_session *session;	/* a reference; NULL until ARGTRACE_IOC_SESSION */
	int changes_seen;			/* of session->notice.changes; poll() sets it too, without the lock */
	bool watches;				/* for new processes, until the file is closed */
	struct argtrace_fork_watch watch;
};

/* The session, without the lock; or NULL. */
static inline struct argtrace_session *argtrace_file_session(const struct argtrace_file *file)
{
	/* Pairs with the release of argtrace_ioctl_session(). */
	return smp_load_acquire(&file->session);
}

/* ioctl/ioctl.c */
long argtrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
