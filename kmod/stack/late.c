// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "arch/user.h"
#include "base/compat.h"
#include "base/kernel_calls.h"
#include "base/memory.h"
#include "read/bring_in.h"
#include "stack/late.h"
#include "stack/table.h"

#define SLOT_SHIFT	8
#define NR_SLOTS	(1u << SLOT_SHIFT)
/* How many of them a task looks at, from its own on. */
#define SLOT_STEPS	16
/* More pages than a stack of ARGTRACE_STACK_DEPTH_MAX frames refers to are not brought in. */
#define PAGES_MAX	256

enum slot_state {
	SLOT_FILLING,
	SLOT_WAITING,
	SLOT_QUEUED,
};

struct slot {
	struct task_struct *task;	/* NULL: it is free. Compared, never used */
	u8 state;			/* enum slot_state */
	u32 exec_id;
	u64 task_began;			/* as another one may be at that address by now */
	struct mm_struct *mm;		/* compared, never used */
	struct argtrace_late_stack stack;
	struct callback_head work;
	struct argtrace_late *late;
};

struct argtrace_late {
	const struct argtrace_stack_set *set;
	u64 charged;
	atomic_t used;			/* slots */
	atomic_t queued;		/* task work */
	struct list_head link;
	struct slot slots[NR_SLOTS];
};

static DEFINE_MUTEX(lates_lock);
static LIST_HEAD(lates);		/* changed under lates_lock, read under RCU */
static DECLARE_WAIT_QUEUE_HEAD(late_work_ended);	/* one for all */
static bool has_queued;

static struct slot *slot_of(struct argtrace_late_stack *stack)
{
	return container_of(stack, struct slot, stack);
}

static struct slot *slot_at(struct argtrace_late *late, u32 step)
{
	const u32 home = hash_ptr(current, SLOT_SHIFT);

	return &late->slots[(home + step) & (NR_SLOTS - 1)];
}

static bool is_own(const struct slot *slot)
{
	return READ_ONCE(slot->task) == current;
}

/* Whether the task is still on the way through the kernel on which it claimed the slot. */
static bool is_same_entry(const struct slot *slot, const argtrace_full_regs *regs)
{
	return slot->task_began == current->start_boottime && slot->mm == current->mm &&
	       slot->exec_id == current->self_exec_id && regs &&
	       argtrace_user_is_still_at(&slot->stack.regs, regs);
}

/*
 * Whether the kernel will look at the flags of the current task before that is back in user mode.
 * It looks for the last time with interrupts off, and still calls functions then; so where they are
 * off, only a task that is about to sleep is certain to come by. From an NMI there is no way back
 * on which it looks.
 */
static bool kernel_will_look(void)
{
	if (in_nmi())
		return false;
	return in_hardirq() || in_serving_softirq() || !irqs_disabled() ||
	       READ_ONCE(current->__state) != TASK_RUNNING;
}

static struct slot *find_late_slot(struct argtrace_late *late, const argtrace_full_regs *regs,
				   struct slot **free)
{
	struct slot *slot;
	u32 step;

	for (step = 0; step < SLOT_STEPS; step++) {
		slot = slot_at(late, step);
		if (is_own(slot) && slot->state != SLOT_FILLING && is_same_entry(slot, regs))
			return slot;
		if (!*free && !READ_ONCE(slot->task))
			*free = slot;
	}
	return NULL;
}

struct argtrace_late_stack *argtrace_late_claim(struct argtrace_late *late,
						const argtrace_full_regs *regs)
{
	struct slot *free = NULL, *slot = find_late_slot(late, regs, &free);

	if (slot)
		return &slot->stack;
	if (!free || current->flags & PF_EXITING || !kernel_will_look() ||
	    cmpxchg(&free->task, NULL, current))
		return NULL;
	atomic_inc(&late->used);
	free->exec_id = current->self_exec_id;
	free->task_began = current->start_boottime;
	free->mm = current->mm;
	free->stack.id = 0;
	free->stack.regs = *regs;
	atomic_set(&free->stack.walks, 0);
	return &free->stack;
}

void argtrace_late_wait(struct argtrace_late_stack *stack)
{
	/* An interrupt that finds the slot in this state finds it filled. */
	barrier();
	WRITE_ONCE(slot_of(stack)->state, SLOT_WAITING);
	set_tsk_thread_flag(current, TIF_NOTIFY_RESUME);
}

void argtrace_late_end(struct argtrace_late_stack *stack)
{
	struct slot *slot = slot_of(stack);

	slot->state = SLOT_FILLING;
	atomic_dec(&slot->late->used);
	/* For the next task that claims it. */
	smp_store_release(&slot->task, NULL);
}

