// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls with arguments of many kinds, good ones and bad ones.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int number)
{
	(void)number;
}

int main(void)
{
	static char room[4096];
	struct iovec parts[2] = {{room, 10}, {room + 100, 20}};
	struct timespec brief = {0, 1000};
	struct sigaction action;
	int fd, pipe_fds[2], pair[2], i;
	struct stat status;
	void *pages;

	fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	for (i = 0; i < 5; i++)
		(void)!read(fd, room, 10 * i);
	(void)!pread(fd, room, 100, 7);
	(void)!readv(fd, parts, 2);
	lseek(fd, -3, SEEK_END);
	lseek(fd, -300000, SEEK_SET);
	fstat(fd, &status);
	fcntl(fd, F_GETFL);
	dup3(fd, 77, O_CLOEXEC);
	close(77);
	close(fd);
	close(-1);
	open("/nonexistent", O_RDWR | O_CREAT | O_EXCL | O_DIRECTORY, 0123);
	(void)!read(12345, (void *)-1L, ~0UL >> 1);
	(void)!pipe2(pipe_fds, O_NONBLOCK);
	(void)!read(pipe_fds[0], room, 1);
	(void)!write(pipe_fds[1], "hello", 5);
	(void)!read(pipe_fds[0], room, sizeof(room));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	send(pair[0], room, 17, MSG_DONTWAIT);
	recv(pair[1], room, sizeof(room), MSG_DONTWAIT);
	recv(pair[1], room, sizeof(room), MSG_DONTWAIT);
	pages = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages, 4096, PROT_NONE);
	(void)!write(pipe_fds[1], pages, 4096);
	munmap(pages, 1 << 20);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &brief, NULL);
	prctl(PR_SET_NAME, "known");
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	kill(getpid(), SIGUSR1);
	kill(-1234567, 0);
	if (fork() == 0) {
		getppid();
		_exit(3);
	}
	wait4(-1, &i, 0, NULL);
	wait4(-1, &i, WNOHANG, NULL);
	syscall(SYS_getcpu, NULL, NULL, NULL);
	syscall(SYS_membarrier, -1, -2, -3);
	return 0;
}
