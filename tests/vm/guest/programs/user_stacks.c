// SPDX-License-Identifier: GPL-2.0-only
// Stacks of many shapes, for UserStacks (tests/vm/guest/sinks/user_stack_test.cpp). Wherever one is looked at, glibc's backtrace() says
// what it is, and the system call that follows at once has a number by which a tracer's answer is compared with that:
//
//	NUMBER SHAPE OBJECT+0xOFFSET OBJECT+0xOFFSET ...
//
// on standard output, from the caller of look() on, with offsets in files.
//
//	user_stacks TIMES		all shapes, with so many interruptions by a timer
//	user_stacks TIMES wait		the same when standard input has a line
//	user_stacks TIMES absent	the same, in threads whose stacks, of a file in memory, are taken away before each system call that
//					is looked at; without a forked child, which would have the same memory
//	user_stacks TIMES swapped	the same, with the main thread's stack taken away to swap space
//	user_stacks short		one stack
//	user_stacks children TIMES	so many children, of which each executes `user_stacks short`
//	user_stacks remap TIMES		code of two files, mapped at one address in turn; it has frame pointers and no tables
//	user_stacks hostile TIMES	system calls with registers that lead anywhere
//	user_stacks library		a system call that a library makes for a thread
//	user_stacks hold SHAPE		stays where that shape is looked at, for tests/unwinders
//
// With a library that has no backtrace(), the frames are those that frame pointers lead to, up to the first in the library.
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <execinfo.h>
#else
int main(int argc, char **argv);

static __attribute__((noinline)) int backtrace(void **frames, int room)
{
	void **frame = __builtin_frame_address(0), **next;
	int count = 0;

	for (; count < room; frame = next) {
		next = frame[0];
		frames[count++] = frame[1];
		if (next <= frame || (char *)next - (char *)frame > 1 << 20)
			break;
	}
	return count;
}
#endif

#include "raw_call.h"

#define TAG	0x41524754	// the first argument of prctl(), which knows no such option
#define DEEPEST	127
#define LOOKS	4096

#ifdef __clang__
#define noinline __attribute__((noinline))
#else
#define noinline __attribute__((noinline, noclone))
#endif

// In memory that forked children share.
struct look {
	const char *shape;
	int count;
	void *frames[DEEPEST + 8];
};
static struct look *looks;
static volatile int *nr_looks;
static const char *volatile shape = "none";
static const char *held;	// the shape whose look does not end

// What is taken away before that call: all of it, or from the stack pointer on.
static char *taken, *taken_end;
static int taken_how;	// MADV_*
#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

// Without touching the stack in between.
static inline __attribute__((always_inline)) void take_away_and_prctl(long option, long number)
{
	char *const here = (char *)((uintptr_t)__builtin_frame_address(0) & ~4095ul) - 4096;
	char *const begin = taken_how == MADV_PAGEOUT && here > taken && here < taken_end ? here : taken;
#ifdef __aarch64__
	register long kept_option __asm__("x9") = option, kept_number __asm__("x10") = number;
	register char *from __asm__("x0") = begin;
	register long size __asm__("x1") = taken_end - begin, how __asm__("x2") = taken_how, call __asm__("x8") = SYS_madvise;

	__asm__ volatile("svc #0\n"
			 "mov x8, %[prctl]\n"
			 "mov x0, x9\n"
			 "mov x1, x10\n"
			 "mov x2, xzr\n"
			 "svc #0\n"
			 : "+r"(from), "+r"(size), "+r"(how), "+r"(call)
			 : [prctl] "i"(SYS_prctl), "r"(kept_option), "r"(kept_number)
			 : "memory");
#else
	register long kept_option __asm__("r8") = option;
	register long kept_number __asm__("r9") = number;
	long result = SYS_madvise, how = taken_how;
	char *from = begin;
	long size = taken_end - from;

	__asm__ volatile("syscall\n"
			 "mov %[prctl], %%eax\n"
			 "mov %%r8, %%rdi\n"
			 "mov %%r9, %%rsi\n"
			 "xor %%edx, %%edx\n"
			 "syscall\n"
			 : "+a"(result), "+D"(from), "+S"(size), "+d"(how)
			 : [prctl] "i"(SYS_prctl), "r"(kept_option), "r"(kept_number)
			 : "rcx", "r11", "memory", "cc");
#endif
}

