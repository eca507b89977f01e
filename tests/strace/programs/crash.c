// SPDX-License-Identifier: GPL-2.0-only
/*
 * A child that crashes, and one that aborts.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int *volatile nowhere = (int *)8;

int main(void)
{
	int status;

	if (fork() == 0)
		*nowhere = 1;
	wait(&status);
	if (fork() == 0)
		abort();
	wait(&status);
	return 0;
}
