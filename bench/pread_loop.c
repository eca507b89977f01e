// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call of vfs_read costs: a loop of pread64() from /dev/null, timed in batches by the TSC. In a
 * machine whose TSC counts instructions (scripts/vm --icount) the figures are instructions and repeat.
 *
 *   pread_loop             prints the median batch and the mean, per call
 *   pread_loop excluded    the same as the reader of argtrace's default session, whose calls are filtered
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

#include "uapi/argtrace.h"

enum { calls = 200, batches = 250 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Stays so as long as the file is open. */
static int become_excluded(void)
{
	struct argtrace_session_attr session = {
		.size = sizeof(session), .clock = ARGTRACE_CLOCK_BEST, .name = "default",
	};
	struct argtrace_reader reader = {
		.size = sizeof(reader), .flags = ARGTRACE_READER_EXCLUDE_SELF,
	};
	int fd = open(ARGTRACE_DEVICE, O_RDWR);

	return fd >= 0 && !ioctl(fd, ARGTRACE_IOC_SESSION, &session) &&
	       !ioctl(fd, ARGTRACE_IOC_READER, &reader);
}

int main(int argc, char **argv)
{
	static uint64_t took[batches];
	int fd = open("/dev/null", O_RDONLY);
	uint64_t sum = 0;
	char byte;

	if (fd < 0 || (argc > 1 && !become_excluded()))
		return 1;
	for (int i = 0; i < batches; i++) {
		uint64_t start = __rdtsc();

		for (int call = 0; call < calls; call++)
			syscall(SYS_pread64, fd, &byte, 1, 0);
		took[i] = __rdtsc() - start;
		sum += took[i];
	}
	qsort(took, batches, sizeof(*took), compare);
	printf("%.2f %.2f\n", (double)took[batches / 2] / calls, (double)sum / batches / calls);
	return 0;
}
