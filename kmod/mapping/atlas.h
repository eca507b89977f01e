/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes have mapped as executable, while a session wants user stacks.
 *
 * Three kinds of things, and who may still hold them:
 *
 *   object    a file, numbered; lives as long as the atlas. Its file is held while the object is
 *             mapped, and then until it has been opened or others take its place, but only for
 *             some seconds, as its file system cannot be unmounted meanwhile.
 *   table     how to unwind an object. Walkers read it in any context, with preemption off, and
 *             hold no reference. That of an object which is not mapped may make room for another
 *             (argtrace_atlas_make_room()): no walk finds it any more by an array of mappings that
 *             a space has, but one may be reading an older array, or the table itself. Under
 *             atlas->lock the object loses the table, and after a grace period it is freed. An
 *             object that is mapped again meanwhile has none until it is handed a new one.
 *   mappings  an array that never changes, with a count of the spaces that have it (fork shares
 *             it). Walkers read it in any context, with preemption off, and hold no reference: it
 *             is freed after a grace period.
 *   space     a process's mm, found by its address. It is removed when the last user of the mm is
 *             gone, before the mm can be used for another process; walkers of the mm's own tasks
 *             alone look for it. Freed after a grace period.
 *
 * Changes come from the kernel's own hooks for uprobes (mapping/follow.c), in tasks that hold the
 * mm's mmap_lock, and are made under atlas->lock. Nothing that sleeps is done under it, no walker
 * takes it. The atlas is freed when no hook knows it any more, the work that lets go of files has
 * ended, which hooks alone queue, and no task waits for its tables.
 */
#ifndef ARGTRACE_MAPPING_ATLAS_H
#define ARGTRACE_MAPPING_ATLAS_H

#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/argtrace.h>

#include "arch/user.h"
#include "mapping/unwind.h"

struct argtrace_notice;
struct argtrace_session;
struct file;
struct vm_area_struct;

/* Whether this kernel has what it takes: mapping/follow.c says why. */
#define ARGTRACE_CAN_FOLLOW_MAPPINGS							\
	(ARGTRACE_CAN_WALK_USER && IS_ENABLED(CONFIG_UPROBES) &&			\
	 IS_ENABLED(CONFIG_KPROBES) && !IS_ENABLED(CONFIG_PREEMPT_RT))

#define ARGTRACE_ATLAS_SHIFT	10	/* of either hash table */

struct argtrace_atlas_object {
	struct argtrace_unwind_table *table;	/* NULL: there is none, or not yet */
	u32 number;
	bool in_stack;			/* a walk has met it */
	/* the table was refused, and it has not been mapped since; written under atlas->lock */
	bool refused;

	/* The rest is under atlas->lock. */
	bool opened;
	bool met;			/* it has been mapped before */
	bool wanted;			/* it has been mapped once more, and has no table */
	bool counted;			/* in atlas->refused */
	u32 mapped;			/* entries of arrays of mappings */
	struct file *file;		/* or NULL: it has been let go */
	u64 inode;
	dev_t dev;
	u32 generation;
	s64 modified;			/* when; by this and the size ... */
	u64 size;			/* ... it is known whether the file is the same */
	struct hlist_node by_inode;
	struct list_head idle;		/* not mapped, with a table; or empty */
	struct list_head waiting;	/* not mapped, and not opened yet; or empty */
	u64 waits_since;		/* jiffies */
};

struct argtrace_mapping {
	u64 begin, end;			/* addresses */
	u64 word;			/* ARGTRACE_FRAME_USER, the object, the offset of `begin` */
	struct argtrace_atlas_object *object;
};

struct argtrace_mappings {
	struct rcu_head rcu;
	refcount_t spaces;
	u32 count, room;
	struct argtrace_mapping at[];	/* ascending, without overlaps */
};

struct argtrace_space {
	struct hlist_node link;
	struct mm_struct *mm;		/* compared, never used */
	struct argtrace_mappings __rcu *mappings; /* NULL: none */
	bool whole;			/* all that it has mapped is known */
	/*
	 * its program has begun; until then, the registers of the task that executes it are those
	 * of the old one
	 */
	bool begun;
	struct rcu_head rcu;
};

/* Whom an atlas is for. */
struct argtrace_atlas_owner {
	struct argtrace_notice *notice;	/* told of new objects */
	/* whether the session records calls of the current process; or NULL: of none */
	bool (*selects)(const struct argtrace_session *session);
	const struct argtrace_session *session;
};

