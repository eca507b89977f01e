// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions with known arguments, for tests that trace them.
 *
 *   user_functions ROUNDS LOG            calls all of them so many times, and writes each call to the file LOG: "NAME VALUE ..."
 *   user_functions ROUNDS LOG fork       the same, each round in a child of its own
 *   user_functions storm                 calls uf_storm() until it is killed, and forks now and then
 *   user_functions wait                  waits for a line on stdin before each call of uf_storm(), until that ends; where the line is
 *                                        "fork", a child makes the call
 *   user_functions kernel                calls uf_text() with addresses of the kernel's
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Called as written, with all arguments: not inlined, cloned, or left out. */
#define CALLED __attribute__((noinline, noclone, noipa, externally_visible, visibility("default")))

static FILE *call_log;
static volatile long sink;

CALLED void uf_none(void)
{
	sink++;
}

CALLED void uf_numbers(signed char a, unsigned short b, int c, unsigned int d, long e, void *f)
{
	sink += a + b + c + d + e + (long)f;
}

CALLED size_t uf_text(const char *text, size_t size)
{
	sink += (long)text;
	return size;
}

CALLED void uf_mixed(double x, int a, float y, unsigned char b)
{
	sink += (long)x + a + (long)y + b;
}

/* The text is in memory that nobody has touched. */
CALLED void uf_absent(const char *text)
{
	sink += (long)text;
}

CALLED void uf_storm(unsigned long number)
{
	sink += number;
}

static const char *untouched_text(unsigned long round)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *text, path[64];
	int copy;

	/* A file of its own, whose text lies across the end of a page, mapped anew. */
	snprintf(path, sizeof(path), "/tmp/user_functions.%d", getpid());
	copy = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (copy < 0 || ftruncate(copy, 2 * page) != 0)
		exit(1);
	snprintf(path, sizeof(path), "round %lu across the end of a page", round);
	if (pwrite(copy, path, strlen(path), page - 10) < 0)
		exit(1);
	text = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, copy, 0);
	close(copy);
	return text == MAP_FAILED ? NULL : text + page - 10;
}

static void call_all(unsigned long round)
{
	char text[64];
	const char *absent;

	snprintf(text, sizeof(text), "text of round %lu", round);
	fprintf(call_log, "uf_none\n");
	uf_none();
	fprintf(call_log, "uf_numbers %d %u %d %u %ld %#lx\n", (signed char)-round, (unsigned short)(60000 + round), (int)-round,
		4000000000u + (unsigned int)round, -(long)round * 10000000000, 0x1000 + round);
	uf_numbers(-round, 60000 + round, -round, 4000000000u + round, -(long)round * 10000000000, (void *)(0x1000 + round));
	fprintf(call_log, "uf_text %s\n", text);
	uf_text(text, strlen(text));
	fprintf(call_log, "uf_mixed %d %u\n", (int)round, (unsigned char)(round + 250));
	uf_mixed(1.5, round, 2.5f, round + 250);
	absent = untouched_text(round);
	fprintf(call_log, "uf_absent round %lu across the end of a page\n", round);
	uf_absent(absent);
	fflush(call_log);
}

static void storm(void)
{
	unsigned long i;

	for (i = 0;; i++) {
		uf_storm(i);
		if (i % 512)
			continue;
		switch (fork()) {
		case 0:
			uf_storm(i);
			if (i % 1024)
				execl("/proc/self/exe", "user_functions", "short", NULL);
			_exit(0);
		case -1:
			break;
		default:
			while (wait(NULL) > 0)
				;
		}
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "short";
	unsigned long round, rounds = strtoul(mode, NULL, 10);
	char line[16];

	if (!strcmp(mode, "storm"))
		storm();
	if (!strcmp(mode, "short"))
		return uf_storm(1), 0;
	if (!strcmp(mode, "kernel")) {
		for (round = 0; round < 16; round++)
			uf_text((const char *)(0xffffffff81000000ul + round * 0x100000), 8);
		return 0;
	}
	if (!strcmp(mode, "wait")) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		for (round = 0; fgets(line, sizeof(line), stdin); round++) {
			if (strcmp(line, "fork\n")) {
				uf_storm(round);
			} else if (!fork()) {
				uf_storm(round);
				_exit(0);
			} else {
				wait(NULL);
			}
			printf("called %lu\n", round);
		}
		return 0;
	}
	call_log = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!call_log)
		return 2;
	for (round = 0; round < rounds; round++) {
		if (argc > 3) {
			fflush(call_log);
			if (!fork()) {
				call_all(round);
				_exit(0);
			}
			wait(NULL);
		} else {
			call_all(round);
		}
	}
	return 0;
}