/* Its set, and with it the slot, may be gone at once. */
static void end_work(struct argtrace_late *late)
{
	if (atomic_dec_and_test(&late->queued))
		wake_up_all(&late_work_ended);
}

/* The registers of the task, which must not have changed, are those that the slot has. */
static void complete_late(struct callback_head *work)
{
	struct slot *slot = container_of(work, struct slot, work);
	struct argtrace_late *late = slot->late;
	u64 missing;
	u32 pages;

	/* Task work that was not done before is done by exiting tasks, which have no memory. */
	if (current->flags & PF_EXITING || !is_same_entry(slot, argtrace_user_entry())) {
		argtrace_stack_give_up(late->set, &slot->stack);
		return end_work(late);
	}
	for (pages = 0;; pages++) {
		missing = argtrace_stack_complete(late->set, &slot->stack, pages == PAGES_MAX);
		if (!missing)
			break;
		if (!argtrace_bring_in(missing, sizeof(u64)))
			pages = PAGES_MAX - 1;
	}
	end_work(late);
}

static void queue_work_of(struct argtrace_late *late, struct slot *slot)
{
	atomic_inc(&late->queued);
	slot->state = SLOT_QUEUED;
	WRITE_ONCE(has_queued, true);
	init_task_work(&slot->work, complete_late);
	if (!task_work_add(current, &slot->work, TWA_RESUME))
		return;
	argtrace_stack_give_up(late->set, &slot->stack);
	end_work(late);
}

/* What the current task has WAITING is completed, or given up. */
static void end_waiting(bool completed)
{
	const argtrace_full_regs *regs = argtrace_user_entry();
	struct argtrace_late *late;
	struct slot *slot;
	u32 step;

	rcu_read_lock();
	list_for_each_entry_rcu(late, &lates, link) {
		for (step = 0; atomic_read(&late->used) && step < SLOT_STEPS; step++) {
			slot = slot_at(late, step);
			if (!is_own(slot) || slot->state != SLOT_WAITING)
				continue;
			if (completed && is_same_entry(slot, regs))
				queue_work_of(late, slot);
			else
				argtrace_stack_give_up(late->set, &slot->stack);
		}
	}
	rcu_read_unlock();
}

static void task_returns(struct ftrace_regs *fregs)
{
	if (!list_empty(&lates) && argtrace_is_user_task())
		end_waiting(true);
}

static void late_task_exits(struct ftrace_regs *fregs)
{
	if (argtrace_called_with(fregs, 0) == current)
		end_waiting(false);
}

/*
 * resume_user_mode_work() is inlined wherever it is called, and of what it calls this alone is
 * called every time, in Linux 6.1 to 7.3. Kernels without CONFIG_BLK_CGROUP have no such function.
 */
static const struct argtrace_kernel_call late_functions[] = {
	{ "blkcg_maybe_throttle_current", task_returns },
	{ "exit_files", late_task_exits },
};

DEFINE_KERNEL_CALLS(late_calls, late_functions);

struct argtrace_late *argtrace_late_create(const struct argtrace_stack_set *set)
{
	const u64 charge = argtrace_kvmalloc_size(sizeof(struct argtrace_late));
	struct argtrace_late *late;
	int ret = 0;
	u32 i;

	if (argtrace_memory_charge(charge))
		return NULL;
	late = argtrace_kvzalloc(sizeof(*late));
	if (!late)
		goto err_charge;
	late->set = set;
	late->charged = charge;
	for (i = 0; i < NR_SLOTS; i++)
		late->slots[i].late = late;
	mutex_lock(&lates_lock);
	if (list_empty(&lates))
		ret = argtrace_kernel_calls_begin(&late_calls);
	if (!ret)
		list_add_rcu(&late->link, &lates);
	mutex_unlock(&lates_lock);
	if (!ret)
		return late;
	kvfree(late);
err_charge:
	argtrace_memory_uncharge(charge);
	return NULL;
}

void argtrace_late_free(struct argtrace_late *late)
{
	if (!late)
		return;
	mutex_lock(&lates_lock);
	list_del_rcu(&late->link);
	if (list_empty(&lates))
		argtrace_kernel_calls_end(&late_calls);
	mutex_unlock(&lates_lock);
	/* Hooks that have found it ... */
	synchronize_rcu();
	/* ... and the work that they have queued. */
	wait_event(late_work_ended, !atomic_read(&late->queued));
	argtrace_memory_uncharge(late->charged);
	kvfree(late);
}

void argtrace_late_exit(void)
{
	if (READ_ONCE(has_queued))
		synchronize_rcu_tasks();
}