struct argtrace_atlas {
	struct kref references;		/* one until free(), and one for each task that waits */
	struct hlist_head spaces[1 << ARGTRACE_ATLAS_SHIFT];
	struct hlist_head by_inode[1 << ARGTRACE_ATLAS_SHIFT];
	struct argtrace_atlas_object *objects[ARGTRACE_OBJECTS_MAX + 1];	/* by number */
	spinlock_t lock;		/* protects changes to all of it */
	u32 next_number;
	u32 nr_waiting;
	struct list_head waiting;	/* objects, the longest first */
	struct list_head idle;		/* likewise */
	u32 nr_wanted;
	struct delayed_work release;	/* of those that have waited too long */
	bool filled;			/* a process that is not in it has just begun */
	u64 unnumbered;			/* mappings without an object */
	u64 unknown;			/* processes of which not all mappings are known */
	u64 refused;			/* objects whose table has been refused, be it once */
	struct argtrace_atlas_owner owner; /* valid as long as hooks know the atlas */
	void *provider;			/* the file that answers new objects by tables, or NULL */
	void *reader;			/* the file that has last done so, until it is closed */
	u64 heard;			/* jiffies when the provider last called */
	struct list_head link;		/* those that hooks tell of mappings */
};

/*
 * Begins to follow mappings, and takes note of those that there are. ERR_PTR: -EOPNOTSUPP the
 * kernel cannot tell, -EBUSY ftrace is switched off, -ENOMEM, -ENOSPC.
 */
struct argtrace_atlas *argtrace_atlas_create(const struct argtrace_atlas_owner *owner);
/* When no walk uses it any more. */
void argtrace_atlas_free(struct argtrace_atlas *atlas);

/* The object of that number, or NULL. */
struct argtrace_atlas_object *argtrace_atlas_object(const struct argtrace_atlas *atlas, u32 number);
/* Describes objects from number *next on, at most `max`; *next is 0 when there are no more. */
u32 argtrace_atlas_describe(struct argtrace_atlas *atlas, struct argtrace_object *to, u32 max,
			    u32 *next);
/*
 * The object's file, with a reference for the caller, and what it was like when it was mapped
 * first: its st_mtim in ns, and its size. ERR_PTR: -ENOENT, -ESTALE it has been let go, or written
 * to.
 */
struct file *argtrace_atlas_file(struct argtrace_atlas *atlas, u32 number, s64 *modified,
				 u64 *bytes);
/* Somebody has opened it: the atlas need not keep it any longer than it is mapped. */
void argtrace_atlas_opened(struct argtrace_atlas *atlas, u32 number);
/* The file answers new objects by tables, and does so no longer: nobody waits for it any more. */
void argtrace_atlas_provide(struct argtrace_atlas *atlas, void *file);
void argtrace_atlas_desert(struct argtrace_atlas *atlas, void *file);
/* It is at work on them: they wait on. Whichever other file has called does not matter. */
void argtrace_atlas_hear(struct argtrace_atlas *atlas, const void *file);
/* The file is closed: it does not answer any more, nor will it open what is held. */
void argtrace_atlas_leave(struct argtrace_atlas *atlas, void *file);
/* When the module is unloaded: no task is in our text any more. */
void argtrace_await_exit(void);
/* Takes the table over. 0, -ENOENT, -EEXIST. */
int argtrace_atlas_set_table(struct argtrace_atlas *atlas, u32 number,
			     struct argtrace_unwind_table *table);
/* The table of that object has been refused: nobody waits for it until the object is mapped. */
void argtrace_atlas_refuse(struct argtrace_atlas *atlas, u32 number);
/*
 * Frees tables of objects that are not mapped, those first that have not been for longest, until
 * they were as large, or none is left. False if there was none. Sleeps.
 */
bool argtrace_atlas_make_room(struct argtrace_atlas *atlas, u64 bytes);

/* The space of an mm, or NULL. Preemption is off, or atlas->lock is held. */
static __always_inline struct argtrace_space *
argtrace_atlas_space(const struct argtrace_atlas *atlas, const struct mm_struct *mm)
{
	const struct hlist_head *home = &atlas->spaces[hash_ptr(mm, ARGTRACE_ATLAS_SHIFT)];
	const struct hlist_node *link = rcu_dereference_raw(hlist_first_rcu(home));
	struct argtrace_space *space;

	for (; link; link = rcu_dereference_raw(hlist_next_rcu(link))) {
		space = hlist_entry(link, struct argtrace_space, link);
		if (space->mm == mm)
			return space;
	}
	return NULL;
}

