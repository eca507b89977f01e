// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "base/memory.h"
#include "mapping/atlas.h"

static u64 atlas_charge(void)
{
	return argtrace_kvmalloc_size(sizeof(struct argtrace_atlas));
}

static void drop(struct kref *references)
{
	struct argtrace_atlas *atlas = container_of(references, struct argtrace_atlas, references);

	argtrace_spaces_free(atlas);
	argtrace_objects_free(atlas);
	argtrace_memory_uncharge(atlas_charge());
	kvfree(atlas);
}

void argtrace_atlas_put(struct argtrace_atlas *atlas)
{
	kref_put(&atlas->references, drop);
}

struct argtrace_atlas *argtrace_atlas_alloc(const struct argtrace_atlas_owner *owner)
{
	struct argtrace_atlas_object *vdso;
	struct argtrace_atlas *atlas;
	int ret;

	ret = argtrace_memory_charge(atlas_charge());
	if (ret)
		return ERR_PTR(ret);
	atlas = argtrace_kvzalloc(sizeof(*atlas));
	if (!atlas) {
		argtrace_memory_uncharge(atlas_charge());
		return ERR_PTR(-ENOMEM);
	}
	spin_lock_init(&atlas->lock);
	INIT_LIST_HEAD(&atlas->waiting);
	INIT_LIST_HEAD(&atlas->idle);
	INIT_DELAYED_WORK(&atlas->release, argtrace_objects_release);
	atlas->owner = *owner;
	kref_init(&atlas->references);
	atlas->next_number = ARGTRACE_OBJECT_FIRST;
	vdso = argtrace_objects_new(ARGTRACE_OBJECT_VDSO, ARGTRACE_GFP);
	if (!vdso) {
		argtrace_atlas_put(atlas);
		return ERR_PTR(-ENOMEM);
	}
	vdso->mapped = 1;
	atlas->objects[ARGTRACE_OBJECT_VDSO] = vdso;
	return atlas;
}

struct argtrace_atlas *argtrace_atlas_create(const struct argtrace_atlas_owner *owner)
{
	struct argtrace_atlas *atlas;
	int ret;

	if (!ARGTRACE_CAN_FOLLOW_MAPPINGS)
		return ERR_PTR(-EOPNOTSUPP);
	argtrace_user_learn();
	atlas = argtrace_atlas_alloc(owner);
	if (IS_ERR(atlas))
		return atlas;
	ret = argtrace_follow(atlas);
	if (!ret)
		return atlas;
	argtrace_atlas_put(atlas);
	return ERR_PTR(ret);
}

void argtrace_atlas_free(struct argtrace_atlas *atlas)
{
	argtrace_unfollow(atlas);
	argtrace_atlas_desert(atlas, READ_ONCE(atlas->provider));
	argtrace_atlas_put(atlas);
}
