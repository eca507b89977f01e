// SPDX-License-Identifier: GPL-2.0-only
/*
 *   sized_reads SIZE...
 *
 * Reads each SIZE from /dev/zero, the first of them once, the second twice, and so on, and nothing else: it is linked statically. Called
 * by a name that ends in _at it uses pread(), so that the kernel comes another way.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char room[1 << 20];
	int zero = open("/dev/zero", O_RDONLY), i, j;
	const char *end = strrchr(argv[0], '_');
	const int at = end && !strcmp(end, "_at");
	size_t size;

	if (zero < 0)
		return 1;
	for (i = 1; i < argc; i++) {
		size = strtoul(argv[i], NULL, 0);
		for (j = 0; j < i; j++)
			if ((at ? pread(zero, room, size, 0) : read(zero, room, size)) < 0)
				return 1;
	}
	return 0;
}
