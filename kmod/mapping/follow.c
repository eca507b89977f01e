// SPDX-License-Identifier: GPL-2.0-only
/*
 * How we hear of mappings. The kernel tells its uprobes of each mapping that is made
 * (uprobe_mmap()) or unmade (uprobe_munmap()), of each mm that is copied (uprobe_dup_mmap()) and
 * of each that has lost its last user (uprobe_clear_state()); kernel/events/uprobes.c. ftrace calls
 * us at the beginning of these four. The first three are called by a task that holds the mmap_lock
 * of the mm for writing, or, when it unmaps, has at least taken the mappings out of it under that.
 *
 * What it calls must not sleep (base/kernel_calls.h). Where spinlocks sleep (PREEMPT_RT) there are
 * no user stacks.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "base/kernel_calls.h"
#include "base/memory.h"
#include "mapping/atlas.h"
#include "sink/notice.h"

/* How many processes are looked at before the list of tasks is read again. */
#define FILL_AT_ONCE	256

static DEFINE_MUTEX(follow_lock);
static LIST_HEAD(atlases);		/* changed under follow_lock, read under RCU */

static struct argtrace_space *get_space(struct argtrace_atlas *atlas, struct mm_struct *mm)
{
	struct argtrace_space *space = argtrace_atlas_space(atlas, mm);

	/* Once all processes are known, one that is not has just begun, or been given up. */
	if (!space)
		space = argtrace_spaces_add(atlas, mm, atlas->filled);
	if (!space)
		atlas->unknown++;
	else if (mm != current->mm || !current->in_execve)
		WRITE_ONCE(space->begun, true);
	return space;
}

/* Describes what is mapped. False if it cannot be named: the file has no number. */
static bool describe_mapping(struct argtrace_atlas *atlas, const struct vm_area_struct *vma,
			     struct argtrace_mapping *mapping)
{
	const u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;

	if (offset > ARGTRACE_FRAME_OFFSET_MASK)
		return false;
	mapping->object = argtrace_objects_get(atlas, vma);
	if (!mapping->object)
		return false;
	mapping->begin = vma->vm_start;
	mapping->end = vma->vm_end;
	mapping->word = argtrace_frame_word(mapping->object->number, offset);
	return true;
}

/* Returns the object, or NULL. */
static const struct argtrace_atlas_object *note_mapping(struct argtrace_atlas *atlas,
							struct argtrace_space *space,
							const struct vm_area_struct *vma)
{
	struct argtrace_mapping mapping;

	if (!describe_mapping(atlas, vma, &mapping))
		return NULL;
	if (!argtrace_spaces_change(atlas, space, mapping.begin, mapping.end, &mapping))
		atlas->unknown++;
	return mapping.object;
}

static bool is_of_interest(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_EXEC) && vma->vm_file;
}

static void mapping_is_made(struct ftrace_regs *fregs)
{
	const struct vm_area_struct *vma = argtrace_called_with(fregs, 0);
	struct argtrace_atlas *atlas;
	const struct argtrace_atlas_object *object;
	struct argtrace_space *space;
	bool is_new;
	u32 next;

	if (!is_of_interest(vma))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(atlas, &atlases, link) {
		spin_lock(&atlas->lock);
		next = atlas->next_number;
		space = get_space(atlas, vma->vm_mm);
		object = space ? note_mapping(atlas, space, vma) : NULL;
		is_new = atlas->next_number != next || (object && object->wanted);
		spin_unlock(&atlas->lock);
		if (is_new)
			argtrace_notice_change(atlas->owner.notice);
		/* Objects live as long as the atlas. */
		if (object && !READ_ONCE(object->table))
			argtrace_await_table(atlas, object);
	}
	rcu_read_unlock();
}

static void mapping_is_unmade(struct ftrace_regs *fregs)
{
	const struct vm_area_struct *vma = argtrace_called_with(fregs, 0);
	const u64 begin = (u64)argtrace_called_with(fregs, 1);
	const u64 end = (u64)argtrace_called_with(fregs, 2);
	struct argtrace_atlas *atlas;
	struct argtrace_space *space;

	/* Without users, all of it goes at once. */
	if (!is_of_interest(vma) || !atomic_read(&vma->vm_mm->mm_users))
		return;
	rcu_read_lock();
	list_for_each_entry_rcu(atlas, &atlases, link) {
		spin_lock(&atlas->lock);
		space = argtrace_atlas_space(atlas, vma->vm_mm);
		if (space && !argtrace_spaces_change(atlas, space, begin, end, NULL))
			atlas->unknown++;
		spin_unlock(&atlas->lock);
		argtrace_objects_release_later(atlas);
	}
	rcu_read_unlock();
}

static void mm_is_copied(struct ftrace_regs *fregs)
{
	struct mm_struct *from = argtrace_called_with(fregs, 0);
	struct mm_struct *to = argtrace_called_with(fregs, 1);
	struct argtrace_space *old_space, *new_space;
	struct argtrace_atlas *atlas;

	rcu_read_lock();
	list_for_each_entry_rcu(atlas, &atlases, link) {
		spin_lock(&atlas->lock);
		old_space = argtrace_atlas_space(atlas, from);
		new_space = argtrace_spaces_add(atlas, to, false);
		if (new_space)
			new_space->begun = true;
		if (new_space && old_space)
			argtrace_spaces_share(atlas, new_space, old_space);
		else
			atlas->unknown += atlas->filled || !new_space;
		spin_unlock(&atlas->lock);
	}
	rcu_read_unlock();
}

