/* SPDX-License-Identifier: GPL-2.0-only */
/* An atlas of what a test says, which no hook knows. */
#ifndef ARGTRACE_KUNIT_ATLAS_FIXTURES_H
#define ARGTRACE_KUNIT_ATLAS_FIXTURES_H

#include "mapping/atlas.h"

struct kunit;

/* With so many objects of files, numbered from ARGTRACE_OBJECT_FIRST on, and the vdso. */
struct argtrace_atlas *make_atlas(struct kunit *test, u32 objects);
void drop_atlas(struct argtrace_atlas *atlas);

#endif
