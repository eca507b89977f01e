// SPDX-License-Identifier: GPL-2.0-only
/* Paths in programs: what a record has of them, and what is refused. */
#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/namei.h>
#include <linux/shmem_fs.h>

#include "fixtures.h"
#include "path_fixtures.h"
#include "ring_read.h"
#include "targets.h"

/* A program with two paths, one of them through mounts, around a number. */
static struct made_probe *probe_with_paths(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_REG, .index = 0, .mask = ~0ull, .offset = { offsetof(struct file, f_path) },
		  .action = ARGTRACE_DO_PATH, .base = 8 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 1, .mask = ~0ull, .action = ARGTRACE_DO_OUT, .arg = 1 },
		{ .source = ARGTRACE_SOURCE_REG, .index = 0, .loads = 1, .width = 8, .mask = ~0ull,
		  .offset = { offsetof(struct file, f_path.dentry) }, .action = ARGTRACE_DO_PATH, .arg = 1 },
	};
	static const struct { u8 type; u16 size; } outputs[] = {
		{ ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX }, { ARGTRACE_TYPE_U8, 1 }, { ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_program *head = (void *)probe->program;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(outputs); i++)
		probe->args[probe->head.nr_args++] = (struct argtrace_arg){
			.loc = ARGTRACE_LOC_PROGRAM, .type = outputs[i].type, .size = outputs[i].size,
			.name = made_probe_string(probe, "out"), .type_name = made_probe_string(probe, "?"),
		};
	*head = (struct argtrace_program){ .nr_insns = ARRAY_SIZE(insns), .data = 8 + sizeof(mount_layout) };
	memcpy(head + 1, insns, sizeof(insns));
	memcpy((u8 *)(head + 1) + sizeof(insns) + 8, &mount_layout, sizeof(mount_layout));
	probe->head.program = sizeof(*head) + sizeof(insns) + head->data;
	made_probe_seal(probe);
	return probe;
}

static struct argtrace_insn *insns_of(struct made_probe *probe)
{
	return (void *)((struct argtrace_program *)probe->program + 1);
}

static struct argtrace_mount_layout *layout_of(struct made_probe *probe)
{
	return (void *)&insns_of(probe)[3] + 8;
}

static void in_a_record(struct kunit *test)
{
	static const u8 expected[] = "\x0e\0" "\0\0" "version/proc/" "!" "\x0a\0" "\0\0" "version/";
	struct argtrace_session *session = make_session_like(test, attr_of_clock(test));
	struct file *file = filp_open("/proc/version", O_RDONLY, 0);
	struct seen seen;
	u32 length;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe_with_paths(test)), 0);
	target_three((u64)file, '!', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	/* Behind the caller's address and the word that says what could not be read. */
	length = 2 + 2 + 13 + 1 + 2 + 2 + 8;
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + length, 8));
	KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), 0);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16), 2 + 13);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 18, expected + 2, 2 + 13 + 1);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16 + 18), 2 + 8);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16 + 20, expected + 20, 2 + 8);
	/* A pointer to nowhere, in the quick way and in the other. */
	target_three(0x40, '?', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.data[8], 5);
	KUNIT_EXPECT_EQ(test, seen.data[18], '?');
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + 2 + 1 + 2, 8));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	fput(file);
}

/* A constant address: in a record it is no other than what the program says. */
static void of_an_address_that_is_written(struct kunit *test)
{
	struct argtrace_session *session = make_session_like(test, attr_of_clock(test));
	struct file *file = filp_open("/proc/version", O_RDONLY, 0);
	struct made_probe *probe = probe_with_paths(test);
	struct seen seen;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	insns_of(probe)[0].source = ARGTRACE_SOURCE_CONST;
	insns_of(probe)[0].span = (u64)file;
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
	target_three((u64)file, '!', 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, *(u64 *)(seen.data + 8), 0);
	KUNIT_EXPECT_EQ(test, *(u16 *)(seen.data + 16), 2 + 13);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 20, "version/proc/", 13);
	fput(file);
}

