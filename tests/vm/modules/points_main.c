// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes the tracepoints of points.h with known values, at load and by debugfs:
 *
 *   at load                at_empty once, with -1
 *   argtrace_points/pass   write N: each of the others N times, in process context and with interrupts off in turns
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "points.h"

static struct dentry *folder;

static noinline void pass(u64 n)
{
	static const enum point_colour colours[] = { POINT_RED, POINT_GREEN, POINT_BLUE };
	const struct point_pair one = { -(s16)n, n }, other = { n, S64_MAX - (s64)n };

	trace_at_point(n, -(s64)n, 0xff00 + n, -0x7f00 - (s64)n, 0xfffffff0 + n, -(s64)n, ~n, S64_MIN + (s64)n, n & 1, n & 1 ? "odd" : "even",
		       INT_MAX - (int)n, n * 0x0101010101010101);
	trace_at_stack(colours[n % 3], &one, LONG_MIN + (long)n, n & 1, ~n, 0xf0 + n, -0x70 - (s64)n, 0xfff0 + n, -0x7ff0 - (s64)n,
		       colours[(n + 1) % 3], &other, -(long)n);
	trace_at_empty(n);
}

static ssize_t pass_write(struct file *file, const char __user *text, size_t length, loff_t *position)
{
	unsigned long count, flags, n;
	int ret = kstrtoul_from_user(text, length, 0, &count);

	if (ret)
		return ret;
	for (n = 0; n < count; n++) {
		if (n & 1)
			local_irq_save(flags);
		pass(n);
		if (n & 1)
			local_irq_restore(flags);
	}
	return length;
}

static const struct file_operations pass_operations = { .owner = THIS_MODULE, .write = pass_write };

static int __init points_init(void)
{
	folder = debugfs_create_dir("argtrace_points", NULL);
	debugfs_create_file("pass", 0200, folder, NULL, &pass_operations);
	trace_at_empty(-1);
	return 0;
}
module_init(points_init);

static void __exit points_exit(void)
{
	debugfs_remove(folder);
	/* A probe that was unregistered a moment ago may still be at work in here. */
	tracepoint_synchronize_unregister();
}
module_exit(points_exit);

MODULE_DESCRIPTION("argtrace test: tracepoints with known values");
MODULE_VERSION("1"); /* with one, modpost adds a srcversion */
MODULE_LICENSE("GPL");
