// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks the stacks of calls, and of what the ticks of a timer interrupt, as argtrace does, and as stack_trace_save() does, and compares.
 * In debugfs:
 *
 *   argtrace_stacks/trace       write globs with spaces between them: from now on calls of these functions; nothing: of none
 *   argtrace_stacks/every       write a number: one call in so many, on each CPU
 *   argtrace_stacks/tick        write a number: from now on so many ticks a second on each CPU; 0: none
 *   argtrace_stacks/first, argtrace_stacks/last  write two addresses: stacks with one of those between them are counted
 *   argtrace_stacks/counts      read: numbers and what they count, one a line; see counts_show()
 *   argtrace_stacks/difference  read: the first two stacks that differed
 *
 * What walks is argtrace's own source, in a module of its own so that nothing of this is in argtrace.
 */
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "../../../kmod/base/compat.h"
#include "../../../kmod/base/recursion.c"
#include "../../../kmod/base/memory.h"
#ifdef CONFIG_ARM64
#include "../../../kmod/base/kernel_calls.c"
#include "../../../kmod/arch/arm64/walk.c"
#else
#include "../../../kmod/arch/x86/frame.c"
#include "../../../kmod/arch/x86/walk.c"
#endif

/* What argtrace's memory.c would do: nothing is limited here. */
int argtrace_memory_charge(u64 bytes)
{
	return 0;
}

void argtrace_memory_uncharge(u64 bytes)
{
}

u64 argtrace_kvmalloc_size(u64 bytes)
{
	return bytes;
}

#define TRUTH_WORDS		(ARGTRACE_STACK_DEPTH_MAX + 40)	/* with the frames of this module and of ftrace */
#define LEVELS		4				/* process, softirq, interrupt, NMI */

enum count {
	OF_SAME, OF_DIFFERENT, OF_UNKNOWN, BY_UNWINDER, OF_FRAMES, OF_CUT, IN_PROCESS, IN_SOFTIRQ, IN_INTERRUPT, IN_NMI,
	OF_LOOKED_FOR, COUNTS,
};

struct as_cpu {
	u64 counts[COUNTS];
	u32 left;
	struct as_level {
		bool busy;
		struct argtrace_stack_room room;
		unsigned long words[TRUTH_WORDS];
	} levels[LEVELS];
};

static struct as_cpu __percpu *cpus;
static u32 every = 1;
static u64 first = U64_MAX, last;
static DEFINE_MUTEX(control_lock);
static bool tracing;

/* Set by whoever describes the first difference. */
static atomic_t difference_taken;
static char difference[4096];

static void tell_difference(const unsigned long *truth, u32 truth_count, const struct argtrace_walked *walked,
			    const struct argtrace_stack_room *room, unsigned long ip)
{
	int at, i;

	if (atomic_xchg(&difference_taken, 1))
		return;
	at = scnprintf(difference, sizeof(difference), "%ps: %u, walked %u, end %u:\n", (void *)ip, truth_count, walked->count,
		       walked->end);
	for (i = 0; i < max(truth_count, walked->count); i++)
		at += scnprintf(difference + at, sizeof(difference) - at, "%pS  %pS\n",
				i < truth_count ? (void *)truth[i] : NULL, i < walked->count ? (void *)room->frames[i] : NULL);
}

/* The part of what the kernel tells that begins with an address. */
struct as_truth {
	const unsigned long *words;
	u32 count;
};

static struct as_truth find_truth(struct as_level *level, unsigned long first)
{
	struct as_truth truth = { level->words, stack_trace_save(level->words, TRUTH_WORDS, 0) };

	while (truth.count && *truth.words != first)
		truth.words++, truth.count--;
	return truth;
}

