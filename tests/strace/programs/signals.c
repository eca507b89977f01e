// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals that are caught, blocked, waited for and read, and calls that they interrupt.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void caught(int number)
{
	(void)number;
}

int main(void)
{
	static char stack[65536];
	struct itimerval soon = {{0, 0}, {0, 20000}};
	struct itimerspec later = {{0, 0}, {0, 20000000}};
	struct timespec long_time = {5, 0}, brief = {0, 1000000};
	struct sigaction action = {.sa_handler = caught, .sa_flags = SA_RESTART | SA_ONSTACK};
	stack_t alternative = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct signalfd_siginfo read_info;
	sigset_t set, old;
	siginfo_t info;
	timer_t timer;
	pid_t child;
	int fd, status;

	sigaltstack(&alternative, NULL);
	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	nanosleep(&long_time, &brief);
	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
	kill(getpid(), SIGUSR1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 2);
	sigprocmask(SIG_BLOCK, &set, &old);
	sigqueue(getpid(), SIGRTMIN + 2, (union sigval){.sival_int = 42});
	sigtimedwait(&set, &info, &brief);
	sigtimedwait(&set, &info, &brief);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	raise(SIGUSR1);
	(void)!read(fd, &read_info, sizeof(read_info));
	(void)!read(fd, &read_info, sizeof(read_info));
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	timerfd_settime(fd, 0, &later, NULL);
	(void)!read(fd, stack, 8);
	timer_create(CLOCK_REALTIME, NULL, &timer);
	timer_settime(timer, 0, &later, NULL);
	timer_gettime(timer, &later);
	timer_delete(timer);
	prctl(PR_SET_NAME, "renamed");
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	child = fork();
	if (child == 0) {
		pause();
		_exit(1);
	}
	kill(child, SIGSTOP);
	waitpid(child, &status, WUNTRACED);
	kill(child, SIGCONT);
	kill(child, SIGTERM);
	waitid(P_PID, child, &info, WEXITED | WNOWAIT);
	wait4(child, &status, 0, NULL);
	return 0;
}
