// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random system calls with hostile arguments: hostile_calls SEED BATCHES CALLS
 *
 * Each batch is a child that runs as nobody and makes CALLS calls, unless one of them ends it. Pointers lead to mapped memory, to the last
 * bytes before an unmapped page, to pages that were never touched or must not be, and to the kernel's addresses. The mapped memory holds more
 * such pointers, lengths and unterminated text. Prints how many calls were begun. HostileCalls (hostile/hostile_calls_test.cpp) traces it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul
#define CALLS_END 472	   /* behind the last system call of x86-64 that the kernels of the list have */
#define IA32_CALLS_END 472
#define PATIENCE_MS 1500   /* how long a batch may sleep in a call */
#define NOBODY 65534

static uint64_t state;

/* xorshift64* */
static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dull;
}

static uint64_t below(uint64_t n)
{
	return next() % n;
}

/* Calls that end or suspend the process for good, make processes that outlive the batch, or jump to a random context. */
static const uint16_t left_out[] = {
	SYS_rt_sigreturn, SYS_rt_sigsuspend, SYS_clone, SYS_clone3, SYS_exit, SYS_exit_group,
#ifdef __x86_64__
	SYS_pause, SYS_fork, SYS_vfork,
#endif
};
/* exit fork pause sigreturn clone rt_sigreturn rt_sigsuspend vfork exit_group sigsuspend clone3, by their numbers of 32-bit programs */
static const uint16_t left_out_ia32[] = {1, 2, 29, 119, 120, 173, 179, 190, 252, 72, 435};

static int is_left_out(const uint16_t *list, size_t count, uint64_t number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return 1;
	return 0;
}

#ifndef __x86_64__
#define MAP_32BIT 0 /* there are no 32-bit calls */
#endif

/* Below 4 GB, for 32-bit calls. */
static char *memory;	/* four pages, behind which is nothing */
static char *untouched; /* pages that have not been read yet, behind which is nothing */
static char *forbidden; /* a page without any rights */
static char *beyond;	/* a page of a file that ends before it */

static char *map(size_t bytes, int prot, int flags, int fd)
{
	/* Unmap the page behind, so that accesses past the end fault. */
	char *at = mmap(NULL, bytes + PAGE, prot, flags | MAP_PRIVATE | MAP_32BIT, fd, 0);

	if (at == MAP_FAILED) {
		perror("hostile_calls: mmap");
		exit(1);
	}
	munmap(at + bytes, PAGE);
	return at;
}

static uint64_t address(void)
{
	static const char *const texts[] = {"/dev/null", "/proc/self/maps", ".", "hostile", "/nowhere/at/all", "", "\xff\xfe\x80\x1b[31m\n\t"};

	switch (below(14)) {
	case 0:
		return 0;
	case 1:
		return (uintptr_t)memory + 4 * PAGE - below(24);
	case 2:
		return (uintptr_t)untouched + 2 * PAGE - below(24);
	case 3:
		return (uintptr_t)untouched + below(2 * PAGE);
	case 4:
		return (uintptr_t)forbidden + below(PAGE);
	case 5:
		return (uintptr_t)beyond + below(PAGE);
	case 6:
		return 0xffff888000000000ull + below(1ull << 32);
	case 7:
		return 0x8000000000000000ull >> below(24);
	case 8: {
		char *at = memory + below(4 * PAGE - 32);

		strcpy(at, texts[below(sizeof(texts) / sizeof(texts[0]))]);
		return (uintptr_t)at;
	}
	default:
		return (uintptr_t)memory + below(4 * PAGE);
	}
}

static uint64_t number(void)
{
	static const uint64_t edges[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0xffffffff00000000, 1ull << 63, 4095, 4096, 4097};

	switch (below(8)) {
	case 0:
		return 0;
	case 1:
		return -1 - below(3);
	case 2:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 3:
		return (uint64_t)AT_FDCWD;
	case 4:
		return next();
	case 5:
		return 1ull << below(64) | 1ull << below(32);
	default:
		return below(16);
	}
}

static uint64_t argument(void)
{
	return below(2) ? address() : number();
}

/* Pointers and lengths, as vectors and structs have them, between random words. */
static void fill_memory(void)
{
	uint64_t *words = (uint64_t *)memory;

	for (size_t i = 0; i < 4 * PAGE / 8; i++)
		words[i] = below(3) ? argument() : next();
}

#ifdef __x86_64__
static uint32_t call_ia32(uint32_t call, const uint64_t *a)
{
	uint32_t result;
	register uint64_t r8 asm("r8"), r9 asm("r9"), r10 asm("r10"), r11 asm("r11");

	/* rbp is the sixth argument. */
	asm volatile("push %%rbp\n\tmov %[six], %%ebp\n\tint $0x80\n\tpop %%rbp"
		     : "=a"(result), "=r"(r8), "=r"(r9), "=r"(r10), "=r"(r11)
		     : "a"(call), "b"((uint32_t)a[0]), "c"((uint32_t)a[1]), "d"((uint32_t)a[2]), "S"((uint32_t)a[3]), "D"((uint32_t)a[4]),
		       [six] "m"(a[5])
		     : "memory", "cc");
	return result;
}

