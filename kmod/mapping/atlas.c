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

static struct argtrace_atlas_object *make_vdso(void)
{
	const u64 charge = argtrace_kvmalloc_size(sizeof(struct argtrace_atlas_object));
	struct argtrace_atlas_object *vdso;

	if (argtrace_memory_charge(charge))
		return NULL;
	vdso = kzalloc(sizeof(*vdso), ARGTRACE_GFP);
	if (!vdso) {
		argtrace_memory_uncharge(charge);
		return NULL;
	}
	vdso->number = ARGTRACE_OBJECT_VDSO;
	vdso->mapped = 1;
	INIT_LIST_HEAD(&vdso->waiting);
	return vdso;
}

/* Without hooks, or when they have been unhooked. */
static void free_atlas(struct argtrace_atlas *atlas)
{
	argtrace_spaces_free(atlas);
	argtrace_objects_free(atlas);
	argtrace_memory_uncharge(atlas_charge());
	kvfree(atlas);
}

struct argtrace_atlas *argtrace_atlas_create(struct argtrace_notice *notice)
{
	struct argtrace_atlas *atlas;
	int ret;

	if (!ARGTRACE_CAN_FOLLOW_MAPPINGS)
		return ERR_PTR(-EOPNOTSUPP);
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
	atlas->notice = notice;
	atlas->next_number = ARGTRACE_OBJECT_FIRST;
	atlas->objects[ARGTRACE_OBJECT_VDSO] = make_vdso();
	ret = atlas->objects[ARGTRACE_OBJECT_VDSO] ? argtrace_follow(atlas) : -ENOMEM;
	if (!ret)
		return atlas;
	free_atlas(atlas);
	return ERR_PTR(ret);
}

void argtrace_atlas_free(struct argtrace_atlas *atlas)
{
	if (!atlas)
		return;
	argtrace_unfollow(atlas);
	free_atlas(atlas);
}
