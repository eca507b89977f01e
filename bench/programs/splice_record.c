// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cheapest reader of ftrace's buffer: moves the pages of the first processor's to a file while a command
 * runs, as trace-cmd record does, and knows nothing of what is in them.
 *
 *   splice_record FILE COMMAND...
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, pages = 16 };

static volatile sig_atomic_t ended;

static void on_child(int number)
{
	ended = 1;
}

/* Moves what is in the buffer now. */
static void move(int from, int pipe[2], int to)
{
	ssize_t got;

	while ((got = splice(from, NULL, pipe[1], NULL, page * pages,
			     SPLICE_F_NONBLOCK | SPLICE_F_MOVE)) > 0) {
		while (got > 0) {
			ssize_t moved = splice(pipe[0], NULL, to, NULL, got, SPLICE_F_MOVE);

			if (moved <= 0)
				return;
			got -= moved;
		}
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_child };
	int from, to, pipes[2], status = 0;
	sigset_t child_signal, before;
	pid_t child;

	if (argc < 3)
		return 2;
	from = open("/sys/kernel/tracing/per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK);
	to = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (from < 0 || to < 0 || pipe(pipes)) {
		perror("splice_record");
		return 1;
	}
	fcntl(pipes[1], F_SETPIPE_SZ, page * pages);
	sigemptyset(&child_signal);
	sigaddset(&child_signal, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_signal, &before);
	sigaction(SIGCHLD, &action, NULL);
	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	while (!ended) {
		struct pollfd ready = { .fd = from, .events = POLLIN };

		/* By default when half of the buffer is full (buffer_percent). */
		if (ppoll(&ready, 1, NULL, &before) > 0)
			move(from, pipes, to);
	}
	move(from, pipes, to);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
