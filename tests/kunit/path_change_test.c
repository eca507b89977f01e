// SPDX-License-Identifier: GPL-2.0-only
/* Paths while files are renamed and mounts moved. */
#include <kunit/test.h>
#include <linux/dcache.h>
#include <linux/delay.h>
#include <linux/hw_breakpoint.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/perf_event.h>
/* Private to the kernel: what user space finds in BTF. */
#include <../fs/mount.h>

#include "machine.h"
#include "path_fixtures.h"
#include "ring_read.h"

/* As when our CPU is renaming: nobody is waited for. */
static void within_a_rename(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct path of;

	KUNIT_ASSERT_EQ(test, kern_path("/proc/version", 0, &of), 0);
	write_seqlock(&rename_lock);
	read_path_at(test, path, (u64)&of, &mount_layout);
	write_sequnlock(&rename_lock);
	KUNIT_EXPECT_STREQ(test, path->text, "/proc/version");
	KUNIT_EXPECT_EQ(test, path->flags, ARGTRACE_PATH_CHANGING);
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	path_put(&of);
}

#define LONG_NAME	"a name that is too long for the dentry that has it, so that it is elsewhere"

static struct {
	struct dentry *moved;
	struct dentry *to[2];
	u32 renames;
} race;

/* Renames what it is given between two folders, in one of which it has a long name. */
static int rename_all_the_time(void *unused)
{
	static const struct qstr names[] = { QSTR_INIT("short", 5), QSTR_INIT(LONG_NAME, sizeof(LONG_NAME) - 1) };
	struct dentry *target;
	u32 i = 0;

	while (!kthread_should_stop()) {
		i ^= 1;
		target = d_alloc(race.to[i], &names[i]);
		if (target) {
			d_move(race.moved, target);
			dput(target);
			race.renames++;
		}
		cond_resched();
	}
	return 0;
}

/* A path that is not marked is one that there was. */
static void while_it_is_renamed(struct kunit *test)
{
	struct read_path *path = make_read_path(test);
	struct vfsmount *mnt = make_tmpfs(test);
	u32 i, seen[2] = { }, marked = 0;
	struct task_struct *task;
	struct path of = { .mnt = mnt };

	race.to[0] = make_dir(test, mnt->mnt_root, "one");
	race.to[1] = make_dir(test, mnt->mnt_root, "two");
	race.moved = make_dir(test, race.to[0], "short");
	race.renames = 0;
	of.dentry = make_dir(test, race.moved, "file");
	task = kthread_create(rename_all_the_time, NULL, "argtrace_rename");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	/* This suite stays on one CPU. */
	kthread_bind(task, cpumask_next_wrap(raw_smp_processor_id(), cpu_online_mask, raw_smp_processor_id(), false));
	wake_up_process(task);
	for (i = 0; i < 200000; i++) {
		read_path(test, path, &of);
		if (path->flags & ARGTRACE_PATH_CHANGING) {
			marked++;
			continue;
		}
		KUNIT_ASSERT_EQ(test, path->flags, ARGTRACE_PATH_DETACHED);
		if (!strcmp(path->text, "/one/short/file"))
			seen[0]++;
		else if (!strcmp(path->text, "/two/" LONG_NAME "/file"))
			seen[1]++;
		else
			KUNIT_FAIL_AND_ABORT(test, "%s", path->text);
		if (i % 1000 == 0)
			cond_resched();
	}
	kthread_stop(task);
	kunit_info(test, "%u renames; %u and %u read, %u marked\n", race.renames, seen[0], seen[1], marked);
	/* Enough of each for the test to say something. */
	KUNIT_EXPECT_GT(test, race.renames, 100);
	KUNIT_EXPECT_GT(test, seen[0], 100);
	KUNIT_EXPECT_GT(test, seen[1], 100);
	KUNIT_EXPECT_GT(test, marked, 0);
	kern_unmount(mnt);
}

static struct {
	struct mount *moved;
	struct {
		struct mount *mount;
		struct dentry *mountpoint;
	} to[2];
	u32 moves;
} mount_race;

/* Moves what it is given between two mounts, as unhash_mnt() and mnt_set_mountpoint() do. */
static int move_all_the_time(void *unused)
{
	struct mount *moved = mount_race.moved;
	u32 i = 0;

	while (!kthread_should_stop()) {
		i ^= 1;
		WRITE_ONCE(moved->mnt_parent, moved);
		WRITE_ONCE(moved->mnt_mountpoint, moved->mnt.mnt_root);
		/* The CPU may be interrupted here, or not be run. */
		if (i)
			udelay(10);
		WRITE_ONCE(moved->mnt_mountpoint, mount_race.to[i].mountpoint);
		WRITE_ONCE(moved->mnt_parent, mount_race.to[i].mount);
		mount_race.moves++;
		/* The kernel cannot move it again within what a reader takes to look at it twice. */
		udelay(10);
		cond_resched();
	}
	return 0;
}

/* One is the root, two is mounted at its /place, and three, which is to be moved to /place/there, at its /here: a file in that. */
static struct path make_moved_mount(struct kunit *test, struct vfsmount *const files[3])
{
	struct mnt_namespace *namespace;
	struct mount *one, *two, *three;

