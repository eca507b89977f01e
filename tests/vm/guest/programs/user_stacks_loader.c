// SPDX-License-Identifier: GPL-2.0-only
// Libraries that come and go at one address, for UserMappings (tests/vm/guest/sinks/user_mappings_test.cpp).
//
//	user_stacks_loader FOLDER TIMES
//
// FOLDER has user_stacks_port.so and user_stacks_star.so. Each call that a library makes back has a number, which is the second argument of
// a system call, and standard output says of it
//
//	NUMBER NAME HOW ADDRESS
//
// with the name of the library that made it, by what this program knows of files, and where its function is.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "raw_call.h"

#define TAG	0x41524755	// the first argument of prctl(), which knows no such option

#define noinline __attribute__((noinline, noclone))

typedef void (*enter_function)(void (*call)(int), int number);

static int number;

static noinline void mark(int which)
{
	raw_prctl(TAG, which);
	__asm__ volatile("" ::: "memory");
}

static void fail(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

enum { PORT, STAR, REPLACED, NEXT, OVERWRITTEN, PATHS };

static char paths[PATHS][512];

static void make_paths(const char *folder)
{
	static const char *const names[] = { "user_stacks_port", "user_stacks_star", "replaced", "next", "overwritten" };
	int i;

	for (i = 0; i < PATHS; i++)
		snprintf(paths[i], sizeof(paths[i]), "%s/%s.so", folder, names[i]);
}

static noinline void call(void *library, const char *name, const char *how)
{
	union { void *found; enter_function function; } enter = { .found = dlsym(library, "enter") };

	if (!enter.found)
		fail(dlerror());
	enter.function(mark, number);
	printf("%d %s %s %p\n", number++, name, how, enter.found);
}

static void *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		fail(dlerror());
	return library;
}

// With `flags` as of open(): a new file, or the same one with another content.
static void copy(const char *from, const char *to, int flags)
{
	const int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CLOEXEC | flags, 0700);
	struct stat status;

	if (in < 0 || out < 0 || fstat(in, &status) || sendfile(out, in, NULL, status.st_size) != status.st_size)
		fail(to);
	close(in);
	close(out);
}

static void alternate(int times)
{
	while (times--) {
		const char *name = times % 2 ? "port" : "star";
		void *library = load(paths[times % 2 ? PORT : STAR]);

		call(library, name, "alternate");
		dlclose(library);
	}
}

// While it is mapped, the file's name comes to be that of another one.
static void replace(int times)
{
	const char *const path = paths[REPLACED], *const next = paths[NEXT];

	while (times--) {
		const char *name = times % 2 ? "port" : "star";
		void *library;

		copy(paths[times % 2 ? PORT : STAR], next, O_CREAT | O_EXCL);
		if (rename(next, path))
			fail(next);
		library = load(path);
		call(library, name, "replace");
		copy(paths[times % 2 ? STAR : PORT], next, O_CREAT | O_EXCL);
		if (rename(next, path))
			fail(next);
		call(library, name, "replaced");
		if (unlink(path))
			fail(path);
		call(library, name, "deleted");
		dlclose(library);
	}
}

// The time of a change to a file is that of the last tick, which a busy machine may come to late: without one between two changes, nobody
// can tell the file from what it was.
static void await_tick(const char *path)
{
	struct timespec now;
	struct stat status;

	if (stat(path, &status))
		fail(path);
	do {
		usleep(1000);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec < status.st_mtim.tv_sec || (now.tv_sec == status.st_mtim.tv_sec && now.tv_nsec <= status.st_mtim.tv_nsec));
}

// The same file has another content, as cp makes it. Nobody has it mapped then.
static void overwrite(int times)
{
	const char *const path = paths[OVERWRITTEN];

	copy(paths[PORT], path, O_CREAT | O_EXCL);
	while (times--) {
		const char *name = times % 2 ? "port" : "star";
		void *library;

		copy(paths[times % 2 ? PORT : STAR], path, O_TRUNC);
		library = load(path);
		call(library, name, "overwritten");
		dlclose(library);
		await_tick(path);
	}
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	make_paths(argv[1]);
	alternate(atoi(argv[2]));
	replace(atoi(argv[2]) / 10);
	overwrite(atoi(argv[2]) / 10);
	return fflush(stdout) != 0;
}
