// SPDX-License-Identifier: GPL-2.0-only
/*
 * USDT probes whose arguments are in places of each form, with values that are known.
 *
 *   usdt_probes ROUNDS LOG            passes all of them so many times, and writes each to the file LOG: "NAME VALUE ..."
 *   usdt_probes ROUNDS LOG fork       the same, each round in a child of its own
 *   usdt_probes wait                  for each line on stdin, says what the semaphore is and passes its probe if it is not 0; where the
 *                                     line is "fork", a child does
 *   usdt_probes storm                 passes the probe with the semaphore again and again, and forks now and then
 *   usdt_probes kernel                passes `text` with addresses of the kernel's, and `memory` with such a base
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __aarch64__
#include "usdt_aarch64.h"
#else
#include "usdt_x86_64.h"
#endif

/* Where <sys/sdt.h> has programs put them. */
asm(".pushsection .probes, \"aw\", \"progbits\"\n"
    ".balign 2\n"
    ".globl usdt_probes_first_semaphore, usdt_probes_guarded_semaphore\n"
    "usdt_probes_first_semaphore: .2byte 0\n"
    "usdt_probes_guarded_semaphore: .2byte 0\n"
    ".popsection\n");
extern volatile unsigned short usdt_probes_guarded_semaphore;

struct numbers {
	uint64_t first;
	uint32_t second;
	int32_t third;
};

__attribute__((visibility("default"))) struct numbers usdt_numbers = { 1, 2, -3 };

/* Registers in the order of the note. */
void pass_registers(const uint64_t values[REGISTERS]);
void pass_widths(uint64_t value);
void pass_constants(void);

/* The numbers at -8 to 63 from the first argument, and the second is a number below 4. */
void pass_memory(const void *numbers, uint64_t index);

#ifdef __x86_64__
void pass_bytes(uint64_t value);
void pass_symbols(void);
#endif

/* What is not read is the others' business no more than its own. */
void pass_unread(int number);

void pass_text(const char *text);

void pass_nothing(void);
FUNCTION("pass_nothing", PROBE("nothing", ""));

/* One probe in three places. */
void pass_sites(int first, int second);

void pass_guarded(unsigned long number);

static FILE *probe_log;

