// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of functions by an fprobe or a kretprobe for each, as a source: what registers them,
 * and what the kernel calls. Each takes the kernel about as long to register as a thousand of our
 * trampoline's functions, so there are not many.
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "arch/regs.h"
#include "arch/text.h"
#include "base/compat.h"
#include "base/fprobe.h"
#include "read/operands.h"
#include "program/program.h"
#include "base/memory.h"
#include "session.h"
#include "source/fallback.h"
#include "source/fallback_call.h"
#include "source/returns/returns.h"
#include "source/source.h"
#include "source/user_return.h"

#define CALLS_AT_ONCE	(64 + 2 * num_possible_cpus())	/* of a function, that the kernel keeps */

static u64 last_cookie;			/* under cookie_lock, as sessions have a lock each */
static DEFINE_SPINLOCK(cookie_lock);

/* The kernel's own levels are found out by a call of a function of ours, with preemption on. */
static bool is_trial(const struct argtrace_fallback *fallback)
{
	return !fallback->plan;
}

/* A trial has no other use for `missed`. */
static bool note_levels(struct argtrace_fallback *fallback)
{
	fallback->missed = (preempt_count() & PREEMPT_MASK) + 1;
	return false;
}

static bool enter_fallback(struct argtrace_fallback *fallback, void *data, argtrace_full_regs *regs,
			   unsigned long caller)
{
	return is_trial(fallback) ?
		       note_levels(fallback) :
		       argtrace_fallback_enter(fallback, data, regs, caller);
}

/* Nonzero: the return is not to be followed. */
static int fprobe_entered(struct fprobe *fprobe, unsigned long ip, unsigned long caller,
			  argtrace_full_regs *regs, void *data)
{
	return !enter_fallback(container_of(fprobe, struct argtrace_fallback, fprobe), data, regs,
			       caller);
}

static void fprobe_returned(struct fprobe *fprobe, unsigned long ip, unsigned long caller,
			    argtrace_full_regs *regs, void *data)
{
	argtrace_fallback_leave(container_of(fprobe, struct argtrace_fallback, fprobe), data,
				argtrace_regs_value(regs), argtrace_regs_high_value(regs));
}

static int kretprobe_entered(struct kretprobe_instance *instance, argtrace_full_regs *regs)
{
	struct kretprobe *kretprobe = get_kretprobe(instance);

	/* It is being unregistered. */
	if (unlikely(!kretprobe))
		return 1;
	return !enter_fallback(container_of(kretprobe, struct argtrace_fallback, kretprobe),
			       instance->data, regs,
			       argtrace_full_caller(regs));
}

static int kretprobe_returned(struct kretprobe_instance *instance, argtrace_full_regs *regs)
{
	struct kretprobe *kretprobe = get_kretprobe(instance);

	if (likely(kretprobe))
		argtrace_fallback_leave(container_of(kretprobe, struct argtrace_fallback,
						     kretprobe),
					(void *)instance->data, argtrace_regs_value(regs),
					argtrace_regs_high_value(regs));
	return 0;
}

u64 argtrace_fallback_features(void)
{
	return (ARGTRACE_HAS_FPROBE ? ARGTRACE_FEATURE_FPROBE : 0) |
	       (IS_ENABLED(CONFIG_KRETPROBES) ? ARGTRACE_FEATURE_KRETPROBE : 0);
}

static bool is_in_program(const struct argtrace_probe *schema, u8 source)
{
	const struct argtrace_program *program = schema->program ? argtrace_schema_program(schema) :
								   NULL;
	const struct argtrace_insn *insns = (const void *)(program + 1);
	u32 i;

	for (i = 0; program && i < program->nr_insns; i++) {
		if (insns[i].source == source)
			return true;
	}
	return false;
}

/*
 * Settles what follows from a plan whose program has been prepared. -E2BIG: the kernel cannot keep
 * as much of each call.
 */
static int prepare_fallback(struct argtrace_plan *plan)
{
	struct argtrace_fallback *fallback = (void *)(plan->returns + 1);
	const struct argtrace_arg *args = argtrace_schema_args(plan->schema);
	u32 i;

	fallback->plan = plan;
	plan->returns->fallback = fallback;
	INIT_LIST_HEAD(&fallback->link);
	fallback->by_kretprobe = plan->schema->flags & ARGTRACE_PROBE_BY_KRETPROBE;
	if (!(argtrace_fallback_features() &
	      (fallback->by_kretprobe ? ARGTRACE_FEATURE_KRETPROBE : ARGTRACE_FEATURE_FPROBE)))
		return -EINVAL;
	/*
	 * What is on the stack is copied, as far as the flags say. A stack is not walked from a
	 * copy.
	 */
	for (i = 0; i < plan->schema->nr_args; i++) {
		if (args[i].loc == ARGTRACE_LOC_STACK &&
		    args[i].offset + args[i].size > sizeof(u64) + plan->returns->above)
			return -EINVAL;
	}
	if (is_in_program(plan->schema, ARGTRACE_SOURCE_STACK_ID))
		return -EINVAL;
	return argtrace_fallback_call_size(plan) <= ARGTRACE_FALLBACK_CALL_MAX ? 0 : -E2BIG;
}

