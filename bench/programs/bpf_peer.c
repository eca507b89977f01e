// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a command while one of bpf_programs.bpf.c is attached, or the two whose names are PROGRAM__entry and PROGRAM__return.
 *
 *   bpf_peer PROGRAM COMMAND...          without a reader of what the program writes
 *   bpf_peer -o FILE PROGRAM COMMAND...  its records go to a file, in large writes; the ring is polled every few ms
 *
 * Prints on stderr how many records were lost. The programs are in bpf_programs.bpf.o, beside this one.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { write_size = 1 << 20, nap_ms = 5 };

static char gathered[write_size];
static size_t gathered_size;

static void flush(int file)
{
	if (gathered_size && write(file, gathered, gathered_size) != (ssize_t)gathered_size) {
		perror("bpf_peer: write");
		exit(1);
	}
	gathered_size = 0;
}

static int take(void *file, void *data, size_t size)
{
	if (gathered_size + size > write_size)
		flush(*(int *)file);
	memcpy(gathered + gathered_size, data, size);
	gathered_size += size;
	return 0;
}

static bool is_wanted(const struct bpf_program *program, const char *name)
{
	const char *own = bpf_program__name(program);
	size_t length = strlen(name);

	return !strncmp(own, name, length) && (!own[length] || !strncmp(own + length, "__", 2));
}

static struct bpf_object *load(const char *own_path, const char *name)
{
	char path[4096], *copy = strdup(own_path);
	struct bpf_program *program;
	struct bpf_object *object;
	bool any = false;

	snprintf(path, sizeof(path), "%s/bpf_programs.bpf.o", dirname(copy));
	free(copy);
	object = bpf_object__open_file(path, NULL);
	if (!object)
		return NULL;
	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, is_wanted(program, name));
	if (bpf_object__load(object))
		return NULL;
	bpf_object__for_each_program(program, object) {
		if (is_wanted(program, name)) {
			if (!bpf_program__attach(program))
				return NULL;
			any = true;
		}
	}
	return any ? object : NULL;
}

static pid_t start(char **command, const sigset_t *signals)
{
	pid_t child = fork();

	if (!child) {
		sigprocmask(SIG_SETMASK, signals, NULL);
		execvp(*command, command);
		_exit(127);
	}
	return child;
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = nap_ms * 1000000 };
	const char *own_path = argv[0], *output = NULL;
	struct ring_buffer *reader = NULL;
	struct bpf_object *object;
	struct bpf_map *data;
	sigset_t signals, before;
	int file = -1, status = 0;
	size_t size;
	pid_t child;

	if (argc > 3 && !strcmp(argv[1], "-o")) {
		output = argv[2];
		argv += 2;
		argc -= 2;
	}
	if (argc < 3)
		return 2;
	object = load(own_path, argv[1]);
	if (!object)
		return 3;
	if (output) {
		file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		reader = ring_buffer__new(bpf_object__find_map_fd_by_name(object, "ring"), take, &file, NULL);
		if (file < 0 || !reader)
			return 3;
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = start(argv + 2, &before);
	if (child < 0)
		return 3;
	if (reader) {
		while (sigtimedwait(&signals, NULL, &nap) != SIGCHLD)
			ring_buffer__consume(reader);
		ring_buffer__consume(reader);
		flush(file);
	}
	waitpid(child, &status, 0);
	bpf_object__for_each_map(data, object) {
		if (strstr(bpf_map__name(data), ".bss"))
			fprintf(stderr, "lost %llu\n",
				*(const unsigned long long *)bpf_map__initial_value(data, &size));
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
