// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's part of the measurements. It knows nothing of argtrace.
 *
 *   parameters/empty     1: vfs_read has an ftrace_ops whose callback does nothing: the floor
 *   parameters/empty_tracepoint  1: likewise a probe of the tracepoint task_rename that does nothing
 *   parameters/ticks     so many times a second a perf event of the CPU clock calls a handler that does nothing, on this processor: the
 *                        floor; 0: none
 *   parameters/empty_uprobe  written: a path and an offset in that file, where a uprobe does nothing: the floor; "-": there is none
 *   parameters/spin      written: goes round a loop so often
 *   parameters/context   where the following makes its calls: the name of one of contexts[]
 *   parameters/median    written: calls the function of that many arguments in batches; read: the
 *                        median batch's cost of a call, in hundredths of what counter.h counts
 *   /dev/argtrace_bench  as long as it is open, the functions whose addresses (u64) have been
 *                        written to it have such an ftrace_ops
 */
#include <linux/ftrace.h>
#include <linux/irq_work.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/namei.h>
#include <linux/perf_event.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>

#include "counter.h"

#define CALLS	200
#define BATCHES	150

typedef unsigned long word;

#define TARGET static __attribute__((__noipa__))

TARGET void bench_args_0(void) { }
TARGET void bench_args_1(word a) { }
TARGET void bench_args_2(word a, word b) { }
TARGET void bench_args_3(word a, word b, word c) { }
TARGET void bench_args_4(word a, word b, word c, word d) { }
TARGET void bench_args_5(word a, word b, word c, word d, word e) { }
TARGET void bench_args_6(word a, word b, word c, word d, word e, word f) { }
TARGET void bench_args_7(word a, word b, word c, word d, word e, word f, word g) { }
TARGET void bench_args_8(word a, word b, word c, word d, word e, word f, word g, word h) { }
TARGET void bench_args_9(word a, word b, word c, word d, word e, word f, word g, word h, word i) { }

static __always_inline void call(unsigned int args)
{
	switch (args) {
	case 0: return bench_args_0();
	case 1: return bench_args_1(1);
	case 2: return bench_args_2(1, 2);
	case 3: return bench_args_3(1, 2, 3);
	case 4: return bench_args_4(1, 2, 3, 4);
	case 5: return bench_args_5(1, 2, 3, 4, 5);
	case 6: return bench_args_6(1, 2, 3, 4, 5, 6);
	case 7: return bench_args_7(1, 2, 3, 4, 5, 6, 7);
	case 8: return bench_args_8(1, 2, 3, 4, 5, 6, 7, 8);
	default: return bench_args_9(1, 2, 3, 4, 5, 6, 7, 8, 9);
	}
}

static __always_inline u64 batch(unsigned int args)
{
	const u64 start = count_now();
	unsigned int k;

	for (k = 0; k < CALLS; k++)
		call(args);
	return count_now() - start;
}

static struct {
	struct irq_work work;
	unsigned int args;
	u64 took;
} interrupt;

static void interrupt_handler(struct irq_work *work)
{
	interrupt.took = batch(interrupt.args);
}

static notrace u64 batch_in_an_interrupt(unsigned int args)
{
	interrupt.args = args;
	irq_work_queue(&interrupt.work);
	irq_work_sync(&interrupt.work);
	return interrupt.took;
}

enum { TASK, PREEMPTION_OFF, BOTTOM_HALVES_OFF, INTERRUPTS_OFF, INTERRUPT };

static const char *const contexts[] = {
	[TASK] = "task",
	[PREEMPTION_OFF] = "preemption_off",
	[BOTTOM_HALVES_OFF] = "bottom_halves_off",
	[INTERRUPTS_OFF] = "interrupts_off",
	[INTERRUPT] = "interrupt",
};

static int context;

static notrace u64 batch_in_context(unsigned int args)
{
	u64 took;

	switch (context) {
	case PREEMPTION_OFF: preempt_disable(); break;
	case BOTTOM_HALVES_OFF: local_bh_disable(); break;
	case INTERRUPTS_OFF: local_irq_disable(); break;
	case INTERRUPT: return batch_in_an_interrupt(args);
	}
	took = batch(args);
	switch (context) {
	case PREEMPTION_OFF: preempt_enable(); break;
	case BOTTOM_HALVES_OFF: local_bh_enable(); break;
	case INTERRUPTS_OFF: local_irq_enable(); break;
	}
	return took;
}

