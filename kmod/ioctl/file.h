/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_FILE_H
#define ARGTRACE_FILE_H

#include <linux/fs.h>
#include <linux/mutex.h>

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

/* ioctl/ioctl.c */
long argtrace_ioctl(struct file *file, unsigned int cmd, unsigned long arg);

#endif