static noinline void look(void)
{
	const int number = __atomic_fetch_add(nr_looks, 1, __ATOMIC_RELAXED);
	struct look *own = &looks[number % LOOKS];

	while (held && !strcmp(shape, held))
		raw_wait();
	own->shape = shape;
	own->count = backtrace(own->frames, DEEPEST + 8);
	if (taken)
		take_away_and_prctl(TAG, number);
	else
		raw_prctl(TAG, number);
	__asm__ volatile("" ::: "memory");
}

static noinline int third(int a) { look(); return a + 1; }
static noinline int second(int a) { return third(a * 3) + a; }
static noinline int first(int a) { return second(a + 1) * 2; }

static noinline int recurse(int depth)
{
	volatile char room[24];

	room[depth % 24] = depth;
	if (depth == 0)
		look();
	else
		recurse(depth - 1);
	return room[depth % 24];
}

static int compare(const void *a, const void *b)
{
	static int once;

	if (!once++)
		look();
	return *(const int *)a - *(const int *)b;
}

static void handler(int signal) { (void)signal; look(); }

static sigjmp_buf out;
static void fault_handler(int signal) { (void)signal; look(); siglongjmp(out, 1); }
static noinline int fault(volatile int *where) { return *where + 1; }

static noinline int realigned(int n)
{
	volatile char room[64] __attribute__((aligned(64)));
	char *more = alloca(n);

	memset(more, n, n);
	room[n % 64] = more[n / 2];
	look();
	return room[n % 64];
}

static noinline int with_alloca(int n)
{
	volatile char *room = alloca(n);

	room[0] = n;
	look();
	return room[0];
}

static noinline int big(int n)
{
	volatile char room[100000];

	room[n] = n;
	look();
	return room[n];
}

static jmp_buf back;
static noinline __attribute__((noreturn)) void leave(int n) { look(); longjmp(back, n); }
static noinline void ends_with_a_call(int n)
{
	if (n > 0)
		leave(n);
}

static void *in_thread(void *arg) { third((int)(intptr_t)arg); return arg; }

static void *in_library(void *arg)
{
	prctl(TAG, 0, 0, 0, 0);
	__asm__ volatile("" ::: "memory");
	return arg;
}

static int (*volatile through)(int) = first;
static struct { int a; int (*call)(int); } table = { 1, first };

static noinline void child_of_vfork(void)
{
	const pid_t pid = vfork();

	if (!pid) {
		look();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static noinline void child_of_fork(void)
{
	const pid_t pid = fork();

	if (!pid) {
		first(3);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static volatile int ticks;
static void tick(int signal) { (void)signal; ticks++; look(); }

// Work in this program and in libraries, which the timer interrupts anywhere.
static noinline long work(long round)
{
	char text[64], copy[64];
	int numbers[32], i;

	snprintf(text, sizeof(text), "%ld %s %x", round, "words", (unsigned int)round);
	memcpy(copy, text, sizeof(copy));
	for (i = 0; i < 32; i++)
		numbers[i] = (round * 7919 + i * 104729) % 1000;
	qsort(numbers, 32, sizeof(*numbers), compare);
	free(malloc(strlen(copy) + round % 5000));
	return strtol(copy, NULL, 10) + numbers[0] + getppid();
}

static void interrupted(int times)
{
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 1999 }, { 0, 1999 } }, never = { { 0, 0 }, { 0, 0 } };
	long round = 0;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (ticks < times)
		work(round++);
	setitimer(ITIMER_REAL, &never, NULL);
}

static void print(void)
{
	struct { uintptr_t begin, end, offset; char name[256]; } maps[256];
	const int count = *nr_looks < LOOKS ? *nr_looks : LOOKS;
	int nr_maps = 0, i, frame, map;
	char line[512], mode[8], path[256];
	FILE *file = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), file) && nr_maps < 256) {
		path[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &maps[nr_maps].begin, &maps[nr_maps].end, mode, &maps[nr_maps].offset, path) < 4)
			continue;
		strcpy(maps[nr_maps++].name, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	}
	fclose(file);
	for (i = 0; i < count; i++) {
		printf("%d %s", i, looks[i].shape);
		for (frame = 1; frame < looks[i].count; frame++) {
			const uintptr_t at = (uintptr_t)looks[i].frames[frame];

			for (map = 0; map < nr_maps && (at < maps[map].begin || at >= maps[map].end); map++)
				;
			if (map < nr_maps)
				printf(" %s+0x%lx", maps[map].name, at - maps[map].begin + maps[map].offset);
			else
				printf(" ?+0x%lx", at);
		}
		printf("\n");
	}
}

