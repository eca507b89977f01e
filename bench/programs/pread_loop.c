// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a call of vfs_read costs: a loop of pread64() from /dev/null, or what PREAD_LOOP_FILE in the environment names, or what a pass of
 * the tracepoint task_rename costs, with PREAD_LOOP_RENAMES in the environment, where the loop names the task anew instead;
 * or what an openat() with its close() does, with PREAD_LOOP_OPENS; or what an mmap() of a file with its munmap() does, with
 * PREAD_LOOP_MAPS, as executable if that is "code"; or what a switch of tasks costs, with PREAD_LOOP_SWITCHES, where it hands a byte
 * to a child and gets it back, so that one call is two wakeups and, on one processor, two switches; or what a call of bench_function() in
 * this program costs, with PREAD_LOOP_FUNCTION;
 * timed in batches by the counter of counter.h. In a machine where that counts instructions (scripts/vm --icount) the figures are instructions
 * and repeat.
 *
 *   pread_loop             prints the median batch and the mean, per call; with PREAD_LOOP_NAPS=N in the environment it
 *                          naps so often in between, and prints the quickest batch in place of the median
 *   pread_loop excluded    the same as the reader of argtrace's default session, whose calls are filtered
 *   pread_loop bytes       what a call takes of the ring of argtrace's default session, on the first processor
 *   pread_loop switch      what a call costs that begins a packet there, above one that does not
 *   pread_loop place       prints the offset of bench_function() in the program's file
 *   pread_loop calls N     calls so often, and prints nothing
 *   pread_loop write FILE N  only writes to the file what argtrace's records of so many calls take, as argtrace does
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "default_session.h"