static void mm_is_gone(struct ftrace_regs *fregs)
{
	struct mm_struct *mm = argtrace_called_with(fregs, 0);
	struct argtrace_atlas *atlas;
	struct argtrace_space *space;

	rcu_read_lock();
	list_for_each_entry_rcu(atlas, &atlases, link) {
		spin_lock(&atlas->lock);
		space = argtrace_atlas_space(atlas, mm);
		if (space)
			argtrace_spaces_remove(atlas, space);
		spin_unlock(&atlas->lock);
		argtrace_objects_release_later(atlas);
	}
	rcu_read_unlock();
}

static const struct argtrace_kernel_call mapping_functions[] = {
	{ "uprobe_munmap", mapping_is_unmade },
	{ "uprobe_mmap", mapping_is_made },
	{ "uprobe_clear_state", mm_is_gone },
	{ "uprobe_dup_mmap", mm_is_copied },
};

DEFINE_KERNEL_CALLS(mapping_calls, mapping_functions);

/* Under the mmap_lock. */
static u32 count_mappings(struct mm_struct *mm)
{
	VMA_ITERATOR(iterator, mm, 0);
	struct vm_area_struct *vma;
	u32 count = 0;

	for_each_vma(iterator, vma)
		count += is_of_interest(vma);
	return count;
}

static void note_mappings(struct argtrace_atlas *atlas, struct argtrace_space *space,
			  struct mm_struct *mm, struct argtrace_mappings *mappings)
{
	VMA_ITERATOR(iterator, mm, 0);
	struct argtrace_mapping mapping;
	struct vm_area_struct *vma;

	for_each_vma(iterator, vma) {
		if (is_of_interest(vma) && describe_mapping(atlas, vma, &mapping))
			argtrace_spaces_append(atlas, mappings, &mapping);
	}
	argtrace_spaces_end(atlas, space, mappings);
}

/* All that the mm has mapped. Its mmap_lock excludes the hooks, but for what it has unmapped. */
static void note_mm(struct argtrace_atlas *atlas, struct mm_struct *mm)
{
	struct argtrace_mappings *mappings;
	struct argtrace_space *space;

	mmap_read_lock(mm);
	mappings = argtrace_spaces_begin(count_mappings(mm));
	spin_lock(&atlas->lock);
	space = mappings ? get_space(atlas, mm) : NULL;
	if (space)
		note_mappings(atlas, space, mm, mappings);
	else
		argtrace_spaces_drop(atlas, mappings);
	spin_unlock(&atlas->lock);
	mmap_read_unlock(mm);
}

static bool is_known(struct argtrace_atlas *atlas, const struct mm_struct *mm)
{
	const struct argtrace_space *space;
	bool known;

	spin_lock(&atlas->lock);
	space = argtrace_atlas_space(atlas, mm);
	known = space && space->whole;
	spin_unlock(&atlas->lock);
	return known;
}

/* Some of the processes that are not known yet, each with a reference; returns how many. */
static u32 collect(struct argtrace_atlas *atlas, struct mm_struct **mms)
{
	struct task_struct *process, *task;
	u32 count = 0;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		struct mm_struct *mm = get_task_mm(task);

		if (!mm)
			continue;
		/* Not mmput(), which may sleep. */
		if (is_known(atlas, mm) || (count && mms[count - 1] == mm))
			mmput_async(mm);
		else
			mms[count++] = mm;
		/* These are two loops, of which `break` would end the inner one alone. */
		if (count == FILL_AT_ONCE)
			goto full;
	}
full:
	rcu_read_unlock();
	return count;
}

/* Until no process is left that is not known; but memory may be short. */
static void fill(struct argtrace_atlas *atlas, struct mm_struct **mms)
{
	u32 count, i, searches = 0;

	do {
		count = collect(atlas, mms);
		for (i = 0; i < count; i++) {
			note_mm(atlas, mms[i]);
			mmput(mms[i]);
			cond_resched();
		}
	} while (count && ++searches < 1000);
}

/*
 * A process that begins meanwhile is a copy of one that is known, or the next search finds it. From
 * then on, one that the hooks do not know is new, and all that it maps is known. The last search
 * finds those that have begun just before.
 */
static int fill_atlas(struct argtrace_atlas *atlas)
{
	struct mm_struct **mms = argtrace_kvmalloc_array(FILL_AT_ONCE, sizeof(*mms));

	if (!mms)
		return -ENOMEM;
	fill(atlas, mms);
	spin_lock(&atlas->lock);
	atlas->filled = true;
	spin_unlock(&atlas->lock);
	fill(atlas, mms);
	kvfree(mms);
	return 0;
}

int argtrace_follow(struct argtrace_atlas *atlas)
{
	int ret = 0;

	mutex_lock(&follow_lock);
	if (list_empty(&atlases))
		ret = argtrace_kernel_calls_begin(&mapping_calls);
	if (!ret)
		list_add_rcu(&atlas->link, &atlases);
	mutex_unlock(&follow_lock);
	if (ret)
		return ret;
	ret = fill_atlas(atlas);
	if (ret)
		argtrace_unfollow(atlas);
	return ret;
}

void argtrace_unfollow(struct argtrace_atlas *atlas)
{
	mutex_lock(&follow_lock);
	list_del_rcu(&atlas->link);
	if (list_empty(&atlases))
		argtrace_kernel_calls_end(&mapping_calls);
	mutex_unlock(&follow_lock);
	/* Hooks that have found it. */
	synchronize_rcu();
	/* And what they have queued. */
	cancel_delayed_work_sync(&atlas->release);
}
