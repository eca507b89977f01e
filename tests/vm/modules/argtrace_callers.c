// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function with callers that are known, how long one takes, and how often one fails: the ground truth of what is added up of them. In
 * debugfs:
 *
 *   argtrace_callers/run     write N: acl_called() is called N times by acl_once(), 2 N times by acl_twice(), and by acl_deep(), once below
 *                            each of N calls of itself; then N times in a softirq, in a hard interrupt and, where modules have them, in an NMI
 *   argtrace_callers/stacks  read: the stacks of these calls, as stack_trace_save() had them in acl_called() itself, since the last
 *                            write: how many calls had it, then its frames with tabs between them, the innermost first
 *   argtrace_callers/dump    write 1: acl_called() has the kernel log its stack as well, by dump_stack(); 0: no more
 *   argtrace_callers/spin    write "CALLS NS": acl_spin() is called so often, and takes at least NS nanoseconds each time
 *   argtrace_callers/fail    write N: acl_fail() is called 3 N times, of which N return -ENOENT
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "nmi.h"

/* noipa: gcc makes no clone, and merges no calls. */
#define ACL __attribute__((__noipa__))

#define STACKS	1024
#define FRAMES	200

struct acl_stack {
	u64 calls;
	unsigned int count;
	unsigned long frames[FRAMES];
};

/* One call at a time, whoever makes it: whoever writes waits for those that it has others make. */
static struct acl_stack *stacks, own;
static unsigned int stack_count;
static u64 not_kept;
static DEFINE_MUTEX(lock);
static bool dump_wanted;

static noinline void keep(void)
{
	struct acl_stack *one = stacks;

	if (READ_ONCE(dump_wanted))
		dump_stack();
	/* Without this function and acl_called(). */
	own.count = stack_trace_save(own.frames, FRAMES, 2);
	while (one != &stacks[stack_count] &&
	       (one->count != own.count || memcmp(one->frames, own.frames, own.count * sizeof(*own.frames))))
		one++;
	if (one == &stacks[STACKS]) {
		not_kept++;
		return;
	}
	if (one == &stacks[stack_count]) {
		*one = own;
		one->calls = 0;
		stack_count++;
	}
	one->calls++;
}

ACL void acl_called(u64 number);
ACL void acl_called(u64 number)
{
	keep();
	barrier();
}

ACL void acl_once(u64 number);
ACL void acl_once(u64 number)
{
	acl_called(number);
	barrier();
}

ACL void acl_twice(u64 number);
ACL void acl_twice(u64 number)
{
	acl_called(number);
	acl_called(number);
	barrier();
}

ACL void acl_deep(u64 depth);
ACL void acl_deep(u64 depth)
{
	if (depth)
		acl_deep(depth - 1);
	else
		acl_called(depth);
	barrier();
}

static struct hrtimer timer;
static struct irq_work interrupt;
static DECLARE_COMPLETION(timer_done);
static bool nmi_wanted;

ACL void acl_in_softirq(void);
ACL void acl_in_softirq(void)
{
	acl_called(0);
	barrier();
}

static enum hrtimer_restart on_timer(struct hrtimer *unused)
{
	acl_in_softirq();
	complete(&timer_done);
	return HRTIMER_NORESTART;
}

ACL void acl_in_interrupt(void);
ACL void acl_in_interrupt(void)
{
	acl_called(0);
	barrier();
}

static void on_interrupt(struct irq_work *unused)
{
	acl_in_interrupt();
}

ACL void acl_in_nmi(void);
ACL void acl_in_nmi(void)
{
	acl_called(0);
	barrier();
}

static int nmi_cpu;

static bool at_on_nmi(void)
{
	if (!READ_ONCE(nmi_wanted) || raw_smp_processor_id() != nmi_cpu)
		return false;
	acl_in_nmi();
	WRITE_ONCE(nmi_wanted, false);
	return true;
}

