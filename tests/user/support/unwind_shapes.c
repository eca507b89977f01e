// SPDX-License-Identifier: GPL-2.0-only
// Frames of every shape that compilers make. Compiled several times, with other flags, as shared objects.
#include <alloca.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void visit_function(void);

#define NOINLINE __attribute__((noinline))

static visit_function *visit;
static volatile int sink;

/// Called through the procedure linkage table, lazily the first time.
__attribute__((visibility("default"), noinline)) void unwind_shape_exported(int n)
{
	visit();
	sink = n;
}

static NOINLINE int recurse(int n)
{
	int rest = 0;

	if (n == 0)
		unwind_shape_exported(n);
	else
		rest = recurse(n - 1);
	sink = rest; /* or it would become a loop */
	return rest + n;
}

/// The stack is realigned, and its size is not known: the frame is found through another register.
static NOINLINE int realigned(int n)
{
	_Alignas(64) volatile char aligned[64];
	volatile char *room = alloca((size_t)n);

	aligned[0] = room[n - 1] = (char)n;
	visit();
	return aligned[0] + room[n - 1];
}

static NOINLINE int realigned_with_arguments(int a, int b, int c, int d, int e, int f, int g, int h)
{
	_Alignas(32) volatile char aligned[32];

	aligned[1] = (char)(a + b + c + d + e + f);
	visit();
	return aligned[1] + g + h;
}

static NOINLINE int large(int n)
{
	volatile char room[200000];

	room[0] = room[199999] = (char)n;
	visit();
	return room[0] + room[199999];
}

/// More values than there are registers that calls preserve.
static NOINLINE long many_registers(const volatile int *from)
{
	long a = from[0], b = from[1], c = from[2], d = from[3], e = from[4], f = from[5], g = from[6];

	visit();
	a += b * c;
	visit();
	return a ^ (b + c * d) ^ (e + f * g);
}

static NOINLINE int variadic(int count, ...)
{
	va_list list;
	int sum = 0;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		sum += va_arg(list, int);
	va_end(list);
	visit();
	return sum;
}

static int compare(const void *a, const void *b)
{
	visit();
	return *(const int *)a - *(const int *)b;
}

static NOINLINE int sorted(void)
{
	int numbers[] = { 3, 1, 2 };

	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return numbers[0];
}

/// An early return makes several epilogues.
static NOINLINE int branches(int n)
{
	int numbers[16] = { n };

	if (n == 1)
		return 7;
	numbers[n & 15] = n;
	if (n == 2) {
		visit();
		return numbers[0];
	}
	visit();
	return numbers[1] + n;
}

static void handler(int signal)
{
	visit();
	sink = signal;
}

static NOINLINE void interrupted(int flags)
{
	static char room[1 << 16];
	const stack_t alternate = { .ss_sp = room, .ss_size = sizeof(room) };
	const stack_t none = { .ss_flags = SS_DISABLE };
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, &before);
	kill(getpid(), SIGUSR2); /* raise() would block SIGTRAP */
	sigaction(SIGUSR2, &before, NULL);
	sigaltstack(&none, NULL);
}

/// In the vdso, where that has a clock.
static NOINLINE long clocks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_nsec;
}

__attribute__((visibility("default"))) void unwind_shapes(visit_function *to_visit)
{
	static const volatile int numbers[7] = { 1, 2, 3, 4, 5, 6, 7 };

	visit = to_visit;
	sink = recurse(5);
	sink = realigned(100);
	sink = realigned_with_arguments(1, 2, 3, 4, 5, 6, 7, 8);
	sink = large(1);
	sink = (int)many_registers(numbers);
	sink = variadic(3, 1, 2, 3);
	sink = sorted();
	sink = branches(1) + branches(2) + branches(3);
	sink = (int)clocks();
	interrupted(0);
	interrupted(SA_ONSTACK);
}

__attribute__((visibility("default"))) void unwind_deep(visit_function *to_visit)
{
	visit = to_visit;
	sink = recurse(100);
}
