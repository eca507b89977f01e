// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same work again and again, which timers interrupt: for what a tick of theirs costs.
 *
 *   tick_cost user FILE     a loop in user space
 *   tick_cost kernel FILE   a loop of argtrace_bench.ko's, in a write to its parameter `spin`
 *
 * Writes to FILE in how many units of the TSC it is done: the median of some times.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"

enum { rounds = 50000000, times = 7 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void spin_in_user_space(void)
{
	for (unsigned int i = 0; i < rounds; i++)
		__asm__ volatile("");
}

static int spin_in_kernel(int fd)
{
	char text[16];
	const int length = snprintf(text, sizeof(text), "%d", rounds);

	return pwrite(fd, text, length, 0) == length;
}

int main(int argc, char **argv)
{
	const int in_kernel = argc > 1 && !strcmp(argv[1], "kernel");
	uint64_t took[times];
	FILE *out;
	int fd = -1;

	if (argc != 3)
		return 2;
	if (in_kernel)
		fd = open("/sys/module/argtrace_bench/parameters/spin", O_WRONLY);
	if (in_kernel && fd < 0)
		return 1;
	for (int i = 0; i < times; i++) {
		const uint64_t start = count_now();

		if (!in_kernel)
			spin_in_user_space();
		else if (!spin_in_kernel(fd))
			return 1;
		took[i] = count_now() - start;
	}
	qsort(took, times, sizeof(*took), compare);
	out = fopen(argv[2], "w");
	if (!out || fprintf(out, "%llu\n", (unsigned long long)took[times / 2]) < 0 || fclose(out))
		return 1;
	return 0;
}