static void begin(void)
{
	looks = mmap(NULL, LOOKS * sizeof(*looks) + 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nr_looks = (int *)(looks + LOOKS);
}

static int children(const char *self, int times)
{
	while (times--) {
		const pid_t pid = fork();

		if (!pid) {
			execl(self, self, "short", NULL);
			_exit(127);
		}
		if (times % 8 == 0)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

#ifdef __aarch64__
// stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret
static const unsigned int calls_back[] = { 0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0 };
enum { BEHIND_CALL = 12 };
#else
// push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret
static const unsigned char calls_back[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
enum { BEHIND_CALL = 6 };
#endif

static int remap(int times)
{
	char *const at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	union { char *bytes; void (*function)(void (*)(void)); } call;
	unsigned char page[4096];
	int round;

	begin();
	for (round = 0; round < times; round++) {
		const char *path = round % 2 ? "/tmp/user_stacks.b" : "/tmp/user_stacks.a";
		const int begins = round % 2 ? 64 : 16;
		FILE *file;

		if (round < 2) {
			memset(page, 0xcc, sizeof(page));
			memcpy(page + begins, calls_back, sizeof(calls_back));
			file = fopen(path, "w");
			fwrite(page, sizeof(page), 1, file);
			fclose(file);
		}
		file = fopen(path, "r");
		if (round % 5 == 4) {
			// In between there is code of no file.
			munmap(at, 4096);
			if (mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) != at)
				return 1;
			memcpy(at + 8, calls_back, sizeof(calls_back));
			__builtin___clear_cache(at, at + 4096);
			mprotect(at, 4096, PROT_READ | PROT_EXEC);
			call.bytes = at + 8;
			call.function(look);
			printf("%d remap ?+0x%lx\n", *nr_looks - 1, (unsigned long)at + 8 + BEHIND_CALL);
		}
		if (mmap(at, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fileno(file), 0) != at)
			return 1;
		fclose(file);
		call.bytes = at + begins;
		call.function(look);
		printf("%d remap user_stacks.%c+0x%x\n", *nr_looks - 1, round % 2 ? 'b' : 'a', begins + BEHIND_CALL);
	}
	return 0;
}

int main(int argc, char **argv);

static unsigned long anything(void)
{
	const unsigned long some = ((unsigned long)rand() << 33) ^ ((unsigned long)rand() << 11) ^ (unsigned long)rand();

	switch (rand() % 8) {
	case 0: return some;
	case 1: return some >> 17;
	case 2: return 0xffff800000000000ul | some >> 17;
	case 3: return (unsigned long)&some + (some % 65536) - 32768;
	case 4: return (unsigned long)looks + some % (LOOKS * sizeof(*looks));
	case 5: return (unsigned long)main + some % 65536;
	case 6: return 0x00007ffffffff000ul - some % 16;
	default: return some % 4096;
	}
}

// The stack pointer, the frame pointer and what a function must preserve are anything; the system call neither reads nor writes the stack.
static int hostile(int times)
{
	sigset_t all;

	begin();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	srand(times);
	while (times--) {
#ifdef __aarch64__
		register unsigned long *from __asm__("x17");
#else
		unsigned long *from;
#endif
		unsigned long registers[8];
		int i;

		for (i = 0; i < 8; i++)
			registers[i] = anything();
		from = registers;
#ifdef __aarch64__
		{
			register long result __asm__("x0") = TAG;
			register long second __asm__("x1") = 0, call __asm__("x8") = SYS_prctl;

			__asm__ volatile("mov x9, sp; mov x10, x29; mov x11, x19; mov x12, x20; mov x13, x21; mov x14, x22; mov x15, x30\n"
					 "ldp x29, x19, [%1]; ldp x20, x21, [%1, #16]; ldp x22, x30, [%1, #32]; ldr x16, [%1, #48]\n"
					 "mov sp, x16\n"
					 "svc #0\n"
					 "mov sp, x9; mov x29, x10; mov x19, x11; mov x20, x12; mov x21, x13; mov x22, x14; mov x30, x15\n"
					 : "+r" (result) : "r" (from), "r" (second), "r" (call)
					 : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "memory");
		}
#else
		__asm__ volatile("push %%rbx; push %%rbp; push %%r12; push %%r13; push %%r14; push %%r15\n"
				 "movq %%rsp, %%xmm0\n"
				 "mov 0(%0), %%rbp; mov 8(%0), %%rbx; mov 16(%0), %%r12; mov 24(%0), %%r13\n"
				 "mov 32(%0), %%r14; mov 40(%0), %%r15; mov 48(%0), %%rsp\n"
				 "mov %1, %%edi; mov %2, %%eax; xor %%esi, %%esi; syscall\n"
				 "movq %%xmm0, %%rsp\n"
				 "pop %%r15; pop %%r14; pop %%r13; pop %%r12; pop %%rbp; pop %%rbx\n"
				 : "+D" (from) : "i" (TAG), "i" (SYS_prctl)
				 : "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "memory", "cc");
#endif
	}
	return 0;
}

static int times = 100;
static pthread_attr_t attributes;	// of the thread that is a shape
static void *alternate_stack;
static int may_fork = 1;

static void *all_shapes(void *arg)
{
	struct sigaction action = { .sa_handler = handler };
	stack_t alternate = { .ss_sp = alternate_stack, .ss_size = 1 << 16 };
	int numbers[] = { 3, 1, 2 };
	pthread_t thread;

	shape = "plain"; first(1);
	shape = "recursion"; recurse(60);
	shape = "too_deep"; recurse(200);
	shape = "qsort"; qsort(numbers, 3, sizeof(*numbers), compare);
	shape = "signal"; sigaction(SIGUSR1, &action, NULL); raise(SIGUSR1);
	shape = "fault"; action.sa_handler = fault_handler; sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(out, 1))
		fault(NULL);
	shape = "null_call";
	if (!sigsetjmp(out, 1))
		((void (*volatile)(void))NULL)();
	shape = "alternate"; action.sa_handler = handler; action.sa_flags = SA_ONSTACK; sigaltstack(&alternate, NULL);
	sigaction(SIGUSR2, &action, NULL); raise(SIGUSR2);
	shape = "realigned"; realigned(40);
	shape = "alloca"; with_alloca(1000);
	shape = "big"; big(70000);
	shape = "noreturn";
	if (!setjmp(back))
		ends_with_a_call(1);
	shape = "pointer"; through(2);
	shape = "table"; table.call(3);
	shape = "thread"; pthread_create(&thread, &attributes, in_thread, NULL); pthread_join(thread, NULL);
	shape = "vfork"; child_of_vfork();
	if (may_fork) {
		shape = "fork"; child_of_fork();
	}
	shape = "timer"; interrupted(times);
	return arg;
}

// All shapes in another thread: its stack, that of its own thread, and that of its signals are of one file in memory.
static int absent(void)
{
	enum { own = 1 << 21, other = 1 << 19, alternate = 1 << 16 };
	const int file = memfd_create("stacks", 0);
	pthread_attr_t first;
	pthread_t thread;
	sigset_t all;

	if (file < 0 || ftruncate(file, own + other + alternate))
		return 1;
	taken = mmap(NULL, own + other + alternate, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (taken == MAP_FAILED)
		return 1;
	taken_end = taken + own + other + alternate;
	taken_how = MADV_DONTNEED;
	may_fork = 0;
	pthread_attr_init(&first);
	pthread_attr_setstack(&first, taken, own);
	pthread_attr_setstack(&attributes, taken + own, other);
	alternate_stack = taken + own + other;
	if (pthread_create(&thread, &first, all_shapes, NULL))
		return 1;
	// Its signals are not for this thread.
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	return pthread_join(thread, NULL);
}

static int find_main_stack(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), file)) {
		uintptr_t begin, end;

		if (strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &begin, &end) == 2) {
			taken = (char *)begin;
			taken_end = (char *)end;
		}
	}
	fclose(file);
	taken_how = MADV_PAGEOUT;
	return taken ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "children"))
		return children(argv[0], atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "remap"))
		return remap(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "hostile"))
		return hostile(atoi(argv[2]));
	if (argc > 1 && !strcmp(argv[1], "library")) {
		pthread_t thread;

		return pthread_create(&thread, NULL, in_library, NULL) || pthread_join(thread, NULL);
	}
	if (argc > 2 && !strcmp(argv[1], "hold"))
		held = argv[2];
	if (argc > 2 && !strcmp(argv[2], "wait"))
		getchar();
	begin();
	if (argc > 1 && !strcmp(argv[1], "short")) {
		shape = "plain"; first(1);
		return 0;
	}
	if (argc > 1 && !held)
		times = atoi(argv[1]);
	alternate_stack = malloc(1 << 16);
	pthread_attr_init(&attributes);
	if (argc > 2 && !strcmp(argv[2], "absent")) {
		if (absent())
			return 1;
	} else if (argc > 2 && !strcmp(argv[2], "swapped") && find_main_stack()) {
		return 1;
	} else {
		all_shapes(NULL);
	}
	print();
	return 0;
}