/* What a record has of a path behind the caller's address. */
struct alone {
	u64 unreadable;
	u16 length, flags;
	u8 rest[];
};

static const struct alone *next_alone(struct kunit *test, struct argtrace_session *session, struct seen *seen, const void *from)
{
	const struct alone *alone = (const void *)(seen->data + sizeof(u64));

	target_three((u64)from, 0, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen->head.size, ALIGN(16 + 8 + 8 + 2 + alone->length, 8));
	return alone;
}

/*
 * A path that is the only output, for which there is a way of its own: within a mount, across one, in no namespace, in no folder, and of
 * nothing.
 */
static void alone(struct kunit *test)
{
	struct argtrace_session *session = make_session_like(test, attr_of_clock(test));
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_program *head = (void *)probe->program;
	struct argtrace_insn *insn = (void *)(head + 1);
	struct vfsmount *mnt = make_tmpfs(test);
	struct path in_no_namespace = { .mnt = mnt, .dentry = make_dir(test, mnt->mnt_root, "name") };
	struct path root, version, nothing = { }, wild = { .mnt = mnt, .dentry = (void *)8 };
	struct file *memory = shmem_file_setup("some memory", PAGE_SIZE, 0);
	const struct alone *seen_alone;
	struct seen seen;

	KUNIT_ASSERT_EQ(test, kern_path("/sys", 0, &root), 0);
	KUNIT_ASSERT_EQ(test, kern_path("/proc/version", 0, &version), 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, memory);
	*head = (struct argtrace_program){ .nr_insns = 1, .data = sizeof(mount_layout) };
	*insn = (struct argtrace_insn){
		.source = ARGTRACE_SOURCE_REG, .index = 0, .mask = ~0ull, .action = ARGTRACE_DO_PATH,
	};
	memcpy(insn + 1, &mount_layout, sizeof(mount_layout));
	probe->head.program = sizeof(*head) + sizeof(*insn) + sizeof(mount_layout);
	add_output(probe, ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX);
	KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);

	seen_alone = next_alone(test, session, &seen, &root);
	KUNIT_EXPECT_EQ(test, seen_alone->unreadable, 0);
	KUNIT_EXPECT_EQ(test, seen_alone->length, 2 + 4);
	KUNIT_EXPECT_EQ(test, seen_alone->flags, 0);
	KUNIT_EXPECT_MEMEQ(test, seen_alone->rest, "sys/", 4);
	seen_alone = next_alone(test, session, &seen, &version);
	KUNIT_EXPECT_EQ(test, seen_alone->length, 2 + 13);
	KUNIT_EXPECT_EQ(test, seen_alone->flags, 0);
	KUNIT_EXPECT_MEMEQ(test, seen_alone->rest, "version/proc/", 13);
	seen_alone = next_alone(test, session, &seen, &in_no_namespace);
	KUNIT_EXPECT_EQ(test, seen_alone->length, 2 + 5);
	KUNIT_EXPECT_EQ(test, seen_alone->flags, ARGTRACE_PATH_DETACHED);
	KUNIT_EXPECT_MEMEQ(test, seen_alone->rest, "name/", 5);
	seen_alone = next_alone(test, session, &seen, &memory->f_path);
	KUNIT_EXPECT_EQ(test, seen_alone->flags, ARGTRACE_PATH_PSEUDO);
	seen_alone = next_alone(test, session, &seen, &nothing);
	KUNIT_EXPECT_EQ(test, seen_alone->unreadable, 0);
	KUNIT_EXPECT_EQ(test, seen_alone->length, 2);
	KUNIT_EXPECT_EQ(test, seen_alone->flags, ARGTRACE_PATH_NONE);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	seen_alone = next_alone(test, session, &seen, &wild);
	KUNIT_EXPECT_EQ(test, seen_alone->unreadable, 1);
	KUNIT_EXPECT_EQ(test, seen_alone->length, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 6);
	fput(memory);
	path_put(&version);
	path_put(&root);
	kern_unmount(mnt);
}

