// SPDX-License-Identifier: GPL-2.0-only
/* The probes of a session, by id and by address. */
#include <kunit/test.h>
#include <linux/mm.h>

#include "fixtures.h"
#include "probe/catalog.h"

#define BASE	0xffffffff81000000ul

KUNIT_DEFINE_ACTION_WRAPPER(free_catalog_action, argtrace_catalog_free, struct argtrace_catalog *);

static struct argtrace_catalog *make_catalog(struct kunit *test)
{
	struct argtrace_catalog *catalog = kunit_kzalloc(test, sizeof(*catalog), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, catalog);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_catalog_action, catalog), 0);
	return catalog;
}

/* Adds probes at the addresses, which are in order; the plans are in `plans` afterwards. */
static void add(struct kunit *test, struct argtrace_catalog *catalog, const unsigned long *addrs,
		u32 count, struct argtrace_plan **plans)
{
	struct argtrace_catalog_room room;
	u32 i;

	for (i = 0; i < count; i++)
		plans[i] = make_plan(test, make_probe(test, addrs[i], 1));
	KUNIT_ASSERT_EQ(test, argtrace_catalog_reserve(catalog, count, &room), 0);
	argtrace_catalog_number(catalog, plans, count);
	argtrace_catalog_add(catalog, plans, count, &room);
	KUNIT_EXPECT_NULL(test, room.by_id);
	KUNIT_EXPECT_NULL(test, room.by_addr);
}

static void expect_sorted(struct kunit *test, const struct argtrace_catalog *catalog)
{
	u32 i;

	for (i = 1; i < catalog->nr_addrs; i++)
		KUNIT_EXPECT_LT(test, catalog->by_addr[i - 1]->addr, catalog->by_addr[i]->addr);
}

static void empty(struct kunit *test)
{
	struct argtrace_catalog *catalog = make_catalog(test);

	KUNIT_EXPECT_NULL(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, BASE));
	KUNIT_EXPECT_NULL(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, 0));
}

static void ids_begin_at_one_and_go_on(struct kunit *test)
{
	static const unsigned long first[] = { BASE + 0x100, BASE + 0x300, BASE + 0x500 };
	static const unsigned long second[] = { BASE, BASE + 0x200, BASE + 0x600 };
	struct argtrace_catalog *catalog = make_catalog(test);
	struct argtrace_plan *plans[6];
	u32 i;

	add(test, catalog, first, 3, plans);
	add(test, catalog, second, 3, plans + 3);
	KUNIT_EXPECT_EQ(test, catalog->nr_ids, 7);
	KUNIT_EXPECT_EQ(test, catalog->nr_addrs, 6);
	KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 6);
	KUNIT_EXPECT_NULL(test, catalog->by_id[0]);
	expect_sorted(test, catalog);
	for (i = 0; i < 6; i++) {
		KUNIT_EXPECT_EQ(test, plans[i]->id, i + 1);
		KUNIT_EXPECT_EQ(test, plans[i]->schema->id, i + 1);
		KUNIT_EXPECT_PTR_EQ(test, catalog->by_id[i + 1], plans[i]);
		KUNIT_EXPECT_PTR_EQ(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, plans[i]->addr), plans[i]);
		KUNIT_EXPECT_NULL(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, plans[i]->addr + 4));
	}
}

static void removed_probes_stay(struct kunit *test)
{
	static const unsigned long addrs[] = { BASE, BASE + 0x100 };
	struct argtrace_catalog *catalog = make_catalog(test);
	struct argtrace_plan *plans[2];

	add(test, catalog, addrs, 2, plans);
	argtrace_catalog_set_removed(catalog, plans[0], true);
	KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 1);
	KUNIT_EXPECT_TRUE(test, plans[0]->removed);
	KUNIT_EXPECT_EQ(test, plans[0]->schema->flags, ARGTRACE_PROBE_REMOVED);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, BASE), plans[0]);
	argtrace_catalog_set_removed(catalog, plans[0], false);
	KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 2);
	KUNIT_EXPECT_EQ(test, plans[0]->schema->flags, 0);
}