/*
 * The most that the kernel allocates when one is registered, for the calls that may be in flight at
 * once: one by one, or (since Linux 6.7) for each CPU its share of them and an array of pointers to
 * all. Where tasks in flight keep it longer than the registration lasts, that is not charged.
 */
static u64 instances_charge(bool by_kretprobe, size_t size)
{
	const size_t own = by_kretprobe ? sizeof(struct kretprobe_instance) :
					  ARGTRACE_FPROBE_INSTANCE;
	const u64 count = CALLS_AT_ONCE, cpus = num_possible_cpus();
	const u64 pointers = (3 + roundup_pow_of_two(count)) * sizeof(u64);
	const u64 share = pointers + DIV_ROUND_UP(count, cpus) * ALIGN(own + size, sizeof(u64));

	return max(count * argtrace_kvmalloc_size(own + size), cpus * PAGE_ALIGN(share));
}

static int register_it(struct argtrace_fallback *fallback, unsigned long addr, size_t size)
{
	unsigned long location = argtrace_fentry_of(addr);
	u64 cookie;
	int ret;

	spin_lock(&cookie_lock);
	cookie = ++last_cookie;
	spin_unlock(&cookie_lock);
	WRITE_ONCE(fallback->cookie, cookie);
	if (fallback->by_kretprobe) {
		fallback->kretprobe = (struct kretprobe){
			.kp.addr = (kprobe_opcode_t *)addr,
			.entry_handler = kretprobe_entered,
			.handler = kretprobe_returned,
			.maxactive = CALLS_AT_ONCE,
			.data_size = size,
		};
		ret = register_kretprobe(&fallback->kretprobe);
	} else {
		argtrace_fprobe_init(&fallback->fprobe, fprobe_entered, fprobe_returned, size,
				     CALLS_AT_ONCE);
		ret = register_fprobe_ips(&fallback->fprobe, &location, 1);
	}
	if (ret)
		WRITE_ONCE(fallback->cookie, 0);
	return ret;
}

static void unregister_it(struct argtrace_fallback *fallback)
{
	if (fallback->by_kretprobe)
		unregister_kretprobe(&fallback->kretprobe);
	else
		unregister_fprobe(&fallback->fprobe);
}

static u64 missed_now(const struct argtrace_fallback *fallback)
{
	if (fallback->by_kretprobe)
		return (u64)READ_ONCE(fallback->kretprobe.nmissed) +
		       READ_ONCE(fallback->kretprobe.kp.nmissed);
	return READ_ONCE(fallback->fprobe.nmissed);
}

/*
 * One that has been unregistered, when no handler is running any more: what is in flight we shall
 * not see.
 */
static void settle(struct argtrace_fallback *fallback)
{
	struct argtrace_plan *plan = fallback->plan;

	fallback->missed += missed_now(fallback);
	WRITE_ONCE(fallback->cookie, 0);
	argtrace_memory_uncharge(fallback->charged);
	preempt_disable_notrace();
	local_add(argtrace_plan_in_flight(plan),
		  argtrace_return_counter_here(plan->returns->following, removed));
	preempt_enable_notrace();
}

/* Takes all of them off the list. */
static void detach_all(struct list_head *list)
{
	struct argtrace_fallback *fallback, *next;
	bool any = false;

	list_for_each_entry_safe(fallback, next, list, link) {
		if (!fallback->cookie) {
			list_del_init(&fallback->link);
			continue;
		}
		unregister_it(fallback);
		any = true;
		cond_resched();
	}
	if (any)
		argtrace_synchronize();
	list_for_each_entry_safe(fallback, next, list, link) {
		settle(fallback);
		list_del_init(&fallback->link);
	}
}

static void start_fallback(struct argtrace_plan *plan, struct argtrace_session *session)
{
	struct argtrace_fallback *fallback = plan->returns->fallback;
	struct argtrace_lane *lane = &session->lanes[ARGTRACE_LANE_FALLBACK];

	fallback->lane = lane;
	/* Ends with a release, which pairs with the acquire of argtrace_fallback_enter(). */
	argtrace_return_set_up(plan, session);
	/* attach_fallbacks() registers it. */
	if (list_empty(&fallback->link))
		list_add_tail(&fallback->link, &lane->fallbacks);
}

static void stop_fallback(struct argtrace_plan *plan)
{
	/* In no order: those who need one wait with argtrace_synchronize(). */
	WRITE_ONCE(plan->returns->leave_path, ARGTRACE_LEAVE_STOPPED);
}

static void release_fallback(struct argtrace_plan *plan)
{
	LIST_HEAD(only);

	/* Not if the plan could not be prepared. */
	if (!plan->returns->fallback)
		return;
	list_move(&plan->returns->fallback->link, &only);
	detach_all(&only);
}

static u64 missed_by_fallback(const struct argtrace_plan *plan)
{
	const struct argtrace_fallback *fallback = plan->returns->fallback;

	return fallback->missed + (fallback->cookie ? missed_now(fallback) : 0);
}