static int has_ia32;

/* Without CONFIG_IA32_EMULATION the interrupt is a signal. */
static int find_ia32(void)
{
	const uint64_t none[6] = {0};
	const pid_t child = fork();
	int status;

	if (child == 0) {
		call_ia32(20, none); /* getpid */
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
#else
static uint32_t call_ia32(uint32_t call, const uint64_t *a)
{
	(void)call, (void)a;
	return 0;
}

static int has_ia32;

static int find_ia32(void)
{
	return 0;
}
#endif

static void limit(int resource, rlim_t value)
{
	const struct rlimit limits = {value, value};

	setrlimit(resource, &limits);
}

/* `count` is shared with the parent. */
static void make_calls(uint64_t calls, volatile uint64_t *count)
{
	int pair[2];
	int file = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(file, fd);
	/* Descriptors of several kinds, with small numbers. */
	(void)!pipe(pair);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	eventfd(1, EFD_NONBLOCK);
	memfd_create("hostile", 0);
	open(".", O_RDONLY | O_DIRECTORY);
	socket(AF_INET, SOCK_STREAM, 0);

	limit(RLIMIT_NOFILE, 64);
	limit(RLIMIT_FSIZE, 1 << 20);
	limit(RLIMIT_MEMLOCK, 1 << 16);
	limit(RLIMIT_NPROC, 16);
	limit(RLIMIT_MSGQUEUE, 1 << 16);
	limit(RLIMIT_SIGPENDING, 64);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, 2);
	limit(RLIMIT_AS, 64 << 20);
	setsid();
	setgroups(0, NULL);
	if (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

	for (uint64_t i = 0; i < calls; i++) {
		uint64_t a[6];
		const int narrow = below(8) == 0 && has_ia32;
		const uint64_t call = below(narrow ? IA32_CALLS_END : CALLS_END);

		if (narrow ? is_left_out(left_out_ia32, sizeof(left_out_ia32) / sizeof(left_out_ia32[0]), call)
			   : is_left_out(left_out, sizeof(left_out) / sizeof(left_out[0]), call))
			continue;
		if (below(16) == 0)
			fill_memory();
		for (int k = 0; k < 6; k++)
			a[k] = argument();
		++*count;
		if (narrow)
			call_ia32((uint32_t)call, a);
		else
			syscall((long)call, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	_exit(0);
}

/* Kills the child if it does not end by itself; it may have blocked or disarmed every other signal. */
static void wait_for(pid_t child)
{
	for (int ms = 0; ms < PATIENCE_MS; ms += 5) {
		const struct timespec pause = {0, 5000000};

		if (waitpid(child, NULL, WNOHANG) == child)
			return;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static int run_batches(uint64_t batches, uint64_t calls)
{
	volatile uint64_t *count = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const int file = memfd_create("beyond", 0);

	has_ia32 = find_ia32();
	memory = map(4 * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	untouched = map(2 * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1);
	forbidden = map(PAGE, PROT_NONE, MAP_ANONYMOUS, -1);
	beyond = map(PAGE, PROT_READ, 0, file);
	for (uint64_t i = 0; i < batches; i++) {
		const uint64_t seed = next() | 1;
		const pid_t child = fork();

		if (child < 0) {
			perror("hostile_calls: fork");
			return 1;
		}
		if (child == 0) {
			state = seed;
			fill_memory();
			make_calls(calls, count);
		}
		wait_for(child);
	}
	printf("%llu calls\n", (unsigned long long)*count);
	return 0;
}

int main(int argc, char **argv)
{
	static const int namespaces[] = {CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWUTS, CLONE_NEWPID};
	char folder[] = "/tmp/hostile.XXXXXX";
	int status = 1;
	pid_t runner;

	if (argc != 4) {
		fprintf(stderr, "usage: hostile_calls SEED BATCHES CALLS\n");
		return 2;
	}
	state = strtoull(argv[1], NULL, 0) | 1;
	/*
	 * The namespaces end what outlives a batch, and confine kill(-1). A kernel may be configured without some of them.
	 */
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(namespaces[0]); i++) {
		if (unshare(namespaces[i]) && errno != EINVAL) {
			perror("hostile_calls: unshare");
			return 1;
		}
	}
	if (!mkdtemp(folder) || chmod(folder, 0777) || chdir(folder)) {
		perror(folder);
		return 1;
	}
	runner = fork();
	if (runner == 0)
		exit(run_batches(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0)));
	if (runner < 0 || waitpid(runner, &status, 0) != runner || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}