static int context_set(const char *text, const struct kernel_param *param)
{
	int found = sysfs_match_string(contexts, text);

	if (found < 0)
		return found;
	context = found;
	return 0;
}

static const struct kernel_param_ops context_ops = {
	.set = context_set,
};
module_param_cb(context, &context_ops, NULL, 0200);

static unsigned int median;

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int median_set(const char *text, const struct kernel_param *param)
{
	static u64 took[BATCHES];
	unsigned int args, i;
	int ret = kstrtouint(text, 0, &args);

	if (ret)
		return ret;
	for (i = 0; i < BATCHES; i++) {
		/* A call while a reschedule is due is recorded as such, and costs more. */
		cond_resched();
		took[i] = batch_in_context(args);
	}
	sort(took, BATCHES, sizeof(*took), compare, NULL);
	median = took[BATCHES / 2] * 100 / CALLS;
	return 0;
}

static const struct kernel_param_ops median_ops = {
	.set = median_set,
	.get = param_get_uint,
};
module_param_cb(median, &median_ops, &median, 0600);

static void notrace nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
}

static struct ftrace_ops empty_ops = { .func = nothing };
static bool empty;

static int empty_set(const char *text, const struct kernel_param *param)
{
	char target[] = "vfs_read";
	bool wanted;
	int ret = kstrtobool(text, &wanted);

	if (ret || wanted == empty)
		return ret;
	if (wanted) {
		ret = ftrace_set_filter(&empty_ops, (unsigned char *)target, strlen(target), 1);
		if (!ret)
			ret = register_ftrace_function(&empty_ops);
	} else {
		ret = unregister_ftrace_function(&empty_ops);
	}
	if (!ret)
		empty = wanted;
	return ret;
}

static const struct kernel_param_ops empty_param_ops = {
	.set = empty_set,
	.get = param_get_bool,
};
module_param_cb(empty, &empty_param_ops, &empty, 0600);

static void notrace nothing_at_rename(void *data, struct task_struct *task, const char *comm)
{
}

static void note_rename(struct tracepoint *tracepoint, void *found)
{
	if (!strcmp(tracepoint->name, "task_rename"))
		*(struct tracepoint **)found = tracepoint;
}

static bool empty_tracepoint;

static int empty_tracepoint_set(const char *text, const struct kernel_param *param)
{
	struct tracepoint *rename = NULL;
	bool wanted;
	int ret = kstrtobool(text, &wanted);

	if (ret || wanted == empty_tracepoint)
		return ret;
	for_each_kernel_tracepoint(note_rename, &rename);
	if (!rename)
		return -ENOENT;
	if (wanted) {
		ret = tracepoint_probe_register(rename, nothing_at_rename, NULL);
	} else {
		ret = tracepoint_probe_unregister(rename, nothing_at_rename, NULL);
		tracepoint_synchronize_unregister();
	}
	if (!ret)
		empty_tracepoint = wanted;
	return ret;
}

static const struct kernel_param_ops empty_tracepoint_param_ops = {
	.set = empty_tracepoint_set,
	.get = param_get_bool,
};
module_param_cb(empty_tracepoint, &empty_tracepoint_param_ops, &empty_tracepoint, 0600);

/* A uprobe holds the inode. */
static struct inode *probed_inode;
static loff_t probed_offset;

#ifdef UPROBE_HANDLERS_TAKE_DATA
static int nothing_in_user_code(struct uprobe_consumer *consumer, struct pt_regs *regs, __u64 *data)
#else
static int nothing_in_user_code(struct uprobe_consumer *consumer, struct pt_regs *regs)
#endif
{
	return 0;
}

static struct uprobe_consumer empty_consumer = { .handler = nothing_in_user_code };

#ifdef UPROBES_ARE_HANDLES
static struct uprobe *probed;

static int set_uprobe(void)
{
	probed = uprobe_register(probed_inode, probed_offset, 0, &empty_consumer);
	return PTR_ERR_OR_ZERO(probed);
}