struct bad_path {
	const char *name;
	void (*spoil)(struct made_probe *probe, struct argtrace_insn *insns, struct argtrace_mount_layout *layout);
};

#define BAD(id, text, what) \
	static void bad_##id(struct made_probe *probe, struct argtrace_insn *insns, struct argtrace_mount_layout *layout) \
	{ what; }
#define BAD_PATHS(B) \
	B(odd, "a layout at no multiple of 8", insns[0].base = 4) \
	B(beyond, "a layout beyond the data", insns[0].base = 16) \
	B(far, "a layout far beyond the data", insns[0].base = 1ull << 32 | 8) \
	B(little, "data that is shorter than a layout", (((struct argtrace_program *)probe->program)->data = 8, \
							 probe->head.program -= sizeof(*layout), insns[0].base = 0, made_probe_seal(probe))) \
	B(mnt, "an offset of no pointer", layout->mnt = 33) \
	B(mnt_parent, "an offset of 4", layout->mnt_parent = 4) \
	B(mountpoint, "a large offset", layout->mnt_mountpoint = ARGTRACE_MOUNT_MAX) \
	B(mnt_ns, "a negative offset", layout->mnt_ns = (u32)-8) \
	B(ns_root, "an offset of 12", layout->ns_root = 12) \
	B(large_root, "a large offset in the namespace", layout->ns_root = ARGTRACE_MOUNT_MAX) \
	B(reserved, "something reserved", layout->reserved = 1) \
	B(kind, "of nothing that has a path", insns[0].arg = 3) \
	B(name, "a large offset in a node", (insns[0].arg = ARGTRACE_PATH_OF_NODE, layout->mnt = ARGTRACE_MOUNT_MAX)) \
	B(parent, "an odd offset in a node", (insns[0].arg = ARGTRACE_PATH_OF_NODE, layout->mnt_parent = 20)) \
	B(node, "a node's layout beyond the data", (insns[0].arg = ARGTRACE_PATH_OF_NODE, insns[0].base = 32)) \
	B(needless, "a layout for a dentry", insns[2].base = 8) \
	B(size, "an argument of another size", probe->args[0].size = 64) \
	B(type, "an argument that is text", probe->args[0].type = ARGTRACE_TYPE_STR) \
	B(output, "an output that is text", (insns[0].action = ARGTRACE_DO_STR, insns[0].arg = 64)) \
	B(then, "a jump", insns[0].then = 1)
BAD_PATHS(BAD)

#define BAD_ROW(id, text, what) { text, bad_##id },
static const struct bad_path bad_paths[] = { BAD_PATHS(BAD_ROW) };

static void describe_bad(const struct bad_path *bad, char *text)
{
	strscpy(text, bad->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(bad, bad_paths, describe_bad);

static void refused(struct kunit *test)
{
	const struct bad_path *bad = test->param_value;
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = probe_with_paths(test);
	struct argtrace_plan *plan = make_plan(test, probe);
	u64 length;

	argtrace_plan_free(plan);
	bad->spoil(probe, insns_of(probe), layout_of(probe));
	length = probe->head.size;
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_PTR_EQ_MSG(test, plan, ERR_PTR(-EINVAL), "%s", bad->name);
	argtrace_plan_free(plan);
}

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

static struct kunit_case path_program_cases[] = {
	KUNIT_CASE_PARAM(in_a_record, clock_gen_params),
	KUNIT_CASE_PARAM(of_an_address_that_is_written, clock_gen_params),
	KUNIT_CASE_PARAM(alone, clock_gen_params),
	KUNIT_CASE_PARAM(refused, bad_gen_params),
	{ }
};

static struct kunit_suite path_program_suite = {
	.name = "argtrace_path_program",
	.init = stay_on_this_cpu,
	.test_cases = path_program_cases,
};
kunit_test_suite(path_program_suite);