static void call_in_nmi(void)
{
	preempt_disable();
	nmi_cpu = smp_processor_id();
	WRITE_ONCE(nmi_wanted, true);
	at_nmi_send(nmi_cpu);
	/* It comes within microseconds, however it is emulated. */
	while (READ_ONCE(nmi_wanted))
		cpu_relax();
	preempt_enable();
}

static noinline void call_in_turn(u64 number)
{
	acl_once(number);
	acl_twice(number);
	acl_deep(number);
	hrtimer_start(&timer, 0, HRTIMER_MODE_REL_SOFT);
	wait_for_completion(&timer_done);
	irq_work_queue(&interrupt);
	irq_work_sync(&interrupt);
	if (AT_HAS_NMIS)
		call_in_nmi();
}

static int run_set(void *data, u64 count)
{
	u64 number;

	mutex_lock(&lock);
	stack_count = 0;
	not_kept = 0;
	for (number = 0; number < count; number++) {
		call_in_turn(number);
		cond_resched();
	}
	mutex_unlock(&lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(run_fops, NULL, run_set, "%llu\n");

static int stacks_show(struct seq_file *file, void *data)
{
	const struct acl_stack *one;
	unsigned int i;

	mutex_lock(&lock);
	for (one = stacks; one != &stacks[stack_count]; one++) {
		seq_printf(file, "%llu", one->calls);
		for (i = 0; i < one->count; i++)
			seq_printf(file, "\t%pS", (void *)one->frames[i]);
		seq_putc(file, '\n');
	}
	if (not_kept)
		seq_printf(file, "%llu not kept\n", not_kept);
	mutex_unlock(&lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stacks);

static int dump_set(void *data, u64 wanted)
{
	WRITE_ONCE(dump_wanted, wanted);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(dump_fops, NULL, dump_set, "%llu\n");

ACL void acl_spin(u64 ns);
ACL void acl_spin(u64 ns)
{
	const u64 begin = ktime_get_ns();

	while (ktime_get_ns() - begin < ns)
		cpu_relax();
}

static ssize_t spin_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char text[64] = "";
	u64 calls, ns;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	if (sscanf(text, "%llu %llu", &calls, &ns) != 2)
		return -EINVAL;
	while (calls--) {
		acl_spin(ns);
		cond_resched();
	}
	return count;
}

static const struct file_operations spin_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= spin_write,
};

ACL int acl_fail(u64 number);
ACL int acl_fail(u64 number)
{
	return number % 3 ? number : -ENOENT;
}

static int fail_set(void *data, u64 count)
{
	int (*volatile function)(u64) = acl_fail;
	u64 number;

	for (number = 0; number < 3 * count; number++)
		function(number);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(fail_fops, NULL, fail_set, "%llu\n");

static struct dentry *directory;

static int __init acl_init(void)
{
	int ret;

	stacks = kvcalloc(STACKS, sizeof(*stacks), GFP_KERNEL);
	if (!stacks)
		return -ENOMEM;
	at_hrtimer_setup(&timer, on_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	/* HARD: in the interrupt even where the kernel would make it a thread. */
	interrupt = IRQ_WORK_INIT_HARD(on_interrupt);
	ret = at_nmi_register();
	if (ret) {
		kvfree(stacks);
		return ret;
	}
	directory = debugfs_create_dir("argtrace_callers", NULL);
	debugfs_create_file_unsafe("run", 0200, directory, NULL, &run_fops);
	debugfs_create_file("stacks", 0400, directory, NULL, &stacks_fops);
	debugfs_create_file_unsafe("dump", 0200, directory, NULL, &dump_fops);
	debugfs_create_file("spin", 0200, directory, NULL, &spin_fops);
	debugfs_create_file_unsafe("fail", 0200, directory, NULL, &fail_fops);
	return 0;
}

static void __exit acl_exit(void)
{
	debugfs_remove_recursive(directory);
	at_nmi_unregister();
	hrtimer_cancel(&timer);
	kvfree(stacks);
}

module_init(acl_init);
module_exit(acl_exit);

MODULE_DESCRIPTION("Functions whose callers, durations and errors are known, for the tests of argtrace");
MODULE_LICENSE("GPL");
