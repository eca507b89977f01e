/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine has done: the run time of all its tasks, those of the kernel too. Where time is
 * counted in instructions (scripts/vm --icount) that is how many they were; idle time does not count.
 */
#ifndef ARGTRACE_BENCH_BUSY_H
#define ARGTRACE_BENCH_BUSY_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds until it was last on a processor; 0 if it has ended. */
static uint64_t task_time(const char *pid, const char *tid)
{
	char path[600];
	unsigned long long time = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", pid, tid);
	file = fopen(path, "r");
	if (file) {
		if (fscanf(file, "%llu", &time) != 1)
			time = 0;
		fclose(file);
	}
	return time;
}

static uint64_t process_time(const char *pid)
{
	struct dirent *thread;
	uint64_t time = 0;
	char path[300];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	threads = opendir(path);
	while (threads && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			time += task_time(pid, thread->d_name);
	if (threads)
		closedir(threads);
	return time;
}

static uint64_t nanoseconds(struct timeval time)
{
	return time.tv_sec * 1000000000ull + time.tv_usec * 1000ull;
}

/* All but this process, and with its children that have ended. */
static uint64_t others_time(void)
{
	unsigned long self = getpid();
	struct rusage ended;
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	uint64_t time;

	getrusage(RUSAGE_CHILDREN, &ended);
	time = nanoseconds(ended.ru_utime) + nanoseconds(ended.ru_stime);
	if (!proc) {
		perror("/proc");
		exit(3);
	}
	while ((entry = readdir(proc))) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);

		if (pid && pid != self)
			time += process_time(entry->d_name);
	}
	closedir(proc);
	return time;
}

/* The one clock of a running process that is up to date. */
static uint64_t own_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* Begin and end of what is measured: finding this out is in between neither. */
static uint64_t busy_begin(void)
{
	uint64_t others = others_time();

	return others + own_time();
}

static uint64_t busy_since(uint64_t begin)
{
	uint64_t own = own_time();

	return own + others_time() - begin;
}

#endif
