// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines at which variables of every kind have known values, which it writes to a log as JSON, one
 * object for each time that it comes to one. `lines` has it print where they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mark {
	const char *name;
	int line;
};

/* Names the line that it is in. */
#define MARK(name)                                                                        \
	static const struct mark mark_##name __attribute__((section("ul_marks"), used)) = { \
		#name, __LINE__                                                            \
	}

extern const struct mark __start_ul_marks[], __stop_ul_marks[];

struct ul_point {
	long x;
	int y;
	char name[12];
	struct ul_point *next;
};

enum ul_color { UL_RED, UL_GREEN = 5 };

static FILE *call_log;

__attribute__((noinline)) void ul_escape(const void *anything);

void ul_escape(const void *anything)
{
	asm volatile("" : : "r"(anything) : "memory");
}

static inline __attribute__((always_inline)) long ul_inlined(long factor, struct ul_point *point)
{
	long product = factor * 3 - point->x;

	MARK(inlined); ul_escape(point);
	fprintf(call_log, "inlined {\"factor\":%ld,\"product\":%ld,\"x\":%ld}\n", factor, product, point->x);
	return product + point->y;
}

__attribute__((noinline)) long ul_mix(int n, const char *text, double ratio, struct ul_point *point)
{
	signed char letter = (signed char)(n % 200 - 100);
	unsigned short half = (unsigned short)(n * 700);
	enum ul_color color = n & 1 ? UL_GREEN : UL_RED;
	double scaled = ratio * n;
	float single = (float)n / 4;
	struct ul_point own = { n * 11L, -n, "own", point };
	char buffer[16];
	static long calls = 1000;
	long value = n, sum;

	snprintf(buffer, sizeof(buffer), "buffer %d", n);
	calls++;
	ul_escape(&own);
	{
		long value = n * 1000000000L;

		ul_escape(&value);
		MARK(mix); ul_escape(buffer);
		fprintf(call_log,
			"mix {\"n\":%d,\"text\":\"%s\",\"letter\":%d,\"half\":%d,\"color\":%d,\"scaled\":%.17g,\"single\":%.9g,\"x\":%ld,"
			"\"y\":%d,\"name\":\"%s\",\"buffer\":\"%s\",\"fourth\":%d,\"calls\":%ld,\"value\":%ld,\"point_x\":%ld}\n",
			n, text, letter, half, color, scaled, single, own.x, own.y, own.name, buffer, buffer[3], calls, value, point->x);
	}
	sum = ul_inlined(n, point) + ul_inlined(value + 1, &own);
	for (int i = 0; i < 2; i++) {
		int twice = 2 * i + n;

		MARK(loop); ul_escape(&own);
		fprintf(call_log, "loop {\"i\":%d,\"twice\":%d,\"value\":%ld}\n", i, twice, value);
	}
	return sum + half + letter;
}

int main(int argc, char **argv)
{
	struct ul_point point = { 5, 6, "point", NULL };
	const struct mark *mark;
	long sum = 0;
	char text[16];
	int n;

	if (argc == 2 && !strcmp(argv[1], "lines")) {
		for (mark = __start_ul_marks; mark < __stop_ul_marks; mark++)
			printf("%s %d\n", mark->name, mark->line);
		return 0;
	}
	if (argc < 3)
		return 2;
	call_log = fopen(argv[2], "w");
	if (!call_log)
		return 2;
	for (n = 0; n < atoi(argv[1]); n++) {
		snprintf(text, sizeof(text), "text %d", n);
		point.x = 3 * n;
		sum += ul_mix(n, text, 0.375, &point);
	}
	fclose(call_log);
	return sum == 1;
}
