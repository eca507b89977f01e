// SPDX-License-Identifier: GPL-2.0-only
// Threads that wait for ever, each in another way, some of them deep in calls of functions that end in others.
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#ifdef __clang__
#define noinline __attribute__((noinline))
#else
#define noinline __attribute__((noinline, noclone))
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_t first;
static int nobody[2];

static void *waits_for_condition(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_wait(&condition, &mutex);
	return arg;
}

static void *waits_for_mutex(void *arg) { pthread_mutex_lock(&other); return arg; }
static void *waits_for_lock(void *arg) { pthread_rwlock_wrlock(&lock); return arg; }
static void *waits_at_barrier(void *arg) { pthread_barrier_wait(&barrier); return arg; }
static void *waits_for_semaphore(void *arg) { sem_wait(&semaphore); return arg; }
static void *waits_for_thread(void *arg) { pthread_join(first, NULL); return arg; }
static void *sleeps(void *arg) { sleep(100000); return arg; }
static void *pauses(void *arg) { pause(); return arg; }

static noinline int reads(void *room) { return read(nobody[0], room, 1); }

static void *waits_for_bytes(void *arg)
{
	char room[4000];

	return reads(room) ? arg : NULL;
}

static void *polls(void *arg)
{
	struct pollfd file = { .fd = nobody[0], .events = POLLIN };

	poll(&file, 1, -1);
	return arg;
}

static void *waits_for_events(void *arg)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, -1);
	return arg;
}

static int compare(const void *a, const void *b) { pause(); return *(const int *)a - *(const int *)b; }

static void *sorts(void *arg)
{
	int numbers[] = { 3, 2, 1 };

	qsort(numbers, 3, sizeof(*numbers), compare);
	return arg;
}

static void clean_up(void *arg) { (void)arg; pause(); }

// Its stack is unwound by libgcc when it pauses.
static void *is_cancelled(void *arg)
{
	pthread_cleanup_push(clean_up, NULL);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	pthread_cleanup_pop(0);
	return arg;
}

static void handler(int signal) { (void)signal; pause(); }
static void *handles_a_signal(void *arg) { raise(SIGUSR1); return arg; }

static void *all[] = { waits_for_condition, waits_for_mutex, waits_for_lock, waits_at_barrier, waits_for_semaphore, waits_for_thread, pauses,
		       waits_for_bytes, polls, waits_for_events, sorts, is_cancelled, handles_a_signal };

int main(void)
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t thread;
	unsigned int i;

	sigaction(SIGUSR1, &action, NULL);
	pthread_mutex_lock(&other);
	pthread_rwlock_rdlock(&lock);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	if (pipe(nobody))
		return 1;
	pthread_create(&first, NULL, sleeps, NULL);
	for (i = 0; i < sizeof(all) / sizeof(*all); i++)
		pthread_create(&thread, NULL, all[i], NULL);
	pause();
	return 0;
}
