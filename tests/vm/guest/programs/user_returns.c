// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that return, or are left, in all the ways that there are, for tests that follow them.
 *
 *   user_returns MODE LOG        writes each call that has returned to the file LOG: "NAME ARGUMENT RESULT"
 *
 * Modes: ways, recursion, jumps, coroutines, forks, threads; left (nothing returns); storm (no log, until it is killed).
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* Called as written, with all arguments: not inlined, cloned, or left out. */
#define CALLED __attribute__((noinline, noclone, noipa, externally_visible, visibility("default")))

static FILE *call_log;
static volatile long sink;

static long logged(const char *name, long argument, long result)
{
	fprintf(call_log, "%s %ld %ld\n", name, argument, result);
	return result;
}

CALLED long ur_value(long number)
{
	sink++;
	return 3 * number + 1;
}

CALLED long ur_early(long number)
{
	if (number < 3)
		return -number;
	if (number < 6) {
		sink += ur_value(number);
		return number * 100;
	}
	switch (number) {
	case 6: sink += 3; return 60;
	case 7: sink += 5; return 71;
	case 8: sink *= 7; return 82;
	case 9: sink -= 9; return 93;
	case 10: sink ^= 11; return 104;
	case 11: sink |= 13; return 115;
	default: return 0;
	}
}

/* Into memory that nobody has touched before it is called. */
CALLED const char *ur_text(long number, char *to)
{
	snprintf(to, 64, "text %ld", number);
	return to;
}

CALLED long ur_recursive(long number)
{
	const long below = number ? ur_recursive(number - 1) : 0;

	return logged("ur_recursive", number, below + number) + sink * 0;
}

/* Ends in a jump. */
CALLED long ur_target(long number)
{
	sink++;
	return number * number;
}

CALLED long ur_jump(long number)
{
	sink++;
	return ur_target(number + 1);
}

/* A loop whose head is the first instruction, and one that is nothing but the return. */
long ur_loop(long number);
void ur_once(long number);
#ifdef __aarch64__
#define LOOP "subs x0, x0, #1\n b.gt ur_loop\n mov x0, #42\n ret\n"
#else
#define LOOP "sub $1, %rdi\n jg ur_loop\n mov $42, %eax\n ret\n"
#endif
asm(".text\n"
    ".globl ur_loop\n.type ur_loop, %function\n"
    "ur_loop: " LOOP ".size ur_loop, . - ur_loop\n"
    ".globl ur_once\n.type ur_once, %function\n"
    "ur_once: ret\n.size ur_once, . - ur_once\n");

static jmp_buf back;

CALLED long ur_left(long number)
{
	sink++;
	longjmp(back, number);
}

CALLED long ur_maybe_left(long number)
{
	sink++;
	if (number % 3)
		longjmp(back, 1);
	return number;
}

static void __attribute__((noinline, noclone)) leave_one(long number)
{
	if (!setjmp(back))
		ur_left(number);
}

static void __attribute__((noinline, noclone)) maybe_leave_one(long number)
{
	if (!setjmp(back))
		logged("ur_maybe_left", number, ur_maybe_left(number));
}

/* Coroutines, with stacks side by side, which are entered in one thread and return in another. */
#define COROUTINES	8
#define STACK		(64 * 1024)

static char stacks[COROUTINES][STACK];
static ucontext_t scheduler, coroutines[COROUTINES];

CALLED long ur_yields(long number)
{
	swapcontext(&coroutines[number], &scheduler);
	return number * 7;
}

static void coroutine(int number)
{
	logged("ur_yields", number, ur_yields(number));
}

static void *run_coroutines(void *unused)
{
	int i;

	(void)unused;
	for (i = COROUTINES; i--;)
		swapcontext(&scheduler, &coroutines[i]);
	return NULL;
}

static void coroutines_in_threads(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = stacks[i];
		coroutines[i].uc_stack.ss_size = STACK;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], (void (*)(void))coroutine, 1, i);
		swapcontext(&scheduler, &coroutines[i]);
	}
	pthread_create(&thread, NULL, run_coroutines, NULL);
	pthread_join(thread, NULL);
}

CALLED long ur_forks(long number)
{
	const pid_t child = fork();

	/* The child returns as well, from what its parent has entered. */
	if (!child)
		return -1;
	waitpid(child, NULL, 0);
	return number + 5;
}