static void drop_uprobe(void)
{
	uprobe_unregister_nosync(probed, &empty_consumer);
	uprobe_unregister_sync();
}
#else
static int set_uprobe(void)
{
	return uprobe_register(probed_inode, probed_offset, &empty_consumer);
}

static void drop_uprobe(void)
{
	uprobe_unregister(probed_inode, probed_offset, &empty_consumer);
}
#endif

static void end_uprobe(void)
{
	if (probed_inode) {
		drop_uprobe();
		iput(probed_inode);
	}
	probed_inode = NULL;
}

static int empty_uprobe_set(const char *text, const struct kernel_param *param)
{
	char name[64];
	struct path path;
	int ret;

	end_uprobe();
	if (text[0] == '-')
		return 0;
	if (sscanf(text, "%63s %lld", name, &probed_offset) != 2)
		return -EINVAL;
	ret = kern_path(name, LOOKUP_FOLLOW, &path);
	if (ret)
		return ret;
	probed_inode = igrab(d_real_inode(path.dentry));
	path_put(&path);
	ret = set_uprobe();
	if (ret) {
		iput(probed_inode);
		probed_inode = NULL;
	}
	return ret;
}

static const struct kernel_param_ops empty_uprobe_param_ops = { .set = empty_uprobe_set };
module_param_cb(empty_uprobe, &empty_uprobe_param_ops, NULL, 0200);

static struct perf_event *ticking;

static void notrace nothing_at_tick(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
}

static void end_ticks(void)
{
	if (ticking)
		perf_event_release_kernel(ticking);
	ticking = NULL;
}

/* Writes to parameters of a module are made one after the other. */
static int ticks_set(const char *text, const struct kernel_param *param)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
	};
	struct perf_event *event;
	unsigned int frequency;
	int ret = kstrtouint(text, 0, &frequency);

	if (ret)
		return ret;
	end_ticks();
	if (!frequency)
		return 0;
	attr.sample_freq = frequency;
	event = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL, nothing_at_tick, NULL);
	if (IS_ERR(event))
		return PTR_ERR(event);
	ticking = event;
	return 0;
}

static const struct kernel_param_ops ticks_ops = {
	.set = ticks_set,
};
module_param_cb(ticks, &ticks_ops, NULL, 0200);

static int spin_set(const char *text, const struct kernel_param *param)
{
	unsigned int rounds;
	int ret = kstrtouint(text, 0, &rounds);

	while (!ret && rounds--)
		barrier();
	return ret;
}

static const struct kernel_param_ops spin_ops = {
	.set = spin_set,
};
module_param_cb(spin, &spin_ops, NULL, 0200);

static struct ftrace_ops many_ops = { .func = nothing };
static bool many;
static DEFINE_MUTEX(many_lock);

static ssize_t many_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	unsigned long *addrs = vmemdup_user(from, size);
	int ret;

	static_assert(sizeof(*addrs) == sizeof(u64));
	if (IS_ERR(addrs))
		return PTR_ERR(addrs);
	mutex_lock(&many_lock);
	ret = many ? -EBUSY : ftrace_set_filter_ips(&many_ops, addrs, size / sizeof(*addrs), 0, 1);
	if (!ret)
		ret = register_ftrace_function(&many_ops);
	many |= !ret;
	mutex_unlock(&many_lock);
	kvfree(addrs);
	return ret ? : size;
}

static int many_release(struct inode *inode, struct file *file)
{
	mutex_lock(&many_lock);
	if (many)
		unregister_ftrace_function(&many_ops);
	many = false;
	mutex_unlock(&many_lock);
	return 0;
}

static const struct file_operations many_fops = {
	.owner = THIS_MODULE,
	.write = many_write,
	.release = many_release,
};

static struct miscdevice many_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "argtrace_bench",
	.fops = &many_fops,
	.mode = 0600,
};

static int __init bench_init(void)
{
	init_irq_work(&interrupt.work, interrupt_handler);
	return misc_register(&many_device);
}

static void __exit bench_exit(void)
{
	misc_deregister(&many_device);
	end_ticks();
	end_uprobe();
	if (empty)
		unregister_ftrace_function(&empty_ops);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Targets and the floor for argtrace's measurements");
MODULE_LICENSE("GPL");