enum { calls = 200, batches = 250, record_size = 56, nap_us = 150000 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool renames, opens, functions;
static bool maps;
static int map_protection = PROT_READ;

/* To a child that hands back what it gets; -1: there is none. */
static int to_child = -1, from_child;

static bool start_child(void)
{
	int there[2], back[2];
	char byte;

	if (pipe(there) || pipe(back))
		return false;
	switch (fork()) {
	case -1:
		return false;
	case 0:
		close(there[1]);
		close(back[0]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	to_child = there[1];
	from_child = back[0];
	return true;
}

#ifdef __aarch64__
#define SAVED_REGISTER "x19"
#else
#define SAVED_REGISTER "rbx"
#endif

/* It begins by saving a register, as most functions do. */
__attribute__((noinline, noclone, externally_visible))
void bench_function(const char *text, long a, int b, unsigned char c)
{
	__asm__ volatile("" : : "r"(text), "r"(a), "r"(b), "r"(c) : SAVED_REGISTER, "memory");
}

static void call(int fd)
{
	char byte;

	if (to_child >= 0) {
		if (write(to_child, "", 1) != 1 || read(from_child, &byte, 1) != 1)
			_exit(1);
	} else if (functions)
		bench_function("fourteen chars", 1, 2, 3);
	else if (renames)
		prctl(PR_SET_NAME, "pread_loop");
	else if (opens)
		close(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
	else if (maps)
		munmap(mmap(NULL, 4096, map_protection, MAP_PRIVATE, fd, 0), 4096);
	else
		syscall(SYS_pread64, fd, &byte, 1, 0);
}

/* Stays so as long as the file is open. */
static int become_excluded(void)
{
	struct argtrace_reader reader = {
		.size = sizeof(reader), .flags = ARGTRACE_READER_EXCLUDE_SELF,
	};
	int fd = open_default_session();

	return fd >= 0 && !ioctl(fd, ARGTRACE_IOC_READER, &reader);
}

/* The control page of the default session on the first processor; NULL if it cannot be mapped. */
static const volatile struct argtrace_ring_control *map_control(void)
{
	int session = open_default_session();
	void *control = mmap(NULL, sizeof(struct argtrace_ring_control), PROT_READ, MAP_SHARED, session,
			     ARGTRACE_MMAP_OFFSET(0, ARGTRACE_MMAP_PACKETS));

	return session < 0 || control == MAP_FAILED ? NULL : control;
}

static int print_bytes(int fd)
{
	const volatile struct argtrace_ring_control *control = map_control();
	uint64_t least = UINT64_MAX;

	if (!control)
		return 1;
	/* Now and then something else comes in between, or a packet begins. */
	for (int i = 0; i < calls; i++) {
		uint64_t before = control->reserve, taken;

		call(fd);
		taken = control->reserve - before;
		if (taken < least)
			least = taken;
	}
	printf("%llu\n", (unsigned long long)least);
	return 0;
}

/* The least that it takes: whatever else comes in between makes it more. */
static int print_switch(int fd)
{
	const volatile struct argtrace_ring_control *control = map_control();
	uint64_t within = UINT64_MAX, beginning = UINT64_MAX;

	if (!control)
		return 1;
	for (int i = 0; i < batches * calls; i++) {
		uint64_t before = control->reserve, start = count_now(), took;
		uint64_t *least;

		call(fd);
		took = count_now() - start;
		/* Any call may say again who runs, but only these have a packet's header before them. */
		least = control->reserve - before >= record_size + sizeof(struct argtrace_packet) ? &beginning : &within;
		if (took < *least)
			*least = took;
	}
	printf("%llu\n", (unsigned long long)(beginning - within));
	return beginning == UINT64_MAX;
}

static void print_cost(int fd)
{
	static uint64_t took[batches];
	/* Where the TSC counts time, something else slows the machine down for seconds on end. */
	const char *wanted_naps = getenv("PREAD_LOOP_NAPS");
	int burst = batches / (wanted_naps ? atoi(wanted_naps) + 1 : 1);
	uint64_t sum = 0;

	for (int i = 0; i < batches; i++) {
		uint64_t start;

		if (i && i % burst == 0)
			usleep(nap_us);
		start = count_now();
		for (int k = 0; k < calls; k++)
			call(fd);
		took[i] = count_now() - start;
		sum += took[i];
	}
	qsort(took, batches, sizeof(*took), compare);
	printf("%.2f %.2f\n", (double)took[wanted_naps ? 0 : batches / 2] / calls,
	       (double)sum / batches / calls);
}

static int write_records(const char *path, long left)
{
	static char packet[64 << 10];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (left *= record_size; left > 0; left -= sizeof(packet))
		if (write(fd, packet, sizeof(packet)) != sizeof(packet))
			return 1;
	return 0;
}

static int print_place(void)
{
	const unsigned long address = (unsigned long)bench_function;
	FILE *maps_file = fopen("/proc/self/maps", "r");
	unsigned long begin, end, offset;
	char line[512];

	while (maps_file && fgets(line, sizeof(line), maps_file)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 && begin <= address && address < end)
			return printf("%lu\n", address - begin + offset) < 0;
	}
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *file = getenv("PREAD_LOOP_FILE"), *what_to_map;
	int fd = open(file ? file : "/dev/null", O_RDONLY);

	renames = getenv("PREAD_LOOP_RENAMES");
	opens = getenv("PREAD_LOOP_OPENS");
	functions = getenv("PREAD_LOOP_FUNCTION");
	what_to_map = getenv("PREAD_LOOP_MAPS");
	maps = what_to_map;
	if (maps && !strcmp(what_to_map, "code"))
		map_protection |= PROT_EXEC;
	if (getenv("PREAD_LOOP_SWITCHES") && !start_child())
		return 1;
	if (fd < 0 || (!strcmp(what, "excluded") && !become_excluded()))
		return 1;
	if (!strcmp(what, "place"))
		return print_place();
	if (!strcmp(what, "bytes"))
		return print_bytes(fd);
	if (!strcmp(what, "switch"))
		return print_switch(fd);
	if (argc == 3 && !strcmp(what, "calls")) {
		for (long left = atol(argv[2]); left > 0; left--)
			call(fd);
		return 0;
	}
	if (argc == 4 && !strcmp(what, "write"))
		return write_records(argv[2], atol(argv[3]));
	print_cost(fd);
	return 0;
}
