// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait for each other, and one that outlives the first.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *number)
{
	int round;

	for (round = 0; round < 5; round++) {
		pthread_mutex_lock(&lock);
		while (turn % 4 != (int)(long)number)
			pthread_cond_wait(&turned, &lock);
		turn++;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&lock);
		usleep(1000);
	}
	return NULL;
}

static void *last(void *unused)
{
	(void)unused;
	usleep(300000);
	_exit(0);
}

int main(void)
{
	pthread_t threads[4], final;
	long i;

	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, take_turns, (void *)i);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pthread_create(&final, NULL, last, NULL);
	pthread_exit(NULL);
}