/* `context` is one of IN_PROCESS and what follows it. */
static void judge(struct as_cpu *own, const struct as_level *level, struct as_truth truth, const struct argtrace_walked *walked,
		  unsigned long ip, enum count context)
{
	bool looked_for = false;
	u64 hash = 0;
	u32 i;

	/*
	 * The kernel does not know the stack, or not the way from here: it knows no trampoline of ftrace's that is about to go, or
	 * begins on a stack that is not the current task's, in the middle of a switch.
	 */
	if (!truth.count) {
		own->counts[OF_UNKNOWN]++;
		return;
	}
	for (i = 0; i < min(truth.count, walked->count); i++) {
		if (truth.words[i] != level->room.frames[i])
			break;
		hash = argtrace_stack_hash(hash, truth.words[i]);
		looked_for |= truth.words[i] >= READ_ONCE(first) && truth.words[i] <= READ_ONCE(last);
	}
	if (i == walked->count && hash == walked->hash && walked->end == (truth.count > i ? ARGTRACE_WALK_CUT : ARGTRACE_WALK_WHOLE) &&
	    (truth.count == i || i == ARGTRACE_STACK_DEPTH_MAX)) {
		own->counts[OF_SAME]++;
		own->counts[OF_FRAMES] += i;
		own->counts[OF_CUT] += truth.count > i;
		own->counts[OF_LOOKED_FOR] += looked_for;
		own->counts[context]++;
		return;
	}
	own->counts[OF_DIFFERENT]++;
	tell_difference(truth.words, truth.count, walked, &level->room, ip);
}

/* As argtrace_stack_walk_on(), but counts when the kernel's unwinder is asked. */
static void walk_rest(struct as_cpu *own, const struct argtrace_stack_start *start, struct argtrace_stack_room *room,
		      struct argtrace_walked *walked)
{
#ifdef CONFIG_ARM64
	argtrace_stack_walk_on(start, room, ARGTRACE_STACK_DEPTH_MAX, walked);
	if (walked->end == ARGTRACE_WALK_UNKNOWN)
		walked->count = 0;
#else
	if (walk_on(room, ARGTRACE_STACK_DEPTH_MAX, walked))
		return;
	argtrace_stack_unwind(start, room, ARGTRACE_STACK_DEPTH_MAX, walked);
	own->counts[BY_UNWINDER]++;
#endif
}

static void compare_call(struct as_cpu *own, struct as_level *level, unsigned long ip, const struct argtrace_regs *regs)
{
	const struct argtrace_stack_start start = {
		argtrace_regs_return_slot(regs), *(const u64 *)((const u8 *)regs + argtrace_bp_place(false)),
	};
	struct as_truth truth = find_truth(level, ip + MCOUNT_INSN_SIZE);
	struct argtrace_walked walked = { .end = ARGTRACE_WALK_WHOLE };

	/* From the traced function on, which ftrace returns to. */
	truth.words += !!truth.count;
	truth.count -= !!truth.count;
	walked.count = argtrace_stack_walk_quickly(start.sp, start.bp, &level->room, ARGTRACE_STACK_DEPTH_MAX, &walked.hash);
	if (!walked.count)
		walk_rest(own, &start, &level->room, &walked);
	judge(own, level, truth, &walked, ip, IN_PROCESS + interrupt_context_level());
}

static void compare_tick(struct as_cpu *own, struct as_level *level, const struct argtrace_regs *regs)
{
	const struct argtrace_stack_start start = { .regs = regs };
	const struct as_truth truth = find_truth(level, argtrace_regs_ip(regs));
	struct argtrace_walked walked = { .end = ARGTRACE_WALK_WHOLE };

	walked.count = argtrace_stack_walk_interrupted_quickly(regs, &level->room, ARGTRACE_STACK_DEPTH_MAX, &walked.hash);
	if (!walked.count)
		walk_rest(own, &start, &level->room, &walked);
	judge(own, level, truth, &walked, argtrace_regs_ip(regs), in_serving_softirq() ? IN_SOFTIRQ : IN_PROCESS);
}

static void on_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct as_cpu *own;
	struct as_level *level;

	preempt_disable_notrace();
	own = this_cpu_ptr(cpus);
	level = &own->levels[interrupt_context_level()];
	/* Both unwinders call functions that are traced. */
	if (!level->busy && own->left-- <= 1) {
		level->busy = true;
		barrier();
		own->left = READ_ONCE(every);
		compare_call(own, level, ip, argtrace_regs_of_ftrace(fregs));
		barrier();
		level->busy = false;
	}
	preempt_enable_notrace();
}

static struct ftrace_ops ops;

static void stop(void)
{
	if (!tracing)
		return;
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
	argtrace_synchronize();
	tracing = false;
}

static int start_tracing(char *globs)
{
	char *glob;
	int ret;

	memset(&ops, 0, sizeof(ops));
	ops.func = on_call;
	while ((glob = strsep(&globs, " \n"))) {
		if (*glob)
			ftrace_set_filter(&ops, glob, strlen(glob), 0);
	}
	ret = register_ftrace_function(&ops);
	if (ret)
		ftrace_free_filter(&ops);
	tracing = !ret;
	return ret;
}