static const struct argtrace_plan_rules fallback_rules = {
	.size = sizeof(struct argtrace_fallback),
	.prepare = prepare_fallback,
	.start = start_fallback,
	.stop = stop_fallback,
	.release = release_fallback,
	.missed = missed_by_fallback,
};

const struct argtrace_plan_rules *argtrace_plan_rules_of(const struct argtrace_probe *header)
{
	if (!(header->flags & (ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WAITS)))
		return NULL;
	if (header->kind == ARGTRACE_KIND_USER)
		return &argtrace_user_return_rules;
	return header->flags & ARGTRACE_PROBE_BY_KERNEL ? &fallback_rules : &argtrace_return_rules;
}

static int try_once(bool by_kretprobe)
{
	struct argtrace_fallback *trial = kzalloc(sizeof(*trial), GFP_KERNEL);
	int ret;

	if (!trial)
		return -ENOMEM;
	trial->by_kretprobe = by_kretprobe;
	ret = register_it(trial, (unsigned long)argtrace_return_trial,
			  sizeof(struct argtrace_fallback_call));
	if (!ret) {
		argtrace_return_trial();
		unregister_it(trial);
		argtrace_synchronize();
		ret = trial->missed ? 0 : -EOPNOTSUPP;
	}
	if (!ret)
		argtrace_fallback_levels[by_kretprobe] = trial->missed - 1;
	kfree(trial);
	return ret;
}

/* How deep in preempt_disable() the kernel's own means are. 0, or an error: they do not call us. */
static int try_levels(bool by_kretprobe)
{
	static DEFINE_MUTEX(trial_lock);
	static bool tried[2];
	int ret = 0;

	mutex_lock(&trial_lock);
	if (!tried[by_kretprobe])
		ret = try_once(by_kretprobe);
	tried[by_kretprobe] = !ret;
	mutex_unlock(&trial_lock);
	return ret;
}

static void init_fallbacks(struct argtrace_lane *lane)
{
	/* Once: a lane that is not armed may have some that could not be registered. */
	if (!lane->fallbacks.next)
		INIT_LIST_HEAD(&lane->fallbacks);
}

static unsigned long find_bad_fallback(const unsigned long *addrs, u32 count, bool all)
{
	/* All of them: a kretprobe would take some that ftrace does not know, in its own way. */
	return argtrace_entry_source.find_bad(addrs, count, true);
}

static int charge_and_register(struct argtrace_fallback *fallback, size_t size)
{
	const u64 charge = instances_charge(fallback->by_kretprobe, size);
	int ret = argtrace_memory_charge(charge);

	if (ret)
		return ret;
	ret = register_it(fallback, fallback->plan->addr, size);
	if (ret)
		argtrace_memory_uncharge(charge);
	else
		fallback->charged = charge;
	return ret;
}

static int attach_one(struct argtrace_lane *lane, struct argtrace_fallback *fallback)
{
	int ret = try_levels(fallback->by_kretprobe);

	if (!ret)
		ret = charge_and_register(fallback, argtrace_fallback_call_size(fallback->plan));
	/* What the kernel refuses here, where ftrace traces: text that kprobes must not be in. */
	if (ret == -EINVAL)
		ret = -EOPNOTSUPP;
	lane->refused = fallback->plan->addr;
	return ret;
}

static int attach_fallbacks(struct argtrace_lane *lane, const struct argtrace_table *table,
			    unsigned long *addrs, u32 count)
{
	struct argtrace_fallback *fallback, *next;
	u32 nr_fallbacks = 0;
	LIST_HEAD(registered);
	int ret = 0;

	list_for_each_entry(fallback, &lane->fallbacks, link)
		nr_fallbacks++;
	if (nr_fallbacks > ARGTRACE_FALLBACKS_MAX)
		return -E2BIG;
	list_for_each_entry_safe(fallback, next, &lane->fallbacks, link) {
		if (fallback->cookie || fallback->plan->removed)
			continue;
		ret = attach_one(lane, fallback);
		if (ret)
			break;
		list_move_tail(&fallback->link, &registered);
		cond_resched();
	}
	if (ret) {
		detach_all(&registered);
		return ret;
	}
	list_splice_tail(&registered, &lane->fallbacks);
	lane->armed = true;
	return 0;
}

/* Cannot fail. */
static int follow_fallbacks(struct argtrace_lane *lane)
{
	struct argtrace_fallback *fallback, *next;
	LIST_HEAD(removed);

	list_for_each_entry_safe(fallback, next, &lane->fallbacks, link) {
		if (fallback->plan->removed)
			list_move_tail(&fallback->link, &removed);
	}
	detach_all(&removed);
	lane->armed = !list_empty(&lane->fallbacks);
	return 0;
}

const struct argtrace_source argtrace_fallback_source = {
	.kind = ARGTRACE_KIND_ENTRY,
	.skew = ARGTRACE_FENTRY_SKEW,
	.init = init_fallbacks,
	.find_bad = find_bad_fallback,
	.attach = attach_fallbacks,
	.follow = follow_fallbacks,
};
