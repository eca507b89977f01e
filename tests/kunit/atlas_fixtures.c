// SPDX-License-Identifier: GPL-2.0-only
#include <kunit/test.h>
#include <linux/mm.h>

#include "atlas_fixtures.h"
#include "base/memory.h"

struct argtrace_atlas *make_atlas(struct kunit *test, u32 objects)
{
	static const struct argtrace_atlas_owner nobody;
	struct argtrace_atlas *atlas = argtrace_atlas_alloc(&nobody);
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(atlas));
	for (i = 0; i < objects; i++) {
		struct argtrace_atlas_object *object = argtrace_objects_new(atlas->next_number, GFP_KERNEL);

		KUNIT_ASSERT_NOT_NULL(test, object);
		object->opened = true;
		atlas->objects[atlas->next_number++] = object;
	}
	return atlas;
}

void drop_atlas(struct argtrace_atlas *atlas)
{
	argtrace_atlas_put(atlas);
}
