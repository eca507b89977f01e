// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions whose arguments only debug information describes, for tests that trace them. It prints what it passes, a line for each call:
 * "NAME" and the arguments as JSON.
 *
 *   user_types ROUNDS LOG
 *   user_types kernel          calls ut_parse() with pointers into the kernel, directly and in a struct
 *   user_types floats ROUNDS LOG THREADS
 *                              calls functions of floating-point numbers in so many threads, each of which computes with its registers
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

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

struct ut_point {
	double x;
	float y;
};

CALLED double ut_mix(int i, double d, float f, const struct ut_point *point, double e)
{
	return d * 2 + f + point->x + point->y + i + e;
}

CALLED float ut_half(float f)
{
	return f / 2;
}

/* Eight floating-point numbers are passed in registers, and six others. */
CALLED double ut_many(long a, long b, long c, long d, long e, long f, struct ut_large large, short g, unsigned char h, double x0, double x1, double x2,
		      double x3, double x4, double x5, double x6, float x7, double x8, float x9)
{
	sink += a + b + c + d + e + f + g + large.values[0] + h;
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9;
}

/* The text is on a page that has to be brought in while the number is still in its register. */
CALLED double ut_absent(const char *text, double d)
{
	return d + text[0];
}

struct float_calls {
	pthread_t thread;
	long number, rounds;
};

/* As JSON has it, where it has one. */
static const char *shown(double number, char *room)
{
	if (isnan(number))
		return "\"nan\"";
	if (isinf(number))
		return number < 0 ? "\"-inf\"" : "\"inf\"";
	if (number == 0)
		return signbit(number) ? "-0.0" : "0.0";
	sprintf(room, "%.17g", number);
	return room;
}

/* From then on, until it makes a system call, the kernel saves its registers as those of SVE, in another layout. */
static void use_scalable_vectors(void)
{
#ifdef __aarch64__
	if (getauxval(AT_HWCAP) & HWCAP_SVE)
		asm volatile(".arch_extension sve\n\tptrue p0.b" ::: "memory");
#endif
}

static void call_floats(long number, long round, char *page)
{
	const double special[] = { NAN, INFINITY, -INFINITY, -0.0, 1e-310 };
	const double d = round % 8 == 7 ? special[round / 8 % 5] : (double)(number * 1000 + round) / 3;
	const float f = (float)(round - 50) / 8;
	const struct ut_point point = { (double)round / 7, (float)number / 4 };
	const struct ut_large large = { { round, number, -1, 4 } };
	char a[32], b[32], c[32], line[512];
	double result;

	if (round % 2)
		use_scalable_vectors();
	result = ut_mix((int)-round, d, f, &point, 0.5);
	sprintf(line, "ut_mix {\"i\":%ld,\"d\":%s,\"f\":%g,\"x\":%.17g,\"y\":%g,\"e\":0.5,\"ret\":%s}\n", -round, shown(d, a), f, point.x, point.y,
		shown(result, b));
	fputs(line, call_log);
	sprintf(line, "ut_half {\"f\":%g,\"ret\":%g}\n", f, ut_half(f));
	fputs(line, call_log);
	result = ut_many(1, 2, 3, 4, 5, 6, large, (short)-round, (unsigned char)round, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, d, f, d, f);
	sprintf(line, "ut_many {\"f\":6,\"g\":%ld,\"l1\":%ld,\"l3\":4,\"h\":%u,\"x0\":0.5,\"x6\":%s,\"x7\":%g,\"x8\":%s,\"x9\":%g,\"ret\":%s}\n", -round,
		number, (unsigned int)(unsigned char)round, shown(d, a), f, shown(d, b), f, shown(result, c));
	fputs(line, call_log);
	madvise(page, 4096, MADV_DONTNEED);
	if (round % 2)
		use_scalable_vectors();
	result = ut_absent(page, d);
	sprintf(line, "ut_absent {\"text\":\"%s\",\"d\":%s,\"ret\":%s}\n", page, shown(d, a), shown(result, b));
	fputs(line, call_log);
}

static void *run_floats(void *all)
{
	struct float_calls *calls = all;
	FILE *file = tmpfile();
	char *page;
	long round;

	fprintf(file, "page %ld", calls->number);
	fflush(file);
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	for (round = 0; round < calls->rounds && page != MAP_FAILED; round++)
		call_floats(calls->number, round, page);
	return NULL;
}

static int call_floats_in_threads(long rounds, long threads)
{
	struct float_calls calls[8];
	long i;

	for (i = 0; i < threads; i++) {
		calls[i] = (struct float_calls){ .number = i, .rounds = rounds };
		if (pthread_create(&calls[i].thread, NULL, run_floats, &calls[i]))
			return 2;
	}
	for (i = 0; i < threads; i++)
		pthread_join(calls[i].thread, NULL);
	return fclose(call_log) != 0;
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
	if (argc > 4 && !strcmp(argv[1], "floats")) {
		call_log = fopen(argv[3], "w");
		return call_log ? call_floats_in_threads(strtol(argv[2], NULL, 10), strtol(argv[4], NULL, 10)) : 2;
	}
	call_log = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!call_log)
		return 2;
	for (round = 0; round < rounds; round++)
		call_all(round);
	return fclose(call_log) != 0;
}
