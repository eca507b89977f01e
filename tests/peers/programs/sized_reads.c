// SPDX-License-Identifier: GPL-2.0-only
/*
 *   sized_reads SIZE...
 *
 * Reads each SIZE from /dev/zero, the first of them once, the second twice, and so on, and nothing else: it is linked statically.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char room[1 << 20];
	int zero = open("/dev/zero", O_RDONLY), i, j;

	if (zero < 0)
		return 1;
	for (i = 1; i < argc; i++)
		for (j = 0; j < i; j++)
			if (read(zero, room, strtoul(argv[i], NULL, 0)) < 0)
				return 1;
	return 0;
}
