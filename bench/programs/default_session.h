/* SPDX-License-Identifier: GPL-2.0-only */
/* argtrace's default session, for programs that measure without the tool. */
#ifndef ARGTRACE_BENCH_DEFAULT_SESSION_H
#define ARGTRACE_BENCH_DEFAULT_SESSION_H

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

#include "uapi/argtrace.h"

/* A file bound to it, or -1: `argtrace add` makes it. */
static int open_default_session(void)
{
	struct argtrace_session_attr session = {
		.size = sizeof(session), .clock = ARGTRACE_CLOCK_BEST, .name = "default",
	};
	int fd = open(ARGTRACE_DEVICE, O_RDWR);

	return fd >= 0 && !ioctl(fd, ARGTRACE_IOC_SESSION, &session) ? fd : -1;
}

#endif
