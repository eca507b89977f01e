// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two functions that return what they have computed of their arguments, for several tracers at once; a user of ftrace that has
 * one of them go elsewhere, as a live patch does; and one in which tasks sleep. In debugfs:
 *
 *   argtrace_neighbours/call    write N: each of both is called N times, here; see neighbours.h
 *   argtrace_neighbours/wrong   read: how often they have returned anything else
 *   argtrace_neighbours/divert  write 1: an_value() goes on in another function; 2: likewise, by somebody who asks for all registers;
 *                               0: no more
 *   argtrace_neighbours/patch   the same of the system call getpgid
 *   argtrace_neighbours/sleep   write N: sleeps for N milliseconds in an_sleep(), or until a signal comes
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "compat.h"
#include "neighbours.h"

#define AN __attribute__((__noipa__))

#ifdef CONFIG_ARM64
#define AN_SYSCALL(name) "__arm64_sys_" name
#else
#define AN_SYSCALL(name) "__x64_sys_" name
#endif

AN u64 an_value(u64 a, u64 b);
AN u64 an_value(u64 a, u64 b)
{
	return an_mix(an_mix(0, a), b);
}

AN u64 an_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h);
AN u64 an_many(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h)
{
	return an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(an_mix(0, a), b), c), d), e), f), g), h);
}

AN u64 an_diverted(u64 a, u64 b);
AN u64 an_diverted(u64 a, u64 b)
{
	return ~an_mix(an_mix(0, a), b);
}

AN unsigned long an_sleep(unsigned int ms);
AN unsigned long an_sleep(unsigned int ms)
{
	return msleep_interruptible(ms);
}

/* Variadic, as printk() is: where the arguments are that a call passes on the stack, nobody knows but the call. */
AN u64 an_variadic(u64 count, ...);
AN u64 an_variadic(u64 count, ...)
{
	va_list list;
	u64 sum = 0;

	va_start(list, count);
	while (count--)
		sum = an_mix(sum, va_arg(list, u64));
	va_end(list);
	return sum;
}

/* In place of the system call, whose arguments it is given as that is. */
AN long an_getpgid(const struct pt_regs *regs);
AN long an_getpgid(const struct pt_regs *regs)
{
	return AN_GETPGID + (pid_t)regs_get_kernel_argument((struct pt_regs *)regs, 0);
}

/* Another function for one that somebody may call. */
struct diversion {
	struct ftrace_ops ops;
	char *from;
	unsigned long to;
	u64 how; /* 0: none */
};

static DEFINE_MUTEX(lock);
static u64 wrong;
static struct diversion value_diversion = { .from = "an_value", .to = (unsigned long)an_diverted };
static struct diversion getpgid_diversion = { .from = AN_SYSCALL("getpgid"), .to = (unsigned long)an_getpgid };

static void check(u64 result, u64 expected)
{
	if (result != expected)
		wrong++;
}

static void call_all(u64 c)
{
	u64 (*volatile value)(u64, u64) = an_value;
	u64 (*volatile many)(u64, u64, u64, u64, u64, u64, u64, u64) = an_many;
	u64 (*volatile variadic)(u64, ...) = an_variadic;
	const u64 expected = an_result(c, AN_VALUE_ARGS);
	u64 a[AN_MANY_ARGS];
	unsigned int k;

	for (k = 0; k < AN_MANY_ARGS; k++)
		a[k] = an_argument(c, k);
	check(value(a[0], a[1]), value_diversion.how ? ~expected : expected);
	check(many(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]), an_result(c, AN_MANY_ARGS));
	check(variadic(AN_MANY_ARGS, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]), an_result(c, AN_MANY_ARGS));
}

static int call_set(void *data, u64 count)
{
	u64 c;

	mutex_lock(&lock);
	for (c = 0; c < count; c++) {
		call_all(c);
		cond_resched();
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(call_fops, NULL, call_set, "%llu\n");

static int wrong_get(void *data, u64 *count)
{
	*count = wrong;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(wrong_fops, wrong_get, NULL, "%llu\n");

static void notrace divert(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	an_set_instruction_pointer(fregs, container_of(ops, struct diversion, ops)->to);
}

static int stop_diverting(struct diversion *diversion)
{
	int ret = 0;

	if (diversion->how) {
		ret = unregister_ftrace_function(&diversion->ops);
		ftrace_free_filter(&diversion->ops);
	}
	diversion->how = 0;
	return ret;
}

static int start_diverting(struct diversion *diversion, u64 how)
{
	int ret;

	diversion->ops = (struct ftrace_ops){
		.func = divert,
		.flags = FTRACE_OPS_FL_IPMODIFY | (how == 2 ? FTRACE_OPS_FL_SAVE_REGS : 0),
	};
	ret = ftrace_set_filter(&diversion->ops, (unsigned char *)diversion->from, strlen(diversion->from), 1);
	if (!ret)
		ret = register_ftrace_function(&diversion->ops);
	if (ret)
		ftrace_free_filter(&diversion->ops);
	else
		diversion->how = how;
	return ret;
}

static int divert_set(void *data, u64 how)
{
	int ret;

	mutex_lock(&lock);
	ret = stop_diverting(data);
	if (!ret && how)
		ret = start_diverting(data, how);
	mutex_unlock(&lock);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(divert_fops, NULL, divert_set, "%llu\n");

static int sleep_set(void *data, u64 ms)
{
	unsigned long (*volatile function)(unsigned int) = an_sleep;

	function(ms);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(sleep_fops, NULL, sleep_set, "%llu\n");

static struct dentry *directory;

static int __init an_init(void)
{
	directory = debugfs_create_dir("argtrace_neighbours", NULL);
	debugfs_create_file_unsafe("call", 0200, directory, NULL, &call_fops);
	debugfs_create_file_unsafe("wrong", 0400, directory, NULL, &wrong_fops);
	debugfs_create_file_unsafe("divert", 0200, directory, &value_diversion, &divert_fops);
	debugfs_create_file_unsafe("patch", 0200, directory, &getpgid_diversion, &divert_fops);
	/* Each with a count of the module's users: it must not go while somebody sleeps. */
	debugfs_create_file("sleep", 0200, directory, NULL, &sleep_fops);
	return 0;
}

static void __exit an_exit(void)
{
	debugfs_remove_recursive(directory);
	stop_diverting(&value_diversion);
	stop_diverting(&getpgid_diversion);
}

module_init(an_init);
module_exit(an_exit);

MODULE_DESCRIPTION("Functions for several tracers at once, for the tests of argtrace");
MODULE_LICENSE("GPL");