/* Its child lives on the same stack until it ends, and calls functions there. */
CALLED long ur_vforks(long number)
{
	const pid_t child = vfork();

	if (!child) {
		ur_value(number);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return number + 6;
}

CALLED long ur_replaced(long number)
{
	char text[16];

	snprintf(text, sizeof(text), "%ld", number);
	execl("/proc/self/exe", "user_returns", "nothing", text, NULL);
	return -1;
}

CALLED long ur_exits(long number)
{
	if (number)
		pthread_exit(NULL);
	return number;
}

CALLED long ur_ends(long number)
{
	long result;

	if (!number)
		exit(0);
	if (sink < 0)
		return 0; /* it is not */
	result = ur_ends(number - 1);
	sink++; /* so that it is no loop */
	return result;
}

static void *exit_in_it(void *number)
{
	logged("ur_exits", (long)number, ur_exits((long)number));
	return NULL;
}

/* As a function of Go is called, which has its goroutine in r14, on arm64 in x28. */
long ur_as_goroutine(long number, unsigned long goroutine);
#ifdef __aarch64__
#define AS_GOROUTINE "	stp x28, x30, [sp, #-16]!\n mov x28, x1\n bl ur_goroutine\n ldp x28, x30, [sp], #16\n ret\n"
#else
#define AS_GOROUTINE "	push %r14\n mov %rsi, %r14\n call ur_goroutine\n pop %r14\n ret\n"
#endif
asm("	.text\n"
    "	.globl ur_as_goroutine\n"
    "	.type ur_as_goroutine, %function\n"
    "ur_as_goroutine:\n"
    AS_GOROUTINE
    "	.size ur_as_goroutine, . - ur_as_goroutine\n");

CALLED long ur_goroutine(long number)
{
	return number * 7;
}

/* What leads nowhere, or to the kernel, and two that can be read. */
static void goroutine(long number)
{
	static unsigned long words[4] = { 1, 0x7000, 0x7100, 0x7200 };
	const unsigned long all[] = {
		0, 1, 7, -1ul, -8ul, -16ul, -4096ul, 0xffff888000000000ul, 0xffffffff81000000ul, 0x800000000000ul, 0x7ffffffff000ul,
		0x7fffffffeff8ul, (unsigned long)words, (unsigned long)words + 3,
	};

	ur_as_goroutine(number, all[number % (sizeof(all) / sizeof(*all))]);
}

static void forks(void)
{
	long i, result;

	for (i = 0; i < 20; i++) {
		fflush(call_log);
		result = ur_forks(i);
		if (result < 0)
			_exit(0);
		logged("ur_forks", i, result);
		fflush(call_log);
		logged("ur_value", i, 3 * i + 1); /* by its child */
		logged("ur_vforks", i, ur_vforks(i));
		fflush(call_log);
		if (!fork())
			ur_replaced(i);
		wait(NULL);
	}
}

static void threads(void)
{
	pthread_t thread;
	long i;

	for (i = 0; i < 20; i++) {
		pthread_create(&thread, NULL, exit_in_it, (void *)(i % 2));
		pthread_join(thread, NULL);
	}
}

static void ways(void)
{
	char *text;
	long i;

	for (i = 0; i < 100; i++) {
		logged("ur_value", i, ur_value(i));
		if (i >= 3 && i < 6)
			logged("ur_value", i, 3 * i + 1); /* within the next */
		logged("ur_early", i, ur_early(i));
		text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ur_text(i, text);
		fprintf(call_log, "ur_text %ld text %ld\n", i, i);
		munmap(text, 4096);
		logged("ur_loop", i, ur_loop(i));
		ur_once(i);
	}
}

static void jumps(void)
{
	long i;

	for (i = 0; i < 100; i++) {
		logged("ur_target", i + 1, (i + 1) * (i + 1));
		logged("ur_jump", i, ur_jump(i));
		logged("ur_target", i, ur_target(i));
	}
}

static void storm(void)
{
	long i;

	for (i = 0;; i++) {
		ur_value(i);
		ur_jump(i);
		leave_one(i);
		goroutine(i);
		if (i % 256)
			continue;
		if (!fork()) {
			ur_value(i);
			if (i % 512)
				ur_replaced(i);
			_exit(0);
		}
		wait(NULL);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	long i;

	if (!strcmp(mode, "nothing"))
		return 0;
	if (!strcmp(mode, "storm"))
		storm();
	call_log = argc > 2 ? fopen(argv[2], "w") : NULL;
	if (!call_log)
		return 2;
	if (!strcmp(mode, "ways"))
		ways();
	else if (!strcmp(mode, "recursion"))
		ur_recursive(300);
	else if (!strcmp(mode, "ends"))
		ur_ends(20);
	else if (!strcmp(mode, "jumps"))
		jumps();
	else if (!strcmp(mode, "coroutines"))
		coroutines_in_threads();
	else if (!strcmp(mode, "forks"))
		forks();
	else if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "goroutines"))
		for (i = 0; i < 1400; i++)
			goroutine(i);
	else
		for (i = 0; i < 30; i++)
			if (!strcmp(mode, "left"))
				leave_one(1 + i);
			else
				maybe_leave_one(i);
	fclose(call_log);
	return 0;
}
