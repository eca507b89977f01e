// SPDX-License-Identifier: GPL-2.0-only
/*
 * Function entries as a source: a lane's ftrace_ops and its filter, which determine what ftrace
 * calls us for. System calls are function entries as well.
 */
#include <linux/ftrace.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "base/memory.h"
#include "call/program_call.h"
#include "session.h"
#include "source/entry.h"
#include "source/returns/returns.h"
#include "source/source.h"
#include "source/syscall.h"

/* Asks ftrace about one address, through the filter of an ops that is never registered. */
static bool ftrace_knows(struct ftrace_ops *scratch, unsigned long addr)
{
	return ftrace_set_filter_ip(scratch, addr, 0, 1) != -EINVAL;
}

static bool is_traceable(struct ftrace_ops *scratch, unsigned long addr)
{
	if (!ftrace_knows(scratch, addr))
		return false;
	/*
	 * ftrace_location() accepts any byte of the call at the beginning of a function. Unless
	 * it is the first byte, the byte before it is accepted as well. Almost all symbols are
	 * aligned, and need no second question.
	 */
	return IS_ALIGNED(addr, 16) || !ftrace_knows(scratch, addr - 1);
}

static unsigned long find_untraceable(const unsigned long *addrs, u32 count, bool all)
{
	struct ftrace_ops scratch = { };
	unsigned long bad = 0;
	u32 i;

	for (i = 0; i < count && !bad; i++) {
		if (!all && IS_ALIGNED(addrs[i], 16))
			continue;
		if (!is_traceable(&scratch, addrs[i]))
			bad = addrs[i];
		cond_resched();
	}
	ftrace_free_filter(&scratch);
	return bad;
}

static void init_ops(struct argtrace_lane *lane, ftrace_func_t callback)
{
	/* PERMANENT: without it kernel.ftrace_enabled=0 would silently stop the calls. */
	lane->ops = (struct ftrace_ops){ .func = callback, .flags = FTRACE_OPS_FL_PERMANENT };
}

static void init_functions(struct argtrace_lane *lane)
{
	if (lane->kind == ARGTRACE_LANE_RETURN)
		init_ops(lane, argtrace_return_callback(lane));
	else if (lane->kind == ARGTRACE_LANE_PLAIN)
		init_ops(lane, argtrace_entry_callback(lane));
	else
		init_ops(lane, argtrace_program_callback(lane));
}

static void init_syscalls(struct argtrace_lane *lane)
{
	if (lane->kind == ARGTRACE_LANE_SYSCALL_RETURN)
		init_ops(lane, argtrace_return_callback(lane));
	else if (lane->kind == ARGTRACE_LANE_SYSCALL_WAIT)
		init_ops(lane, argtrace_syscall_wait_callback(lane));
	else
		init_ops(lane, argtrace_syscall_callback(lane));
}

/*
 * ftrace_free_filter() leaves the ops pointing to freed memory, so it has to be initialised again.
 */
static void reset_ops(struct argtrace_lane *lane)
{
	ftrace_free_filter(&lane->ops);
	lane->source->init(lane);
}

/*
 * ftrace has shut itself down after an internal error and may go on calling us for ever, so
 * neither the session nor the module can be freed.
 */
static void keep_for_ever(struct argtrace_lane *lane)
{
	lane->leaked = true;
	__module_get(THIS_MODULE);
}

/* An empty filter means all functions: never register with one. */
static int attach_functions(struct argtrace_lane *lane, const struct argtrace_table *table,
			    unsigned long *addrs, u32 count)
{
	int ret;

	ret = ftrace_set_filter_ips(&lane->ops, addrs, count, 0, !lane->armed);
	if (lane->armed)
		return ret;
	if (!ret)
		ret = register_ftrace_function(&lane->ops);
	lane->armed = !ret || ret == -ENODEV;
	if (ret == -ENODEV)
		keep_for_ever(lane);
	else if (ret)
		reset_ops(lane);
	return ret;
}

static void disarm_all(struct argtrace_lane *lane)
{
	if (!lane->armed || lane->leaked)
		return;
	if (WARN_ON_ONCE(unregister_ftrace_function(&lane->ops))) {
		keep_for_ever(lane);
		return;
	}
	reset_ops(lane);
	lane->armed = false;
}

static u32 live_addrs(const struct argtrace_lane *lane, unsigned long *addrs)
{
	const struct argtrace_catalog *catalog = &lane->session->catalog;
	u32 i, count = 0;

	for (i = 0; i < catalog->nr_addrs; i++) {
		const struct argtrace_plan *plan = catalog->by_addr[i];

		if (!plan->removed && plan->lane == lane->kind)
			addrs[count++] = plan->addr;
	}
	return count;
}

static int follow_functions(struct argtrace_lane *lane)
{
	struct argtrace_catalog *catalog = &lane->session->catalog;
	const u32 *nr_live = &catalog->nr_live[lane->kind];
	unsigned long *addrs, gone;
	int ret = 0;

	/* Allocates nothing if no function is left: disarming the last ones takes no memory. */
	addrs = kvmalloc_array(*nr_live, sizeof(*addrs), ARGTRACE_GFP_REMOVAL);
	if (!addrs)
		return -ENOMEM;
	/* Unregister before the filter becomes empty, which would trace everything. */
	while (*nr_live) {
		u32 count = live_addrs(lane, addrs);
		struct argtrace_plan *plan;

		ret = ftrace_set_filter_ips(&lane->ops, addrs, count, 0, 1);
		gone = ret == -EINVAL ? find_untraceable(addrs, count, true) : 0;
		if (!gone)
			break;
		plan = argtrace_catalog_find(catalog, lane->source->kind, gone);
		argtrace_catalog_set_removed(catalog, plan, true);
	}
	if (!*nr_live) {
		disarm_all(lane);
		ret = 0;
	}
	kvfree(addrs);
	return ret;
}

/*
 * The callback takes the function's argument for the registers of user space, so each address must
 * be a system call's.
 */
static unsigned long find_bad_syscall(const unsigned long *addrs, u32 count, bool all)
{
	u32 i;

	for (i = 0; i < count; i++) {
		if (!argtrace_is_syscall(addrs[i]))
			return addrs[i];
		cond_resched();
	}
	return find_untraceable(addrs, count, all);
}

const struct argtrace_source argtrace_entry_source = {
	.kind = ARGTRACE_KIND_ENTRY,
	.skew = ARGTRACE_FENTRY_SKEW,
	.init = init_functions,
	.find_bad = find_untraceable,
	.attach = attach_functions,
	.follow = follow_functions,
};

const struct argtrace_source argtrace_syscall_source = {
	.kind = ARGTRACE_KIND_SYSCALL,
	.skew = ARGTRACE_FENTRY_SKEW,
	.init = init_syscalls,
	.find_bad = find_bad_syscall,
	.attach = attach_functions,
	.follow = follow_functions,
};
