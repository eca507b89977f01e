// SPDX-License-Identifier: GPL-2.0-only
// System calls whose user stack is not in memory, for LateStacks (tests/vm/guest/hostile/late_stack_test.cpp) and LateStacksShown. The stack is that of a
// thread, in memory that can be taken away: madvise() and the call that is looked at follow one another without touching it.
//
//	user_stacks_absent sleep	waits for a signal
//	user_stacks_absent nap		sleeps half a second
//	user_stacks_absent signal	the same, and one comes, so that a handler runs before the call returns
//	user_stacks_absent exec FILE	executes that program
//	user_stacks_absent armed	a userfaultfd has all of it, which nobody answers; the process ends before it needs its stack
//	user_stacks_absent storm	for ever, in four threads, one call after the other
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TAG	0x41524754	// as in user_stacks.c
#define SIZE	(1 << 18)
// Not its upper end: there are what the kernel writes to of each thread, and with that it may map as much again.
#define TAKEN	(SIZE - (1 << 16))
#define LOWER	(3 << 15)
#define THREADS	4

#define noinline __attribute__((noinline, noclone))

static char *stacks[THREADS];
static char *arguments[] = { NULL, NULL };
static char *environment[] = { NULL };
static const char *volatile mode = "sleep";
static volatile int handled;
static sigset_t no_signals;	// that are blocked
static const struct timespec nap = { 0, 500000000 };

// Takes the stack away, makes the call, and then another one if that is >= 0.
static inline __attribute__((always_inline)) long call_without(char *stack, long number, long first, long second, long third, long last)
{
#ifdef __aarch64__
	register long kept_first __asm__("x9") = first, kept_second __asm__("x10") = second, kept_third __asm__("x11") = third;
	register long kept_number __asm__("x12") = number, kept_last __asm__("x13") = last;
	register long result __asm__("x0") = (long)stack;
	register long size __asm__("x1") = TAKEN, advice __asm__("x2") = MADV_DONTNEED, call __asm__("x8") = SYS_madvise;

	__asm__ volatile("svc #0\n"
			 "mov x8, x12\n"
			 "mov x0, x9\n"
			 "mov x1, x10\n"
			 "mov x2, x11\n"
			 "svc #0\n"
			 "tbnz x13, #63, 1f\n"
			 "mov x8, x13\n"
			 "mov x0, xzr\n"
			 "svc #0\n"
			 "1:\n"
			 : "+r"(result), "+r"(size), "+r"(advice), "+r"(call)
			 : "r"(kept_first), "r"(kept_second), "r"(kept_third), "r"(kept_number), "r"(kept_last)
			 : "memory");
#else
	register long kept_first __asm__("r8") = first;
	register long kept_second __asm__("r9") = second;
	register long kept_third __asm__("r10") = third;
	register long kept_number __asm__("r12") = number;
	register long kept_last __asm__("r13") = last;
	long result = SYS_madvise;
	long where = (long)stack, size = TAKEN, advice = MADV_DONTNEED;

	__asm__ volatile("syscall\n"
			 "mov %%r12, %%rax\n"
			 "mov %%r8, %%rdi\n"
			 "mov %%r9, %%rsi\n"
			 "mov %%r10, %%rdx\n"
			 "syscall\n"
			 "test %%r13, %%r13\n"
			 "js 1f\n"
			 "mov %%r13, %%rax\n"
			 "xor %%edi, %%edi\n"
			 "syscall\n"
			 "1:\n"
			 : "+a"(result), "+D"(where), "+S"(size), "+d"(advice)
			 : "r"(kept_first), "r"(kept_second), "r"(kept_third), "r"(kept_number), "r"(kept_last)
			 : "rcx", "r11", "memory", "cc");
#endif
	return result;
}

static noinline int call(int depth, char *stack)
{
	volatile char room[256];

	room[depth] = depth;
	if (depth > 0)
		return call(depth - 1, stack) + room[depth];
	if (!strcmp(mode, "sleep") || !strcmp(mode, "signal"))
		call_without(stack, SYS_rt_sigsuspend, (long)&no_signals, sizeof(long), 0, -1);
	else if (!strcmp(mode, "nap"))
		call_without(stack, SYS_nanosleep, (long)&nap, 0, 0, -1);
	else if (!strcmp(mode, "exec"))
		call_without(stack, SYS_execve, (long)arguments[0], (long)arguments, (long)environment, -1);
	else if (!strcmp(mode, "armed"))
		call_without(stack, SYS_prctl, TAG, 0, 0, SYS_exit_group);
	else
		call_without(stack, SYS_prctl, TAG, 0, 0, -1);
	return room[depth];
}

static void handler(int signal)
{
	(void)signal;
	handled = 1;
}

static void arm(char *stack)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = { .range = { (unsigned long)stack, TAKEN }, .mode = UFFDIO_REGISTER_MODE_MISSING };
	const int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area)) {
		perror("userfaultfd");
		_exit(3);
	}
}

static noinline int far_below(char *stack)
{
	volatile char room[LOWER];

	room[0] = 1;
	return call(20, stack) + room[0];
}

static void *run(void *stack)
{
	if (!strcmp(mode, "armed"))
		arm(stack);
	if (!strcmp(mode, "signal"))
		alarm(1);
	do {
		far_below(stack);
	} while (!strcmp(mode, "storm"));
	return NULL;
}

int main(int argc, char **argv)
{
	const int threads = argc > 1 && !strcmp(argv[1], "storm") ? THREADS : 1;
	const struct sigaction action = { .sa_handler = handler };
	pthread_t ids[THREADS];
	sigset_t alarms;
	int i;

	if (argc > 1)
		mode = argv[1];
	arguments[0] = argc > 2 ? argv[2] : NULL;
	sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < threads; i++) {
		const int file = strcmp(mode, "armed") ? memfd_create("stack", 0) : -1;
		pthread_attr_t attributes;

		if (file >= 0 && ftruncate(file, SIZE))
			return 1;
		stacks[i] = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, file,
				 0);
		pthread_attr_init(&attributes);
		if (stacks[i] == MAP_FAILED || pthread_attr_setstack(&attributes, stacks[i], SIZE) ||
		    pthread_create(&ids[i], &attributes, run, stacks[i]))
			return 1;
	}
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	for (i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return strcmp(mode, "signal") || handled ? 0 : 2;
}
