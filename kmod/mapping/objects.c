// SPDX-License-Identifier: GPL-2.0-only
/* The files that are mapped: their numbers, and for how long they are held. */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>

#include "base/compat.h"
#include "base/memory.h"
#include "mapping/atlas.h"

static u64 object_charge(void)
{
	return argtrace_kvmalloc_size(sizeof(struct argtrace_atlas_object));
}

static struct hlist_head *home_of(struct argtrace_atlas *atlas, const struct inode *inode)
{
	return &atlas->by_inode[hash_64(inode->i_ino, ARGTRACE_ATLAS_SHIFT)];
}

/*
 * Whether the file has been written to: neither names nor table are those of its code any more.
 * What has no name is where compilers write code while it is mapped.
 */
static bool is_modified(const struct argtrace_atlas_object *object, const struct inode *inode)
{
	return inode->i_nlink && (object->modified != argtrace_inode_mtime(inode) ||
				  object->size != i_size_read(inode));
}

/* If there are several for one file, the last is found, the others have had other content. */
static struct argtrace_atlas_object *find_object(struct argtrace_atlas *atlas,
						 const struct inode *inode)
{
	struct argtrace_atlas_object *object;

	hlist_for_each_entry(object, home_of(atlas, inode), by_inode) {
		if (object->inode == inode->i_ino && object->dev == inode->i_sb->s_dev &&
		    object->generation == inode->i_generation)
			return is_modified(object, inode) ? NULL : object;
	}
	return NULL;
}

struct argtrace_atlas_object *argtrace_objects_new(u32 number, gfp_t gfp)
{
	struct argtrace_atlas_object *object;

	if (argtrace_memory_charge(object_charge()))
		return NULL;
	object = kzalloc(sizeof(*object), gfp);
	if (!object) {
		argtrace_memory_uncharge(object_charge());
		return NULL;
	}
	object->number = number;
	INIT_LIST_HEAD(&object->waiting);
	INIT_LIST_HEAD(&object->idle);
	return object;
}

static struct argtrace_atlas_object *add_object(struct argtrace_atlas *atlas, struct inode *inode)
{
	struct argtrace_atlas_object *object;

	if (atlas->next_number > ARGTRACE_OBJECTS_MAX)
		return NULL;
	object = argtrace_objects_new(atlas->next_number, ARGTRACE_GFP_HOOK);
	if (!object)
		return NULL;
	object->inode = inode->i_ino;
	object->dev = inode->i_sb->s_dev;
	object->generation = inode->i_generation;
	object->modified = argtrace_inode_mtime(inode);
	object->size = i_size_read(inode);
	hlist_add_head(&object->by_inode, home_of(atlas, inode));
	atlas->objects[atlas->next_number++] = object;
	return object;
}

struct argtrace_atlas_object *argtrace_objects_get(struct argtrace_atlas *atlas,
						   const struct vm_area_struct *vma)
{
	struct inode *inode = file_inode(vma->vm_file);
	struct argtrace_atlas_object *object = find_object(atlas, inode);

	if (!object)
		object = add_object(atlas, inode);
	if (!object) {
		atlas->unnumbered++;
		return NULL;
	}
	if (!object->file) {
		get_file(vma->vm_file);
		object->file = vma->vm_file;
	}
	return object;
}

static void let_go(struct argtrace_atlas_object *object)
{
	/* Does not sleep. */
	if (object->file)
		fput(object->file);
	object->file = NULL;
}

static void stop_waiting(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object)
{
	if (list_empty(&object->waiting))
		return;
	list_del_init(&object->waiting);
	atlas->nr_waiting--;
}

/* Gives up one that is not mapped. */
static void release_file(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object)
{
	stop_waiting(atlas, object);
	let_go(object);
}

static void set_wanted(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object,
		       bool wanted)
{
	atlas->nr_wanted += wanted - object->wanted;
	object->wanted = wanted;
}

void argtrace_objects_map(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object)
{
	if (object->mapped++)
		return;
	stop_waiting(atlas, object);
	list_del_init(&object->idle);
	if (!object->table && object->met) {
		WRITE_ONCE(object->refused, false);
		set_wanted(atlas, object, true);
	}
	object->met = true;
}

/* What takes no memory that counts need not make room. */
static void begin_idling(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object)
{
	if (object->table && object->table->charged)
		list_add_tail(&object->idle, &atlas->idle);
}

void argtrace_objects_unmap(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object)
{
	if (--object->mapped)
		return;
	begin_idling(atlas, object);
	if (object->opened)
		return let_go(object);
	list_add_tail(&object->waiting, &atlas->waiting);
	object->waits_since = get_jiffies_64();
	if (++atlas->nr_waiting > ARGTRACE_OBJECTS_HELD)
		release_file(atlas, list_first_entry(&atlas->waiting, struct argtrace_atlas_object,
						     waiting));
}

/*
 * Lets go of the first one, if it has waited for so long, and nobody reads. A reader may be slower
 * than that on a busy machine, and would have no names of what has ended.
 */
static bool release_first(struct argtrace_atlas *atlas, u64 now)
{
	struct argtrace_atlas_object *first;

	if (argtrace_atlas_is_read(atlas))
		return false;
	first = list_first_entry_or_null(&atlas->waiting, struct argtrace_atlas_object, waiting);
	if (!first || now < first->waits_since + msecs_to_jiffies(ARGTRACE_OBJECT_HELD_MS))
		return false;
	release_file(atlas, first);
	return true;
}

void argtrace_objects_release_later(struct argtrace_atlas *atlas)
{
	/* The hook by which another begins to wait meanwhile queues it as well. */
	if (READ_ONCE(atlas->nr_waiting))
		schedule_delayed_work(&atlas->release, msecs_to_jiffies(ARGTRACE_OBJECT_HELD_MS));
}

