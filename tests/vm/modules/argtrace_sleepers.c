// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of several shapes in which tasks sleep until all are woken. In debugfs:
 *
 *   argtrace_sleepers/sleep  write C: call number C of them all; C decides which it is, and neighbours.h what it is called with. Fails
 *                            with EILSEQ where it has returned anything else than it should.
 *   argtrace_sleepers/wake   write: all who sleep go on. A signal wakes them as well.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/wait.h>

#include "neighbours.h"

/* noipa: gcc makes no clone, drops no argument and merges no calls. */
#define ASL __attribute__((__noipa__))

typedef unsigned __int128 asl_u128_t;

static DECLARE_WAIT_QUEUE_HEAD(waiters);
static atomic_t wakes;

static noinline void sleep_until_woken(void)
{
	const int before = atomic_read(&wakes);

	wait_event_interruptible(waiters, atomic_read(&wakes) != before);
}

ASL u64 asl_value(u64 a, u64 b);
ASL u64 asl_value(u64 a, u64 b)
{
	sleep_until_woken();
	return an_mix(an_mix(0, a), b);
}

ASL u64 asl_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);
ASL u64 asl_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	sleep_until_woken();
	return an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(0, a), b), c), d), e), f), g), h);
}

/* Two registers are returned. */
ASL asl_u128_t asl_wide(u64 a, u64 b);
ASL asl_u128_t asl_wide(u64 a, u64 b)
{
	sleep_until_woken();
	return (asl_u128_t)a << 64 | b;
}

ASL u64 asl_outer(u64 a, u64 b);
ASL u64 asl_outer(u64 a, u64 b)
{
	return ~asl_value(a, b);
}

ASL u64 asl_deep(u64 depth, u64 a);
ASL u64 asl_deep(u64 depth, u64 a)
{
	u64 below = a;

	if (depth)
		below = an_mix(asl_deep(depth - 1, a), depth);
	else
		sleep_until_woken();
	/* Else gcc makes a loop of it. */
	barrier();
	return below;
}

#define DEPTH	3

static u64 deep_result(u64 a)
{
	u64 depth;

	for (depth = 1; depth <= DEPTH; depth++)
		a = an_mix(a, depth);
	return a;
}

static bool returns_what_it_should(u64 c)
{
	u64 a[AN_MANY_ARGS];
	unsigned int k;

	for (k = 0; k < AN_MANY_ARGS; k++)
		a[k] = an_argument(c, k);
	switch (c % 5) {
	case 0:
		return asl_value(a[0], a[1]) == an_result(c, AN_VALUE_ARGS);
	case 1:
		return asl_many(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]) == an_result(c, AN_MANY_ARGS);
	case 2:
		return asl_wide(a[0], a[1]) == ((asl_u128_t)a[0] << 64 | a[1]);
	case 3:
		return asl_outer(a[0], a[1]) == ~an_result(c, AN_VALUE_ARGS);
	default:
		return asl_deep(DEPTH, a[0]) == deep_result(a[0]);
	}
}

static int sleep_set(void *data, u64 c)
{
	return returns_what_it_should(c) ? 0 : -EILSEQ;
}
DEFINE_DEBUGFS_ATTRIBUTE(sleep_fops, NULL, sleep_set, "%llu\n");

static int wake_set(void *data, u64 unused)
{
	atomic_inc(&wakes);
	wake_up_all(&waiters);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(wake_fops, NULL, wake_set, "%llu\n");

static struct dentry *directory;

static int __init asl_init(void)
{
	directory = debugfs_create_dir("argtrace_sleepers", NULL);
	/* With a count of the module's users: it must not go while somebody sleeps. */
	debugfs_create_file("sleep", 0200, directory, NULL, &sleep_fops);
	debugfs_create_file_unsafe("wake", 0200, directory, NULL, &wake_fops);
	return 0;
}

static void __exit asl_exit(void)
{
	debugfs_remove_recursive(directory);
}

module_init(asl_init);
module_exit(asl_exit);

MODULE_DESCRIPTION("Functions in which tasks sleep, for the tests of argtrace");
MODULE_LICENSE("GPL");
