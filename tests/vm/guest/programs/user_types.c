// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose arguments only debug information describes, for tests that trace them. It prints what it passes, a line for each call:
 * "NAME" and the arguments as JSON.
 *
 *   user_types ROUNDS LOG
 *   user_types kernel          calls ut_parse() with pointers into the kernel, directly and in a struct
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLED __attribute__((noinline, noclone, noipa, externally_visible, visibility("default")))

enum ut_color { UT_RED, UT_GREEN = 5, UT_BLUE = -1 };

struct ut_url {
	const char *path;
	unsigned short port;
};

/* The kernel has one, too. */
struct file {
	int number;
	const char *name;
};

struct ut_request {
	struct ut_url *url;
	struct file file;
	enum ut_color color;
	unsigned int a : 3, b : 7;
	int c : 5;
	char name[16];
	short matrix[2][3];
	struct ut_request *next;
};

struct ut_pair {
	long a, b;
};

struct ut_text {
	const char *text;
	long length;
};

struct ut_large {
	long values[4];
};

static FILE *call_log;
static volatile long sink;

CALLED int ut_parse(struct ut_request *req, size_t len, enum ut_color color)
{
	sink += len + color;
	return req != NULL;
}

CALLED struct ut_large ut_values(struct ut_pair pair, double x, _Bool flag, signed char c, struct ut_large large, unsigned short last)
{
	struct ut_large result = large;

	sink += pair.a + (long)x + flag + c + last;
	return result;
}

CALLED void ut_text(struct ut_text text)
{
	sink += text.length;
}

/* What gcc makes of it takes k no longer, and m in another register. */
static __attribute__((noinline)) int ut_clone(long n, int k, int m)
{
	sink += n * k;
	return m;
}

static void call_all(long round)
{
	char path[64];
	struct ut_url url = { path, (unsigned short)(8000 + round) };
	struct ut_request next = { .color = UT_BLUE }, req = {
		.url = &url, .file = { (int)-round, "own" }, .color = round % 2 ? UT_GREEN : UT_RED, .a = round % 8, .b = round % 128, .c = -round % 16,
		.next = &next,
	};
	struct ut_large large = { { round, 2, 3, 4 } };

	snprintf(path, sizeof(path), "/path/%ld", round);
	snprintf(req.name, sizeof(req.name), "name %u", (unsigned int)(round % 1000));
	req.matrix[1][2] = (short)(round * 3);
	fprintf(call_log,
		"ut_parse {\"path\":\"%s\",\"port\":%u,\"number\":%d,\"own\":\"own\",\"color\":%d,\"a\":%u,\"b\":%u,\"c\":%d,\"name\":\"%s\",\"m\":%d,"
		"\"next\":-1,\"len\":%zu}\n",
		path, url.port, req.file.number, req.color, req.a, req.b, req.c, req.name, req.matrix[1][2], strlen(path));
	ut_parse(&req, strlen(path), req.color);
	fprintf(call_log, "ut_values {\"a\":%ld,\"b\":%ld,\"flag\":%s,\"c\":%d,\"last\":%u}\n", round, -round, round % 2 ? "true" : "false", (int)-round % 100,
		(unsigned int)(60000 + round));
	ut_values((struct ut_pair){ round, -round }, 1.5, round % 2, (signed char)(-round % 100), large, (unsigned short)(60000 + round));
	fprintf(call_log, "ut_text {\"text\":\"%s\",\"length\":%zu}\n", path, strlen(path));
	ut_text((struct ut_text){ path, (long)strlen(path) });
	fprintf(call_log, "ut_clone {\"n\":%ld,\"m\":%ld}\n", round, 2 * round);
	ut_clone(round, 7, (int)(2 * round));
}

int main(int argc, char **argv)
{
	long round, rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	const unsigned long kernel = 0xffffffff81000000ul;

	if (argc > 1 && !strcmp(argv[1], "kernel")) {
		for (round = 0; round < 8; round++) {
			struct ut_url url = { (const char *)(kernel + round * 4096), 1 };
			struct ut_request req = { .url = &url };

			ut_parse((struct ut_request *)(kernel + round * 4096), 1, UT_RED);
			ut_parse(&req, 2, UT_RED);
			ut_text((struct ut_text){ (const char *)(kernel + round * 4096), 8 });
		}
		return 0;
	}
	call_log = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!call_log)
		return 2;
	for (round = 0; round < rounds; round++)
		call_all(round);
	return fclose(call_log) != 0;
}