/* The mapping that contains the address, or NULL. */
static __always_inline const struct argtrace_mapping *
argtrace_mappings_find(const struct argtrace_mappings *mappings, u64 addr)
{
	u32 begin = 0, end = mappings->count, middle;

	while (begin < end) {
		middle = (begin + end) / 2;
		if (mappings->at[middle].end <= addr)
			begin = middle + 1;
		else
			end = middle;
	}
	return begin < mappings->count && mappings->at[begin].begin <= addr ? &mappings->at[begin] :
									      NULL;
}

/* The word of a frame, but for ARGTRACE_FRAME_EXACT. */
static __always_inline u64 argtrace_frame_word(u32 object, u64 offset)
{
	return ARGTRACE_FRAME_USER | (u64)object << ARGTRACE_FRAME_OBJECT_SHIFT | offset;
}

/* The following are for mapping/ alone, in the files that are named. */

/* For what hooks allocate: they must not sleep. */
#define ARGTRACE_GFP_HOOK	(GFP_NOWAIT | __GFP_NOWARN)

/* mapping/atlas.c: one that no hook knows. ERR_PTR: -ENOMEM, -ENOSPC. */
struct argtrace_atlas *argtrace_atlas_alloc(const struct argtrace_atlas_owner *owner);
void argtrace_atlas_put(struct argtrace_atlas *atlas);

/* mapping/await.c: somebody is going to open what is held, however long that takes. */
static inline bool argtrace_atlas_is_read(const struct argtrace_atlas *atlas)
{
	return READ_ONCE(atlas->reader);
}

/* mapping/await.c; in a hook. The current task waits for the table on its way to user mode. */
void argtrace_await_table(struct argtrace_atlas *atlas,
			  const struct argtrace_atlas_object *object);
/* There is a table. */
void argtrace_await_wake(void);

/* Not in use yet; NULL: there is no memory. mapping/objects.c */
struct argtrace_atlas_object *argtrace_objects_new(u32 number, gfp_t gfp);
/* mapping/objects.c; under atlas->lock. The object of the file that is mapped there, or NULL. */
struct argtrace_atlas_object *argtrace_objects_get(struct argtrace_atlas *atlas,
						   const struct vm_area_struct *vma);
void argtrace_objects_map(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object);
/* Once for each map(). */
void argtrace_objects_unmap(struct argtrace_atlas *atlas, struct argtrace_atlas_object *object);
/*
 * Queues the work that lets go of the files that nobody has opened for too long, if there are any.
 * Not when the atlas may be freed meanwhile.
 */
void argtrace_objects_release_later(struct argtrace_atlas *atlas);
/* The work. */
void argtrace_objects_release(struct work_struct *work);
void argtrace_objects_free(struct argtrace_atlas *atlas);

/* mapping/spaces.c; under atlas->lock. NULL: there is no memory. */
struct argtrace_space *argtrace_spaces_add(struct argtrace_atlas *atlas, struct mm_struct *mm,
					   bool whole);
void argtrace_spaces_remove(struct argtrace_atlas *atlas, struct argtrace_space *space);
/*
 * Nothing is mapped from `begin` to `end` any more, except `added` if it is not NULL. False if
 * there is no memory: what is known of the space is no longer right.
 */
bool argtrace_spaces_change(struct argtrace_atlas *atlas, struct argtrace_space *space, u64 begin,
			    u64 end, const struct argtrace_mapping *added);
/*
 * To note all that a process has: an array with room for so many, or NULL if there is no memory,
 * each mapping in its order, and then the array, which the space takes over.
 */
struct argtrace_mappings *argtrace_spaces_begin(u32 count);
void argtrace_spaces_append(struct argtrace_atlas *atlas, struct argtrace_mappings *to,
			    const struct argtrace_mapping *mapping);
void argtrace_spaces_end(struct argtrace_atlas *atlas, struct argtrace_space *space,
			 struct argtrace_mappings *mappings);
/* Instead of the last step, as one space less has it. Accepts NULL. */
void argtrace_spaces_drop(struct argtrace_atlas *atlas, struct argtrace_mappings *mappings);
/* Two processes have the same mappings. */
void argtrace_spaces_share(struct argtrace_atlas *atlas, struct argtrace_space *to,
			   const struct argtrace_space *from);
void argtrace_spaces_free(struct argtrace_atlas *atlas);

/* mapping/follow.c: the hooks know the atlas, and do so no longer. */
int argtrace_follow(struct argtrace_atlas *atlas);
void argtrace_unfollow(struct argtrace_atlas *atlas);

#endif