	one = kunit_kzalloc(test, sizeof(*one), GFP_KERNEL);
	two = kunit_kzalloc(test, sizeof(*two), GFP_KERNEL);
	three = kunit_kzalloc(test, sizeof(*three), GFP_KERNEL);
	namespace = kunit_kzalloc(test, sizeof(*namespace), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, one && two && three && namespace);
	namespace->root = one;
	one->mnt_ns = two->mnt_ns = three->mnt_ns = namespace;
	one->mnt.mnt_root = files[0]->mnt_root;
	two->mnt.mnt_root = files[1]->mnt_root;
	three->mnt.mnt_root = files[2]->mnt_root;
	one->mnt_parent = one;
	two->mnt_parent = one;
	one->mnt_mountpoint = one->mnt.mnt_root;
	two->mnt_mountpoint = make_dir(test, one->mnt.mnt_root, "place");
	mount_race.to[0].mount = one;
	mount_race.to[0].mountpoint = make_dir(test, one->mnt.mnt_root, "here");
	mount_race.to[1].mount = two;
	mount_race.to[1].mountpoint = make_dir(test, two->mnt.mnt_root, "there");
	mount_race.moved = three;
	mount_race.moves = 0;
	three->mnt_parent = one;
	three->mnt_mountpoint = mount_race.to[0].mountpoint;
	return (struct path){ .mnt = &three->mnt, .dentry = make_dir(test, three->mnt.mnt_root, "file") };
}

/* The same of a mount. */
static void while_it_is_moved(struct kunit *test)
{
	struct vfsmount *files[] = { make_tmpfs(test), make_tmpfs(test), make_tmpfs(test) };
	const struct path of = make_moved_mount(test, files);
	struct read_path *path = make_read_path(test);
	u32 i, seen[2] = { }, marked = 0;
	struct task_struct *task;
	unsigned long end;

	task = kthread_create(move_all_the_time, NULL, "argtrace_move");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, cpumask_next_wrap(raw_smp_processor_id(), cpu_online_mask, raw_smp_processor_id(), false));
	wake_up_process(task);
	/* Until there was enough of each for the test to say something. */
	end = jiffies + 60 * HZ;
	for (i = 0; (mount_race.moves < 200 || seen[0] < 200 || seen[1] < 200 || !marked) && time_before(jiffies, end); i++) {
		if (i % 1000 == 0)
			cond_resched();
		read_path(test, path, &of);
		if (path->flags & ARGTRACE_PATH_CHANGING)
			marked++;
		else if (!path->flags && !strcmp(path->text, "/here/file"))
			seen[0]++;
		else if (!path->flags && !strcmp(path->text, "/place/there/file"))
			seen[1]++;
		else
			KUNIT_FAIL_AND_ABORT(test, "%s, %x", path->text, path->flags);
	}
	kthread_stop(task);
	kunit_info(test, "%u moves; %u and %u read, %u marked\n", mount_race.moves, seen[0], seen[1], marked);
	KUNIT_EXPECT_GE(test, mount_race.moves, 200);
	KUNIT_EXPECT_GE(test, seen[0], 200);
	KUNIT_EXPECT_GE(test, seen[1], 200);
	KUNIT_EXPECT_GT(test, marked, 0);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		kern_unmount(files[i]);
}

/* The moves that are left: each when the mount's parent has been read, and what it is mounted on has not. */
static u32 moves_left;

static void move_when_read(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	if (moves_left) {
		const u32 to = ++mount_race.moves & 1;

		mount_race.moved->mnt_parent = mount_race.to[to].mount;
		mount_race.moved->mnt_mountpoint = mount_race.to[to].mountpoint;
		moves_left--;
	}
}

/* Where one look at a mount sees the old place and the new one, there is a second; where that does as well, the path is marked. */
static void between_two_reads(struct kunit *test)
{
	struct vfsmount *files[] = { make_tmpfs(test), make_tmpfs(test), make_tmpfs(test) };
	const struct path of = make_moved_mount(test, files);
	struct read_path *path = make_read_path(test);
	struct perf_event_attr attr;
	struct perf_event *event;
	u32 i;

	if (!MACHINE_WATCHES_AFTERWARDS)
		kunit_skip(test, "a watchpoint comes before the access here, and each time that it is tried again");
	hw_breakpoint_init(&attr);
	attr.bp_addr = (unsigned long)&mount_race.moved->mnt_parent;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_RW;
	moves_left = 0;
	event = perf_event_create_kernel_counter(&attr, raw_smp_processor_id(), NULL, move_when_read, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	moves_left = 1;
	read_path(test, path, &of);
	KUNIT_EXPECT_EQ(test, mount_race.moves, 1);
	KUNIT_EXPECT_STREQ(test, path->text, "/place/there/file");
	KUNIT_EXPECT_EQ(test, path->flags, 0);
	moves_left = U32_MAX;
	read_path(test, path, &of);
	moves_left = 0;
	KUNIT_EXPECT_GT(test, mount_race.moves, 2);
	KUNIT_EXPECT_TRUE_MSG(test, path->flags & ARGTRACE_PATH_CHANGING, "%s, %x", path->text, path->flags);
	perf_event_release_kernel(event);
	for (i = 0; i < ARRAY_SIZE(files); i++)
		kern_unmount(files[i]);
}

static struct kunit_case path_change_cases[] = {
	KUNIT_CASE(within_a_rename),
	KUNIT_CASE_SLOW(while_it_is_renamed),
	KUNIT_CASE_SLOW(while_it_is_moved),
	KUNIT_CASE(between_two_reads),
	{ }
};

static struct kunit_suite path_change_suite = {
	.name = "argtrace_path_change",
	.init = stay_on_this_cpu,
	.test_cases = path_change_cases,
};
kunit_test_suite(path_change_suite);
