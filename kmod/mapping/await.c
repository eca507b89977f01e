// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that has mapped a file which has no table yet waits for that, so that its stacks can be
 * walked from its first instruction on. It does so on its way back to user mode, by task work,
 * which may sleep; the hook that hears of the mapping may not.
 *
 * Who waits holds the atlas, whose session may go meanwhile, and the module, and lets go of both
 * at the end. It is then still in the module's text for some instructions, without sleeping:
 * argtrace_await_exit() waits for that.
 */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "mapping/atlas.h"

struct awaiting {
	struct callback_head work;
	bool is_last;			/* the task has done what else it had to do */
	struct argtrace_atlas *atlas;
	const struct argtrace_atlas_object *object;	/* of the atlas */
};

static DECLARE_WAIT_QUEUE_HEAD(tables);	/* one for all: there is little to wait for */
static bool has_waited;

static bool is_over(const struct awaiting *awaiting)
{
	return READ_ONCE(awaiting->object->table) || READ_ONCE(awaiting->object->refused) ||
	       !READ_ONCE(awaiting->atlas->provider);
}

/* False if nobody answers: the others need not wait. */
static bool wait_for_table(const struct awaiting *awaiting)
{
	const u64 begin = get_jiffies_64();
	const u64 end = begin + msecs_to_jiffies(ARGTRACE_TABLE_WAIT_LONGEST_MS);
	u64 now, limit;

	for (now = begin; now < end; now = get_jiffies_64()) {
		limit = max(begin, READ_ONCE(awaiting->atlas->heard)) +
			msecs_to_jiffies(ARGTRACE_TABLE_WAIT_MS);
		if (now >= limit)
			return false;
		/* There it is, or the task has been killed. */
		if (wait_event_killable_timeout(tables, is_over(awaiting), min(limit, end) - now))
			return true;
	}
	return true;
}

static void await(struct callback_head *work)
{
	struct awaiting *awaiting = container_of(work, struct awaiting, work);
	struct argtrace_atlas *atlas = awaiting->atlas;

	/*
	 * What was added last is done first, and files are closed by task work as well: whoever
	 * answers may be waiting for the end of a pipe that the task has closed by executing this
	 * program.
	 */
	if (!awaiting->is_last) {
		awaiting->is_last = true;
		init_task_work(&awaiting->work, await);
		if (!task_work_add(current, &awaiting->work, TWA_RESUME))
			return;
	}
	if (!wait_for_table(awaiting))
		argtrace_atlas_desert(atlas, READ_ONCE(atlas->provider));
	kfree(awaiting);
	argtrace_atlas_put(atlas);
	module_put(THIS_MODULE);
}

void argtrace_await_table(struct argtrace_atlas *atlas, const struct argtrace_atlas_object *object)
{
	struct awaiting *awaiting;

	if (!READ_ONCE(atlas->provider) || !atlas->owner.selects ||
	    !atlas->owner.selects(atlas->owner.session))
		return;
	if (!try_module_get(THIS_MODULE))
		return;
	awaiting = kmalloc(sizeof(*awaiting), ARGTRACE_GFP_HOOK);
	if (!awaiting)
		goto put_module;
	init_task_work(&awaiting->work, await);
	awaiting->is_last = false;
	awaiting->atlas = atlas;
	awaiting->object = object;
	kref_get(&atlas->references);
	WRITE_ONCE(has_waited, true);
	/* The task is not exiting, or it would not map anything. */
	if (!task_work_add(current, &awaiting->work, TWA_RESUME))
		return;
	/* The hook knows the atlas: this is not its last reference. */
	argtrace_atlas_put(atlas);
	kfree(awaiting);
put_module:
	module_put(THIS_MODULE);
}

void argtrace_await_wake(void)
{
	wake_up_all(&tables);
}

void argtrace_atlas_provide(struct argtrace_atlas *atlas, void *file)
{
	WRITE_ONCE(atlas->provider, file);
	WRITE_ONCE(atlas->reader, file);
	argtrace_atlas_hear(atlas, file);
}

void argtrace_atlas_hear(struct argtrace_atlas *atlas, const void *file)
{
	if (READ_ONCE(atlas->provider) == file)
		WRITE_ONCE(atlas->heard, get_jiffies_64());
}

void argtrace_atlas_desert(struct argtrace_atlas *atlas, void *file)
{
	if (file && cmpxchg(&atlas->provider, file, NULL) == file)
		argtrace_await_wake();
}

void argtrace_atlas_leave(struct argtrace_atlas *atlas, void *file)
{
	cmpxchg(&atlas->reader, file, NULL);
	argtrace_atlas_desert(atlas, file);
}

void argtrace_await_exit(void)
{
	if (READ_ONCE(has_waited))
		synchronize_rcu_tasks();
}