static struct perf_event * __percpu *ticks;

static void on_tick(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct as_cpu *own = this_cpu_ptr(cpus);
	struct as_level *level = &own->levels[interrupt_context_level()];

	if (user_mode(regs) || level->busy)
		return;
	level->busy = true;
	barrier();
	compare_tick(own, level, argtrace_regs_of_full(regs));
	barrier();
	level->busy = false;
}

static void stop_ticks(void)
{
	struct perf_event **event;
	int cpu;

	for_each_possible_cpu(cpu) {
		event = per_cpu_ptr(ticks, cpu);
		if (*event)
			perf_event_release_kernel(*event);
		*event = NULL;
	}
}

static int start_ticks(u64 frequency)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .size = sizeof(attr), .sample_freq = frequency, .freq = 1,
	};
	struct perf_event *event;
	int cpu;

	/* CPUs neither come nor go while this module is there. */
	for_each_online_cpu(cpu) {
		event = perf_event_create_kernel_counter(&attr, cpu, NULL, on_tick, NULL);
		if (IS_ERR(event))
			return PTR_ERR(event);
		*per_cpu_ptr(ticks, cpu) = event;
	}
	return 0;
}

static int tick_set(void *data, u64 frequency)
{
	int ret = 0;

	mutex_lock(&control_lock);
	stop_ticks();
	if (frequency)
		ret = start_ticks(frequency);
	mutex_unlock(&control_lock);
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(tick_fops, NULL, tick_set, "%llu\n");

static ssize_t trace_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	char *globs = memdup_user_nul(from, count);
	int ret = 0;

	if (IS_ERR(globs))
		return PTR_ERR(globs);
	mutex_lock(&control_lock);
	stop();
	if (strspn(globs, " \n") != strlen(globs))
		ret = start_tracing(globs);
	mutex_unlock(&control_lock);
	kfree(globs);
	return ret ?: count;
}

static const struct file_operations trace_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= trace_write,
};

static int counts_show(struct seq_file *file, void *data)
{
	static const char *const names[COUNTS] = {
		"same", "different", "unknown to the kernel", "by the unwinder", "frames", "cut", "in processes", "in softirqs",
		"in interrupts", "in NMIs", "through what is looked for",
	};
	u64 sum;
	int cpu, i;

	for (i = 0; i < COUNTS; i++) {
		sum = 0;
		for_each_possible_cpu(cpu)
			sum += per_cpu_ptr(cpus, cpu)->counts[i];
		seq_printf(file, "%llu %s\n", sum, names[i]);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counts);

static int difference_show(struct seq_file *file, void *data)
{
	seq_puts(file, difference);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(difference);

static int on_module(struct notifier_block *block, unsigned long event, void *data)
{
	argtrace_frames_forget(data, event == MODULE_STATE_LIVE);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = { .notifier_call = on_module };
static struct dentry *directory;

static int __init as_init(void)
{
	int ret;

	cpus = alloc_percpu(struct as_cpu);
	ticks = alloc_percpu(struct perf_event *);
	ret = cpus && ticks ? argtrace_frames_get() : -ENOMEM;
	if (!ret)
		ret = register_module_notifier(&module_notifier);
	if (ret) {
		free_percpu(ticks);
		free_percpu(cpus);
		return ret;
	}
	directory = debugfs_create_dir("argtrace_stacks", NULL);
	debugfs_create_file("trace", 0200, directory, NULL, &trace_fops);
	debugfs_create_file_unsafe("tick", 0200, directory, NULL, &tick_fops);
	debugfs_create_u32("every", 0600, directory, &every);
	debugfs_create_u64("first", 0600, directory, &first);
	debugfs_create_u64("last", 0600, directory, &last);
	debugfs_create_file("counts", 0400, directory, NULL, &counts_fops);
	debugfs_create_file("difference", 0400, directory, NULL, &difference_fops);
	return 0;
}

static void __exit as_exit(void)
{
	debugfs_remove_recursive(directory);
	stop();
	stop_ticks();
	unregister_module_notifier(&module_notifier);
	argtrace_frames_put();
	free_percpu(ticks);
	free_percpu(cpus);
}

module_init(as_init);
module_exit(as_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Compares the stacks that argtrace walks with those of the kernel");