static const char *untouched_text(unsigned long round)
{
	const long page = sysconf(_SC_PAGESIZE);
	char *text, path[64];
	int copy;

	snprintf(path, sizeof(path), "/tmp/usdt_probes.%d", getpid());
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

static void pass_numbers(unsigned long round)
{
	uint64_t values[REGISTERS], numbers[10], index = round % 4, value = round * 0x9e3779b97f4a7c15;
	const unsigned char *bytes = (const unsigned char *)(numbers + 1);
	uint16_t short_number;
	int i;

	fprintf(probe_log, "registers");
	for (i = 0; i < REGISTERS; i++) {
		values[i] = value ^ (uint64_t)i << 56;
		fprintf(probe_log, " %" PRIu64, values[i]);
	}
	fprintf(probe_log, "\n");
	pass_registers(values);

	fprintf(probe_log, "widths %u %d %u %d %u %d %u %d %d %" PRId64 " %" PRIu64 " %" PRId64 " %u\n", (uint32_t)value, (int32_t)value,
		(uint16_t)value, (int16_t)value, (uint8_t)value, (int8_t)value, (uint32_t)value, (int16_t)value, (int8_t)value, (int64_t)value,
		(uint64_t)(uint32_t)value, (int64_t)(int32_t)value, (uint8_t)value);
	pass_widths(value);

	for (i = 0; i < 10; i++)
		numbers[i] = value * (i + 3);
	memcpy(&short_number, bytes + index, sizeof(short_number));
	fprintf(probe_log, "memory %" PRIu64 " %u %d %u %" PRIu64 " %d %" PRIu64 " %" PRId64 " -78 77 %u\n", numbers[1], (uint32_t)numbers[2],
		(int32_t)numbers[0], short_number, numbers[2 + index], (signed char)bytes[-3 + 2 * (int)index], numbers[1], (int64_t)numbers[3],
		bytes[4 * index]);
	pass_memory(numbers + 1, index);
}

#ifdef __x86_64__
/* Operands that no other architecture has. */
static void pass_others(unsigned long round)
{
	const uint64_t value = round * 0x9e3779b97f4a7c15;

	fprintf(probe_log, "bytes %u %d %u %d %d\n", (uint8_t)(value >> 8), (int8_t)(value >> 8), (uint8_t)value, (int8_t)value, (int8_t)(value >> 8));
	pass_bytes(value);
	usdt_numbers = (struct numbers){ round * 10000000019, round, -(int)round };
	fprintf(probe_log, "symbols %" PRIu64 " %u %d %" PRIu64 " %d\n", usdt_numbers.first, usdt_numbers.second, usdt_numbers.third,
		usdt_numbers.first, usdt_numbers.third);
	pass_symbols();
}
#endif

static void pass_all(unsigned long round)
{
	const char *text;

	pass_numbers(round);
	fprintf(probe_log, "constants 255 -1 65535 -7 2147483647 18446744073709551615 -9223372036854775808 3000000000 -32768\n");
	pass_constants();
#ifdef __x86_64__
	pass_others(round);
#endif
	text = untouched_text(round);
	fprintf(probe_log, "text round %lu across the end of a page\n", round);
	pass_text(text);
	fprintf(probe_log, "nothing\n");
	pass_nothing();
	fprintf(probe_log, "sites %d\nsites %d\nsites %d\n", (int)round, -(int)round, (int16_t)round);
	pass_sites(round, -round);
	if (usdt_probes_guarded_semaphore) {
		fprintf(probe_log, "guarded %lu %u\n", round, usdt_probes_guarded_semaphore);
		pass_guarded(round);
	}
	pass_unread(round);
	fflush(probe_log);
}

static void storm(void)
{
	unsigned long i;

	for (i = 0;; i++) {
		pass_guarded(i);
		if (i % 512)
			continue;
		if (fork() == 0) {
			pass_guarded(i);
			if (i % 1024)
				execl("/proc/self/exe", "usdt_probes", "short", NULL);
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
	}
}

static void say_semaphore(void)
{
	const unsigned int semaphore = usdt_probes_guarded_semaphore;

	if (semaphore)
		pass_guarded(semaphore);
	printf("%u\n", semaphore);
	fflush(stdout);
}

static void wait_for_lines(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "fork\n")) {
			say_semaphore();
		} else if (fork() == 0) {
			say_semaphore();
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
	}
}

/* Addresses of the kernel, and such that are in no address space. */
static void pass_kernel(void)
{
	static const unsigned long addresses[] = { 0xffffffff81000000, 0xffff888000000000, 0xffff888000100000, 0xfffffe0000000000, -8ul,
						   0x8000000000000000, 0x0000800000000000, 8 };
	unsigned int i;

	for (i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		pass_text((const char *)addresses[i]);
		pass_memory((const void *)addresses[i], 1);
	}
}

int main(int argc, char **argv)
{
	unsigned long round;

	if (argc == 2 && !strcmp(argv[1], "storm"))
		storm();
	else if (argc == 2 && !strcmp(argv[1], "wait"))
		wait_for_lines();
	else if (argc == 2 && !strcmp(argv[1], "kernel"))
		pass_kernel();
	else if (argc == 2)
		pass_guarded(0);
	if (argc < 3)
		return 0;
	probe_log = fopen(argv[2], "w");
	if (!probe_log)
		return 1;
	for (round = 0; round < strtoul(argv[1], NULL, 0); round++) {
		if (argc < 4) {
			pass_all(round);
		} else if (fork() == 0) {
			pass_all(round);
			_exit(0);
		}
		while (wait(NULL) > 0)
			;
	}
	return 0;
}
