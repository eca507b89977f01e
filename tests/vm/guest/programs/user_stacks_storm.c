// SPDX-License-Identifier: GPL-2.0-only
// Very many short processes for UserMappings (tests/vm/guest/sinks/user_mappings_test.cpp).
//
//	user_stacks_storm LIST FOLDER COUNT COPIES PROGRAM...
//
// executes the programs in turn, COUNT times, some at once. Each COPIES-th is executed from a new file in FOLDER, which is removed as soon as
// it is executed. LIST gets "PID I" for each, where I is the number of the program among the arguments, from 1 on. Exits with 0 if all of them
// did.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE	6

static int failures;

static void fail(const char *what)
{
	perror(what);
	failures++;
}

static int copy(const char *from, const char *to)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat status;
	off_t left;

	if (in < 0 || out < 0 || fstat(in, &status))
		return -1;
	for (left = status.st_size; left > 0;) {
		const ssize_t sent = sendfile(out, in, NULL, left);

		if (sent <= 0)
			return -1;
		left -= sent;
	}
	close(in);
	close(out);
	return 0;
}

// vfork() returns when the program has been executed, and fork() at once.
static pid_t start_copied(const char *path)
{
	const pid_t pid = vfork();

	if (!pid) {
		execl(path, path, NULL);
		_exit(127);
	}
	unlink(path);
	return pid;
}

static pid_t start(const char *path)
{
	const pid_t pid = fork();

	if (!pid) {
		execl(path, path, NULL);
		_exit(127);
	}
	return pid;
}

static void reap(void)
{
	int status;

	if (wait(&status) < 0)
		fail("wait");
	else if (status)
		failures++;
}

int main(int argc, char **argv)
{
	const int count = argc > 5 ? atoi(argv[3]) : 0, copies = argc > 5 ? atoi(argv[4]) : 0;
	FILE *list = argc > 5 ? fopen(argv[1], "we") : NULL;
	int i, running = 0;

	if (!list)
		return 2;
	for (i = 0; i < count; i++) {
		const char *program = argv[5 + i % (argc - 5)];
		char path[512];
		pid_t pid;

		if (running == AT_ONCE) {
			reap();
			running--;
		}
		snprintf(path, sizeof(path), "%s/copy.%d", argv[2], i);
		if (copies && i % copies == 0) {
			if (copy(program, path))
				fail(path);
			pid = start_copied(path);
		} else {
			pid = start(program);
		}
		if (pid < 0) {
			fail("fork");
			continue;
		}
		running++;
		fprintf(list, "%d %d\n", pid, 1 + i % (argc - 5));
	}
	while (running--)
		reap();
	if (fclose(list))
		fail("fclose");
	return failures != 0;
}
