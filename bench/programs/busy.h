/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The work of a machine: the run time of all tasks, including the kernel's and those that have ended, without idle time.
 * Where time is counted in instructions (scripts/vm --icount), this is their number.
 */
#ifndef ARGTRACE_BENCH_BUSY_H
#define ARGTRACE_BENCH_BUSY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Nanoseconds; the seventh number of each processor in /proc/schedstat (Documentation/scheduler/sched-stats.rst). */
static uint64_t busy_time(void)
{
	unsigned long long sum = 0, time;
	char line[4096];
	FILE *file;

	/* A task's time counts when it leaves the processor: ours until now, too. */
	usleep(1);
	file = fopen("/proc/schedstat", "r");
	if (!file) {
		perror("/proc/schedstat");
		exit(3);
	}
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "cpu%*u %*u %*u %*u %*u %*u %*u %llu", &time) == 1)
			sum += time;
	fclose(file);
	return sum;
}

static uint64_t busy_since(uint64_t begin)
{
	return busy_time() - begin;
}

#endif
