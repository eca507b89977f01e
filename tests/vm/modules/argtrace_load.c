// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that are called on all CPUs at once, in processes, interrupts and NMIs, which nest in
 * one another. The module counts the calls itself. In debugfs:
 *
 *   argtrace_load/run    write "CALLS PERIOD BURST NMIS NMI_BURST": on every CPU al_process() is
 *                        called CALLS times, while a timer calls al_interrupt() BURST times
 *                        every PERIOD ns, and every NMIS calls (0: never) an NMI on that CPU
 *                        calls al_nmi() NMI_BURST times. Ends when all is done. EOPNOTSUPP: NMIs
 *                        were wanted of a machine on which modules have none
 *   argtrace_load/call   write a count: al_writer() is called that often by whoever writes
 *   argtrace_load/calls  read: how often they have been called, in this order
 *
 * The first argument counts the calls of that function on that CPU from 0, the second is its
 * complement, the third the CPU.
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "nmi.h"

/* noipa: gcc makes no clone, drops no argument and merges no calls. */
#define AL(name) \
	__attribute__((__noipa__)) void al_##name(u64 number, u64 complement, u64 cpu); \
	__attribute__((__noipa__)) void al_##name(u64 number, u64 complement, u64 cpu) { barrier(); }
AL(process)
AL(interrupt)
AL(nmi)
AL(writer)

struct al_cpu {
	struct work_struct work;
	struct hrtimer timer;
	bool nmi_sent;
	u64 process, interrupt, nmi, writer;	/* calls; each is changed in one context only */
};

static DEFINE_PER_CPU(struct al_cpu, cpus);
static DEFINE_MUTEX(run_lock);
static u32 run_calls, run_period, run_burst, run_nmis, run_nmi_burst;

static bool at_on_nmi(void)
{
	struct al_cpu *own = this_cpu_ptr(&cpus);
	u64 cpu = raw_smp_processor_id();
	u32 i;

	if (!READ_ONCE(own->nmi_sent))
		return false;
	WRITE_ONCE(own->nmi_sent, false);
	for (i = 0; i < run_nmi_burst; i++, own->nmi++)
		al_nmi(own->nmi, ~own->nmi, cpu);
	return true;
}

static enum hrtimer_restart on_tick(struct hrtimer *timer)
{
	struct al_cpu *own = this_cpu_ptr(&cpus);
	u64 cpu = raw_smp_processor_id();
	u32 i;

	for (i = 0; i < run_burst; i++, own->interrupt++)
		al_interrupt(own->interrupt, ~own->interrupt, cpu);
	hrtimer_forward_now(timer, ns_to_ktime(run_period));
	return HRTIMER_RESTART;
}

static void run_work(struct work_struct *work)
{
	struct al_cpu *own = container_of(work, struct al_cpu, work);
	u64 cpu = raw_smp_processor_id();
	u32 i;

	if (run_period)
		hrtimer_start(&own->timer, ns_to_ktime(run_period), HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < run_calls; i++, own->process++) {
		if (run_nmis && i % run_nmis == 0) {
			WRITE_ONCE(own->nmi_sent, true);
			at_nmi_send(cpu);
		}
		al_process(own->process, ~own->process, cpu);
		cond_resched();
	}
	hrtimer_cancel(&own->timer);
	/* It comes within microseconds, however it is emulated. */
	while (READ_ONCE(own->nmi_sent))
		cond_resched();
}

static ssize_t run_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char text[80];
	int cpu;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = '\0';
	mutex_lock(&run_lock);
	if (sscanf(text, "%u %u %u %u %u", &run_calls, &run_period, &run_burst, &run_nmis,
		   &run_nmi_burst) != 5) {
		mutex_unlock(&run_lock);
		return -EINVAL;
	}
	if (run_nmis && !AT_HAS_NMIS) {
		mutex_unlock(&run_lock);
		return -EOPNOTSUPP;
	}
	cpus_read_lock();
	for_each_online_cpu(cpu)
		queue_work_on(cpu, system_highpri_wq, &per_cpu_ptr(&cpus, cpu)->work);
	for_each_online_cpu(cpu)
		flush_work(&per_cpu_ptr(&cpus, cpu)->work);
	cpus_read_unlock();
	mutex_unlock(&run_lock);
	return count;
}

static const struct file_operations run_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= run_write,
};

static ssize_t call_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	u32 calls;
	int ret;

	ret = kstrtou32_from_user(from, count, 0, &calls);
	if (ret)
		return ret;
	while (calls--) {
		struct al_cpu *own = get_cpu_ptr(&cpus);

		al_writer(own->writer, ~own->writer, raw_smp_processor_id());
		own->writer++;
		put_cpu_ptr(&cpus);
	}
	return count;
}

static const struct file_operations call_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= call_write,
};

static int calls_show(struct seq_file *file, void *data)
{
	u64 process = 0, interrupt = 0, nmi = 0, writer = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct al_cpu *one = per_cpu_ptr(&cpus, cpu);

		process += one->process;
		interrupt += one->interrupt;
		nmi += one->nmi;
		writer += one->writer;
	}
	seq_printf(file, "%llu %llu %llu %llu\n", process, interrupt, nmi, writer);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(calls);

static struct dentry *directory;

static int __init al_init(void)
{
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		struct al_cpu *one = per_cpu_ptr(&cpus, cpu);

		INIT_WORK(&one->work, run_work);
		at_hrtimer_setup(&one->timer, on_tick, CLOCK_MONOTONIC,
				 HRTIMER_MODE_REL_PINNED_HARD);
	}
	ret = at_nmi_register();
	if (ret)
		return ret;
	directory = debugfs_create_dir("argtrace_load", NULL);
	debugfs_create_file("run", 0200, directory, NULL, &run_fops);
	debugfs_create_file("call", 0200, directory, NULL, &call_fops);
	debugfs_create_file("calls", 0400, directory, NULL, &calls_fops);
	return 0;
}

static void __exit al_exit(void)
{
	debugfs_remove_recursive(directory);
	at_nmi_unregister();
}

module_init(al_init);
module_exit(al_exit);

MODULE_DESCRIPTION("Nested calls on all CPUs, counted, for the tests of argtrace");
MODULE_LICENSE("GPL");
