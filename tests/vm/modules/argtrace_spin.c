// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spends known shares of time in functions. In debugfs:
 *
 *   argtrace_spin/run   write a number of milliseconds: for so long the writer is in asp_quarter() for a quarter of its time and in
 *                       asp_rest() for the rest
 */
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

/* So many that the clock, which an emulated processor takes long to read, is read seldom. */
#define PART	100000

/*
 * Rounds of a loop, not time: whatever the processor does meanwhile takes as much of both as they have. Not to be merged, though they
 * are the same.
 */
#define DEFINE_SPIN(name)								\
__attribute__((__noipa__)) u32 name(u32 value, u32 rounds);				\
__attribute__((__noipa__)) u32 name(u32 value, u32 rounds)				\
{											\
	while (rounds--) {								\
		value = value * 1664525 + 1013904223;					\
		OPTIMIZER_HIDE_VAR(value);						\
	}										\
	return value;									\
}

DEFINE_SPIN(asp_quarter)
DEFINE_SPIN(asp_rest)

/* Between the two and debugfs, so that the stack is known as well. */
__attribute__((__noipa__)) u32 asp_run(u64 ms);
__attribute__((__noipa__)) u32 asp_run(u64 ms)
{
	const u64 end = ktime_get_ns() + ms * NSEC_PER_MSEC;
	u32 value = 0;

	while (ktime_get_ns() < end && !fatal_signal_pending(current)) {
		value = asp_quarter(value, PART);
		value = asp_rest(value, 3 * PART);
		cond_resched();
	}
	return value;
}

static int run(void *data, u64 ms)
{
	asp_run(ms);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(run_fops, NULL, run, "%llu\n");

static struct dentry *directory;

static int __init asp_init(void)
{
	directory = debugfs_create_dir("argtrace_spin", NULL);
	debugfs_create_file("run", 0200, directory, NULL, &run_fops);
	return 0;
}

static void __exit asp_exit(void)
{
	debugfs_remove_recursive(directory);
}

module_init(asp_init);
module_exit(asp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Spends known shares of time in functions");
