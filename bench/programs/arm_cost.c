// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's part of adding and removing functions costs, for those that argtrace's default session has: an
 * empty ftrace_ops on them (argtrace_bench.ko), then argtrace with the same probes that the tool made,
 * in a separate session. The default session is removed first.
 *
 * Prints: functions, and the instructions of arming and disarming, first the empty one's, then argtrace's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "busy.h"
#include "default_session.h"

#define ROOM (1 << 20)

static struct argtrace_probe **listed;
static char *probes;
static uint64_t *addrs;
static size_t length;
static uint32_t count;

static void check(int bad, const char *what)
{
	if (bad) {
		perror(what);
		exit(1);
	}
}

static void take(char *entries, uint32_t number)
{
	listed = realloc(listed, (count + number) * sizeof(*listed));
	check(!listed, "memory");
	while (number--) {
		struct argtrace_probe *probe = (void *)entries, *copy = malloc(probe->size);

		check(!copy, "memory");
		memcpy(copy, probe, probe->size);
		listed[count++] = copy;
		length += probe->size;
		entries += probe->size;
	}
}

static int by_address(const void *a, const void *b)
{
	const struct argtrace_probe *x = *(struct argtrace_probe *const *)a, *y = *(struct argtrace_probe *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The listed probes, in the form that adding takes. */
static void prepare(void)
{
	uint32_t i;
	char *to;

	to = probes = malloc(length);
	addrs = malloc(count * sizeof(*addrs));
	check(!probes || !addrs, "memory");
	qsort(listed, count, sizeof(*listed), by_address);
	for (i = 0; i < count; i++) {
		listed[i]->id = 0;
		listed[i]->flags &= ~(ARGTRACE_PROBE_REMOVED | ARGTRACE_PROBE_GONE);
		addrs[i] = listed[i]->addr;
		memcpy(to, listed[i], listed[i]->size);
		to += listed[i]->size;
		free(listed[i]);
	}
	free(listed);
}

static void fetch_probes(void)
{
	char *room = malloc(ROOM);
	int fd = open_default_session();
	uint32_t next = 0;

	check(fd < 0 || !room, "the default session");
	do {
		struct argtrace_list list = {
			.size = sizeof(list), .buffer = (uintptr_t)room, .length = ROOM, .first = next,
		};

		check(ioctl(fd, ARGTRACE_IOC_PROBE_LIST, &list), "ARGTRACE_IOC_PROBE_LIST");
		take(room, list.count);
		next = list.next;
	} while (next);
	close(fd);
	free(room);
}

static void remove_default_session(void)
{
	struct argtrace_session_remove request = { .size = sizeof(request), .name = "default" };
	int fd = open(ARGTRACE_DEVICE, O_RDWR);

	check(ioctl(fd, ARGTRACE_IOC_SESSION_REMOVE, &request), "ARGTRACE_IOC_SESSION_REMOVE");
	close(fd);
}

static void measure_empty(void)
{
	int fd = open("/dev/argtrace_bench", O_WRONLY);
	uint64_t start, arming, disarming;

	check(fd < 0, "/dev/argtrace_bench");
	start = busy_time();
	check(write(fd, addrs, count * sizeof(*addrs)) < 0, "/dev/argtrace_bench");
	arming = busy_since(start);
	start = busy_time();
	close(fd);
	disarming = busy_since(start);
	printf(" %llu %llu", (unsigned long long)arming, (unsigned long long)disarming);
}

static void measure_argtrace(void)
{
	struct argtrace_session_attr session = { .size = sizeof(session), .clock = ARGTRACE_CLOCK_BEST };
	struct argtrace_probe_add add = {
		.size = sizeof(add), .probes = (uintptr_t)probes, .length = length, .count = count,
	};
	struct argtrace_probe_remove remove = { .size = sizeof(remove), .flags = ARGTRACE_REMOVE_ALL };
	int fd = open(ARGTRACE_DEVICE, O_RDWR);
	uint64_t start, arming, disarming;

	check(fd < 0 || ioctl(fd, ARGTRACE_IOC_SESSION, &session), "a session");
	start = busy_time();
	check(ioctl(fd, ARGTRACE_IOC_PROBE_ADD, &add), "ARGTRACE_IOC_PROBE_ADD");
	arming = busy_since(start);
	start = busy_time();
	check(ioctl(fd, ARGTRACE_IOC_PROBE_REMOVE, &remove), "ARGTRACE_IOC_PROBE_REMOVE");
	disarming = busy_since(start);
	printf(" %llu %llu\n", (unsigned long long)arming, (unsigned long long)disarming);
}

int main(void)
{
	fetch_probes();
	prepare();
	remove_default_session();
	printf("%u", count);
	measure_empty();
	measure_argtrace();
	return 0;
}
