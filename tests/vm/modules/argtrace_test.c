// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions with known prototypes, called with known values: the ground truth of the VM
 * tests. In debugfs:
 *
 *   argtrace_test/run    write N: on every CPU each function of calls.h is called N times
 *                        in process context and N times in hard interrupt context
 *   argtrace_test/awkward  write N: the functions of AT_AWKWARD are called N times, here
 *   argtrace_test/burst  write N: at_four() is called N times, here, as fast as it goes
 *   argtrace_test/storm  write N: the same while a timer interrupts that CPU and calls
 *                        at_two(); read: how often it has done so in all
 *   argtrace_test/absent   write N: the kernel takes CPU N, which is offline, for absent, as if it had yet to be plugged in
 *   argtrace_test/present  write N: it has been plugged in, and may be brought online
 */
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "calls.h"
#include "compat.h"

enum at_color { AT_RED, AT_GREEN, AT_BLUE };
enum at_level { AT_LOW = -1, AT_MIDDLE, AT_HIGH };
enum at_wide { AT_NARROW = 1, AT_WIDE = 0x100000000000ull };
typedef u32 at_handle_t;
typedef int (*at_handler_t)(void *);

typedef __int128 at_s128_t;

struct at_object {
	int id;
};

struct at_small {
	u8 tag;
	bool on;
	u16 port;
	s32 delta;
};

struct at_pair {
	u32 low;
	enum at_color color;
	s64 high;
};

struct at_large {
	u64 first;
	struct {
		u16 a, b;
	} inner;
	char text[4];
	u32 bits : 5;
	s32 more : 7;
	u32 last;
};

/* noipa: gcc makes no clone, drops no argument and merges no calls. External: each keeps its own symbol. */
#define AT(result, name, returns, ...) \
	__attribute__((__noipa__)) result at_##name(__VA_ARGS__); \
	__attribute__((__noipa__)) result at_##name(__VA_ARGS__) { barrier(); return returns; }
#define F0(n)							AT(void, n, , void)
#define F1(n, a, ka, A)						AT(a, n, A, a A)
#define F2(n, a, ka, A, b, kb, B)				AT(b, n, B, a A, b B)
#define F3(n, a, ka, A, b, kb, B, c, kc, C)			AT(c, n, C, a A, b B, c C)
#define F4(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D)		AT(d, n, D, a A, b B, c C, d D)
#define F5(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E)	AT(e, n, E, a A, b B, c C, d D, e E)
#define F6(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E, f, kf, F) \
	AT(f, n, F, a A, b B, c C, d D, e E, f F)
AT_CALLS(F0, F1, F2, F3, F4, F5, F6)
#undef F0
#undef F1
#undef F2
#undef F3
#undef F4
#undef F5
#undef F6

/* Called through pointers of another type, so that whole registers can be passed. */
typedef void (*at_raw_t)(u64, u64, u64, u64, u64, u64);

struct at_call {
	void *function;
	const char *kinds;
};

#define F0(n)							{ (void *)at_##n, "" },
#define F1(n, a, ka, A)						{ (void *)at_##n, #ka },
#define F2(n, a, ka, A, b, kb, B)				{ (void *)at_##n, #ka #kb },
#define F3(n, a, ka, A, b, kb, B, c, kc, C)			{ (void *)at_##n, #ka #kb #kc },
#define F4(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D)		{ (void *)at_##n, #ka #kb #kc #kd },
#define F5(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E)	{ (void *)at_##n, #ka #kb #kc #kd #ke },
#define F6(n, a, ka, A, b, kb, B, c, kc, C, d, kd, D, e, ke, E, f, kf, F) \
	{ (void *)at_##n, #ka #kb #kc #kd #ke #kf },
static const struct at_call calls[] = { AT_CALLS(F0, F1, F2, F3, F4, F5, F6) };

static u64 value_for(const struct at_call *call, u64 number, unsigned int parameter)
{
	if (parameter < strlen(call->kinds) && call->kinds[parameter] == 'B')
		return at_bool_value(number, parameter);
	return at_value(number, parameter);
}

/* The caller that events must show: neither inlined nor left by a tail call. */
static noinline void make_call(const struct at_call *call, u64 number)
{
	at_raw_t function = READ_ONCE(call->function);

	function(value_for(call, number, 0), value_for(call, number, 1), value_for(call, number, 2),
		 value_for(call, number, 3), value_for(call, number, 4), value_for(call, number, 5));
	barrier();
}

static void make_all_calls(u64 number)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		make_call(&calls[i], number);
}

#define A(name, parameters) \
	__attribute__((__noipa__)) void at_##name parameters; \
	__attribute__((__noipa__)) void at_##name parameters { barrier(); }
AT_AWKWARD(A)
#undef A

typedef void (*at_words_t)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