void argtrace_objects_release(struct work_struct *work)
{
	struct argtrace_atlas *atlas = container_of(to_delayed_work(work), struct argtrace_atlas,
						    release);
	const u64 now = get_jiffies_64();

	spin_lock(&atlas->lock);
	while (release_first(atlas, now))
		;
	spin_unlock(&atlas->lock);
	argtrace_objects_release_later(atlas);
}

void argtrace_objects_free(struct argtrace_atlas *atlas)
{
	u32 number;

	for (number = 0; number < atlas->next_number; number++) {
		struct argtrace_atlas_object *object = atlas->objects[number];

		if (!object)
			continue;
		let_go(object);
		argtrace_unwind_free(object->table);
		kfree(object);
		argtrace_memory_uncharge(object_charge());
	}
}

struct argtrace_atlas_object *argtrace_atlas_object(const struct argtrace_atlas *atlas, u32 number)
{
	return number <= ARGTRACE_OBJECTS_MAX ?
		       READ_ONCE(atlas->objects[array_index_nospec(number,
								   ARGTRACE_OBJECTS_MAX + 1)]) :
		       NULL;
}

static void describe_object(const struct argtrace_atlas_object *object, struct argtrace_object *to)
{
	const struct argtrace_unwind_table *table = object->table;

	*to = (struct argtrace_object){
		.object = object->number,
		.flags = (table ? ARGTRACE_OBJECT_HAS_TABLE : 0) |
			 (READ_ONCE(object->in_stack) ? ARGTRACE_OBJECT_IN_STACK : 0) |
			 (object->file ? ARGTRACE_OBJECT_OPENABLE : 0) |
			 (object->wanted ? ARGTRACE_OBJECT_WANTED : 0),
		.inode = object->inode,
		.dev_major = MAJOR(object->dev),
		.dev_minor = MINOR(object->dev),
		.generation = object->generation,
		.mapped = object->mapped,
		.nr_rows = table ? table->nr_rows : 0,
	};
}

u32 argtrace_atlas_describe(struct argtrace_atlas *atlas, struct argtrace_object *to, u32 max,
			    u32 *next)
{
	u32 number = *next, count = 0;

	spin_lock(&atlas->lock);
	for (; number < atlas->next_number && count < max; number++) {
		if (atlas->objects[number])
			describe_object(atlas->objects[number], &to[count++]);
	}
	*next = number < atlas->next_number ? number : 0;
	spin_unlock(&atlas->lock);
	return count;
}

struct file *argtrace_atlas_file(struct argtrace_atlas *atlas, u32 number, s64 *modified,
				 u64 *bytes)
{
	struct argtrace_atlas_object *object = argtrace_atlas_object(atlas, number);
	struct file *file;

	if (!object || number == ARGTRACE_OBJECT_VDSO)
		return ERR_PTR(-ENOENT);
	spin_lock(&atlas->lock);
	file = object->file;
	if (file && is_modified(object, file_inode(file)))
		file = NULL;
	if (file)
		get_file(file);
	*modified = object->modified;
	*bytes = object->size;
	spin_unlock(&atlas->lock);
	return file ?: ERR_PTR(-ESTALE);
}

void argtrace_atlas_opened(struct argtrace_atlas *atlas, u32 number)
{
	struct argtrace_atlas_object *object = argtrace_atlas_object(atlas, number);

	spin_lock(&atlas->lock);
	object->opened = true;
	/* Whatever is mapped does not wait. */
	if (!object->mapped)
		release_file(atlas, object);
	spin_unlock(&atlas->lock);
}

int argtrace_atlas_set_table(struct argtrace_atlas *atlas, u32 number,
			     struct argtrace_unwind_table *table)
{
	struct argtrace_atlas_object *object = argtrace_atlas_object(atlas, number);
	int ret = 0;

	if (!object)
		return -ENOENT;
	spin_lock(&atlas->lock);
	if (object->table) {
		ret = -EEXIST;
	} else {
		/* Pairs with the acquire of a walk, in stack/user.c. */
		smp_store_release(&object->table, table);
		set_wanted(atlas, object, false);
		if (!object->mapped)
			begin_idling(atlas, object);
	}
	spin_unlock(&atlas->lock);
	if (!ret)
		argtrace_await_wake();
	return ret;
}

void argtrace_atlas_refuse(struct argtrace_atlas *atlas, u32 number)
{
	struct argtrace_atlas_object *object = argtrace_atlas_object(atlas, number);

	spin_lock(&atlas->lock);
	if (!object->table) {
		set_wanted(atlas, object, false);
		WRITE_ONCE(object->refused, true);
		atlas->refused += !object->counted;
		object->counted = true;
	}
	spin_unlock(&atlas->lock);
	argtrace_await_wake();
}

bool argtrace_atlas_make_room(struct argtrace_atlas *atlas, u64 bytes)
{
	struct argtrace_unwind_table *table, *next;
	struct argtrace_atlas_object *object;
	LIST_HEAD(tables);
	u64 room = 0;

	spin_lock(&atlas->lock);
	while (room < bytes && !list_empty(&atlas->idle)) {
		object = list_first_entry(&atlas->idle, struct argtrace_atlas_object, idle);
		list_del_init(&object->idle);
		room += object->table->charged;
		list_add_tail(&object->table->idle, &tables);
		WRITE_ONCE(object->table, NULL);
	}
	spin_unlock(&atlas->lock);
	if (list_empty(&tables))
		return false;
	/* Walks that have found them by mappings which there were. */
	synchronize_rcu();
	list_for_each_entry_safe(table, next, &tables, idle)
		argtrace_unwind_free(table);
	return true;
}