/* By address the newest is found; by id both are, and the id of the first is never given again. */
static void a_new_probe_replaces_a_removed_one(struct kunit *test)
{
	static const unsigned long addrs[] = { BASE, BASE + 0x100, BASE + 0x200 };
	struct argtrace_catalog *catalog = make_catalog(test);
	struct argtrace_plan *plans[3], *again;

	add(test, catalog, addrs, 3, plans);
	argtrace_catalog_set_removed(catalog, plans[1], true);
	add(test, catalog, addrs + 1, 1, &again);
	KUNIT_EXPECT_EQ(test, again->id, 4);
	KUNIT_EXPECT_EQ(test, catalog->nr_addrs, 3);
	KUNIT_EXPECT_EQ(test, catalog->nr_ids, 5);
	KUNIT_EXPECT_EQ(test, catalog->nr_live[ARGTRACE_LANE_PLAIN], 3);
	KUNIT_EXPECT_PTR_EQ(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, addrs[1]), again);
	KUNIT_EXPECT_PTR_EQ(test, catalog->by_id[2], plans[1]);
	expect_sorted(test, catalog);
}

/* Kinds are apart, at the same address too; each is sorted by address. */
static void kinds_do_not_meet(struct kunit *test)
{
	static const unsigned long addrs[] = { BASE, BASE + 0x100 };
	const u16 other = ARGTRACE_KIND_ENTRY + 1;
	struct argtrace_catalog *catalog = make_catalog(test);
	struct argtrace_plan *plans[2], *others[2];
	struct argtrace_catalog_room room;
	u32 i;

	add(test, catalog, addrs, 2, plans);
	for (i = 0; i < 2; i++) {
		others[i] = argtrace_plan_create_at(plans[i], addrs[i]);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, others[i]);
		others[i]->kind = other;
	}
	KUNIT_ASSERT_EQ(test, argtrace_catalog_reserve(catalog, 2, &room), 0);
	argtrace_catalog_number(catalog, others, 2);
	argtrace_catalog_add(catalog, others, 2, &room);
	KUNIT_EXPECT_EQ(test, catalog->nr_addrs, 4);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_PTR_EQ(test, argtrace_catalog_find(catalog, ARGTRACE_KIND_ENTRY, addrs[i]), plans[i]);
		KUNIT_EXPECT_PTR_EQ(test, argtrace_catalog_find(catalog, other, addrs[i]), others[i]);
		KUNIT_EXPECT_NULL(test, argtrace_catalog_find(catalog, other + 1, addrs[i]));
	}
}

static void no_more_than_the_limit(struct kunit *test)
{
	struct argtrace_catalog full = { .nr_ids = ARGTRACE_MAX_PROBES - 5 };
	struct argtrace_catalog none = { };
	struct argtrace_catalog_room room;

	KUNIT_EXPECT_EQ(test, argtrace_catalog_reserve(&full, 6, &room), -E2BIG);
	KUNIT_EXPECT_EQ(test, argtrace_catalog_reserve(&full, U32_MAX, &room), -E2BIG);
	KUNIT_EXPECT_EQ(test, argtrace_catalog_reserve(&none, ARGTRACE_MAX_PROBES + 1, &room), -E2BIG);
	KUNIT_EXPECT_EQ(test, argtrace_catalog_reserve(&full, 5, &room), 0);
	argtrace_catalog_room_free(&room);
}

static struct kunit_case catalog_cases[] = {
	KUNIT_CASE(empty),
	KUNIT_CASE(ids_begin_at_one_and_go_on),
	KUNIT_CASE(removed_probes_stay),
	KUNIT_CASE(a_new_probe_replaces_a_removed_one),
	KUNIT_CASE(kinds_do_not_meet),
	KUNIT_CASE(no_more_than_the_limit),
	{ }
};

static struct kunit_suite catalog_suite = {
	.name = "argtrace_catalog",
	.test_cases = catalog_cases,
};
kunit_test_suite(catalog_suite);