static noinline void make_awkward_call(void *words_function, u64 c)
{
	at_words_t function = READ_ONCE(words_function);

	function(at_value(c, 0), at_value(c, 1), at_value(c, 2), at_value(c, 3), at_value(c, 4),
		 at_value(c, 5), at_value(c, 6), at_value(c, 7), at_value(c, 8), at_value(c, 9),
		 at_value(c, 10), at_value(c, 11));
	barrier();
}

static int awkward_set(void *data, u64 count)
{
	u64 number;

	for (number = 0; number < count; number++) {
#define A(name, parameters) make_awkward_call((void *)at_##name, number);
		AT_AWKWARD(A)
#undef A
	}
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(awkward_fops, NULL, awkward_set, "%llu\n");

struct at_run {
	struct work_struct work;
	struct irq_work interrupt;
	u64 number, count;
};

static DEFINE_PER_CPU(struct at_run, runs);
static DEFINE_MUTEX(run_lock);

static void run_interrupt(struct irq_work *work)
{
	struct at_run *run = container_of(work, struct at_run, interrupt);

	make_all_calls(AT_INTERRUPT_BASE + run->number);
}

static void run_work(struct work_struct *work)
{
	struct at_run *run = container_of(work, struct at_run, work);

	for (run->number = 0; run->number < run->count; run->number++) {
		make_all_calls(run->number);
		irq_work_queue(&run->interrupt);
		irq_work_sync(&run->interrupt);
	}
}

static int run_set(void *data, u64 count)
{
	int cpu;

	mutex_lock(&run_lock);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct at_run *run = per_cpu_ptr(&runs, cpu);

		INIT_WORK(&run->work, run_work);
		/* HARD: in the interrupt even where the kernel would make it a thread. */
		run->interrupt = IRQ_WORK_INIT_HARD(run_interrupt);
		run->count = count;
		queue_work_on(cpu, system_highpri_wq, &run->work);
	}
	for_each_online_cpu(cpu)
		flush_work(&per_cpu_ptr(&runs, cpu)->work);
	cpus_read_unlock();
	mutex_unlock(&run_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(run_fops, NULL, run_set, "%llu\n");

static const struct at_call *call_of(const void *function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		if (calls[i].function == function)
			return &calls[i];
	}
	return NULL;
}

static void burst(u64 count)
{
	const struct at_call *four = call_of(at_four);
	u64 number;

	for (number = 0; number < count; number++) {
		make_call(four, number);
		cond_resched();
	}
}

static int burst_set(void *data, u64 count)
{
	burst(count);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(burst_fops, NULL, burst_set, "%llu\n");

#define STORM_PERIOD	(100 * NSEC_PER_USEC)

static struct hrtimer storm_timer;
static u64 storm_calls;

static enum hrtimer_restart storm_tick(struct hrtimer *timer)
{
	make_call(call_of(at_two), storm_calls++);
	hrtimer_forward_now(timer, ns_to_ktime(STORM_PERIOD));
	return HRTIMER_RESTART;
}

static int storm_set(void *data, u64 count)
{
	mutex_lock(&run_lock);
	hrtimer_start(&storm_timer, ns_to_ktime(STORM_PERIOD), HRTIMER_MODE_REL_PINNED_HARD);
	burst(count);
	hrtimer_cancel(&storm_timer);
	mutex_unlock(&run_lock);
	return 0;
}

static int storm_get(void *data, u64 *count)
{
	*count = storm_calls;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(storm_fops, storm_get, storm_set, "%llu\n");

static int set_present(u64 cpu, bool present)
{
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu) || cpu_online(cpu))
		return -EINVAL;
	set_cpu_present(cpu, present);
	return 0;
}

static int absent_set(void *data, u64 cpu)
{
	return set_present(cpu, false);
}
DEFINE_DEBUGFS_ATTRIBUTE(absent_fops, NULL, absent_set, "%llu\n");

static int present_set(void *data, u64 cpu)
{
	return set_present(cpu, true);
}
DEFINE_DEBUGFS_ATTRIBUTE(present_fops, NULL, present_set, "%llu\n");

static struct dentry *directory;

static int __init at_init(void)
{
	at_hrtimer_setup(&storm_timer, storm_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	directory = debugfs_create_dir("argtrace_test", NULL);
	debugfs_create_file_unsafe("run", 0200, directory, NULL, &run_fops);
	debugfs_create_file_unsafe("awkward", 0200, directory, NULL, &awkward_fops);
	debugfs_create_file_unsafe("burst", 0200, directory, NULL, &burst_fops);
	debugfs_create_file_unsafe("storm", 0600, directory, NULL, &storm_fops);
	debugfs_create_file_unsafe("absent", 0200, directory, NULL, &absent_fops);
	debugfs_create_file_unsafe("present", 0200, directory, NULL, &present_fops);
	return 0;
}

static void __exit at_exit(void)
{
	debugfs_remove_recursive(directory);
}

module_init(at_init);
module_exit(at_exit);

MODULE_DESCRIPTION("Functions with known arguments, for the tests of argtrace");
MODULE_LICENSE("GPL");
