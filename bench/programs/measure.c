// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine does while a command runs: the instructions of the command, of the processes
 * that work for it and of the kernel.
 *
 *   measure COMMAND...       until it ends
 *   measure -u COMMAND...    until it writes to stderr for the first time; then it is interrupted (SIGINT)
 *
 * The command's stdout goes to /dev/null, or to the file that MEASURE_OUTPUT names, where its stderr goes too. Prints
 * the figure; exits as the command does, with 3 if it cannot measure.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "busy.h"

static void run(char **command, int errors)
{
	const char *name = getenv("MEASURE_OUTPUT");
	int output = open(name ? name : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (output < 0)
		_exit(127);
	dup2(output, STDOUT_FILENO);
	if (errors >= 0)
		dup2(errors, STDERR_FILENO);
	else if (name)
		dup2(output, STDERR_FILENO);
	execvp(*command, command);
	_exit(127);
}

int main(int argc, char **argv)
{
	bool until_output = argc > 1 && !strcmp(argv[1], "-u");
	char **command = argv + 1 + until_output;
	int errors[2], status;
	uint64_t start, took = 0;
	char text[4096];
	pid_t child;

	if (!*command || pipe2(errors, O_CLOEXEC))
		return 3;
	start = busy_time();
	child = fork();
	if (child < 0)
		return 3;
	if (!child)
		run(command, until_output ? errors[1] : -1);
	close(errors[1]);
	if (until_output) {
		if (read(errors[0], text, sizeof(text)) <= 0)
			return 3;
		took = busy_since(start);
		kill(child, SIGINT);
		while (read(errors[0], text, sizeof(text)) > 0)
			;
	}
	if (waitpid(child, &status, 0) != child)
		return 3;
	if (!until_output)
		took = busy_since(start);
	printf("%llu\n", (unsigned long long)took);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
