// SPDX-License-Identifier: GPL-2.0-only
/* Programs: which calls they take, and the values and texts that they record. */
#include <kunit/test.h>
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/vmalloc.h>

#include "program_fixtures.h"
#include "ring_read.h"
#include "targets.h"

static void a_filter_on_an_argument(struct kunit *test)
{
	static const struct argtrace_insn filter = { ARGUMENT(1), ACCEPT_IF(10, 20) };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct argtrace_session *session;
	struct argtrace_counts counts;
	static struct seen seen[4];
	u64 b, words[4];

	set_program(probe, &filter, 1, 1, NULL);
	session = trace_with(test, probe);
	for (b = 9; b <= 21; b++)
		target_three(1, b, 3);
	target_three(1, -15, 3);
	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 4), 11);
	memcpy(words, seen[3].data, sizeof(words));
	KUNIT_EXPECT_EQ(test, words[1], 1);
	KUNIT_EXPECT_EQ(test, words[2], 13);
	KUNIT_EXPECT_EQ(test, words[3], 3);
	counts = counts_of(session, 1);
	KUNIT_EXPECT_EQ(test, counts.records, 11);
	KUNIT_EXPECT_EQ(test, counts.filtered, 3);
	KUNIT_EXPECT_EQ(test, counts.faults, 0);
}

struct inner { u32 number; s16 narrow; u8 text[10]; };
struct outer { u64 pad; struct inner *inner; };

/* a->inner->number == 7, where the memory may not be there. */
static void a_filter_behind_pointers(struct kunit *test)
{
	static const struct argtrace_insn filter = {
		ARGUMENT(0), ACCEPT_IF(7, 7), .loads = 2, .width = 4,
		.offset = { offsetof(struct outer, inner), offsetof(struct inner, number) },
	};
	static const u64 nowhere[] = { 0, 0x10, 0x7fffffffe000, 0x0000800000000000, 0x8000000000000000, 0xdead000000000100,
				       (u64)-ENOMEM, 0xffffffffff600000, 0xf000000000000000 };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 3);
	struct inner inner = { .number = 7 };
	struct outer outer = { .inner = &inner };
	struct argtrace_session *session;
	u32 i;

	set_program(probe, &filter, 1, 1, NULL);
	session = trace_with(test, probe);
	target_three((u64)&outer, 0, 0);
	inner.number = 8;
	target_three((u64)&outer, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	for (i = 0; i < ARRAY_SIZE(nowhere); i++) {
		target_three(nowhere[i], 0, 0);
		outer.inner = (void *)nowhere[i];
		target_three((u64)&outer, 0, 0);
		KUNIT_EXPECT_EQ_MSG(test, counts_of(session, 1).faults, 2 * (i + 1), "%llx", nowhere[i]);
	}
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1 + 2 * ARRAY_SIZE(nowhere));
}

/* User, group and cgroup, compared and recorded, of a task that acts as another user. */
static void who_calls(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, .action = ARGTRACE_DO_TEST,
		  .base = 1234, .then = 1, .other = ARGTRACE_REJECT },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_GID, .mask = ALL, ACCEPT_IF(5678, 5678) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_GID, .mask = ALL, OUT(4) },
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_CGROUP, .mask = ALL, OUT(8) },
		/* Not quick: shifted. */
		{ .source = ARGTRACE_SOURCE_IDENTITY, .index = ARGTRACE_IDENTITY_UID, .mask = ALL, .shr = 4, OUT(8) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct { u64 caller, unreadable; u32 uid, gid; u64 cgroup, shifted; } __packed got;
	struct argtrace_session *session;
	const struct cred *before;
	struct cred *other;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	set_program(probe, insns, ARRAY_SIZE(insns), 2, NULL);
	session = trace_with(test, probe);

	other = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, other);
	other->uid = KUIDT_INIT(1234);
	other->gid = KGIDT_INIT(5678);
	target_three(1, 2, 3);
	before = override_creds(other);
	target_three(1, 2, 3);
	revert_creds(before);
	put_cred(other);

	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(&got, seen.data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.unreadable, 0);
	KUNIT_EXPECT_EQ(test, got.uid, 1234);
	KUNIT_EXPECT_EQ(test, got.gid, 5678);
	KUNIT_EXPECT_EQ(test, got.shifted, 1234 >> 4);
	KUNIT_EXPECT_EQ(test, got.cgroup, argtrace_current_cgroup());
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
}

/* What is read without a net is within the task, whose last member may be smaller than it says. */
static void only_what_a_task_surely_has(struct kunit *test)
{
	static struct { struct argtrace_probe head; struct argtrace_program program; struct argtrace_insn insn; } __packed schema;
	static struct { struct argtrace_code code; struct argtrace_op ops[ARGTRACE_OPS_EXTRA + 1]; } prepared;
	const s32 end = offsetof(struct task_struct, thread);
	const struct {
		s32 offset;
		u8 loads;
		u8 kind;
	} cases[] = {
		{ 0, 1, ARGTRACE_OP_TASK }, { end - 8, 1, ARGTRACE_OP_TASK }, { end - 7, 1, ARGTRACE_OP_LOAD_TASK },
		{ sizeof(struct task_struct) - 8, 1, ARGTRACE_OP_LOAD_TASK }, { S32_MAX, 1, ARGTRACE_OP_LOAD_TASK },
		{ -8, 1, ARGTRACE_OP_LOAD_TASK }, { S32_MIN, 1, ARGTRACE_OP_LOAD_TASK }, { 0, 2, ARGTRACE_OP_LOAD_TASK },
		{ 0, 0, ARGTRACE_OP_OTHER },
	};
	u32 i;

	schema.head = (struct argtrace_probe){ .size = sizeof(schema), .program = sizeof(schema.program) + sizeof(schema.insn) };
	schema.program = (struct argtrace_program){ .nr_insns = 1, .nr_filter = 1 };
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		schema.insn = (struct argtrace_insn){
			.source = ARGTRACE_SOURCE_TASK, .loads = cases[i].loads, .width = cases[i].loads ? 8 : 0,
			.offset = { cases[i].offset }, .mask = ALL, .then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
		};
		KUNIT_ASSERT_EQ(test, argtrace_code_prepare(&prepared.code, &schema.head, NULL, NULL, NULL), 0);
		KUNIT_EXPECT_EQ_MSG(test, prepared.code.filter->kind, cases[i].kind, "%d", cases[i].offset);
	}
}

/* The last bytes of a page with nothing behind it: read 8 at a time they would not be there. */
static void narrow_loads_at_the_end_of_a_page(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), ACCEPT_IF(0x5555, 0x5555), .loads = 1, .width = 2 },
		{ ARGUMENT(0), OUT(2), .loads = 1, .width = 2 },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	u8 *page = vmalloc(PAGE_SIZE);
	struct argtrace_session *session;
	struct seen seen;
	u16 got;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	memset(page, 0x55, PAGE_SIZE);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	set_program(probe, insns, ARRAY_SIZE(insns), 1, NULL);
	session = trace_with(test, probe);
	for (i = 2; i <= 9; i++) {
		target_three((u64)page + PAGE_SIZE - i, 0, 0);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		memcpy(&got, seen.data + 16, sizeof(got));
		KUNIT_EXPECT_EQ(test, got, 0x5555);
	}
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	target_three((u64)page + PAGE_SIZE - 1, 0, 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).filtered, 1);
	vfree(page);
}

/* Memory that holds what a failed load leaves is memory like any other. */
static void what_looks_like_a_failure(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), ACCEPT_IF((u64)-EFAULT, (u64)-EFAULT), .loads = 1, .width = 8 },
		{ ARGUMENT(0), OUT(8), .loads = 1, .width = 8 },
		{ ARGUMENT(1), OUT(4) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	u64 stored = -EFAULT, got;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U64, 8);
	add_output(probe, ARGTRACE_TYPE_U32, 4);
	set_program(probe, insns, ARRAY_SIZE(insns), 1, NULL);
	session = trace_with(test, probe);
	target_three((u64)&stored, 0x12345678, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(&got, seen.data + 16, sizeof(got));
	KUNIT_EXPECT_EQ(test, got, (u64)-EFAULT);
	KUNIT_EXPECT_EQ(test, seen.data[8], 0);
	KUNIT_EXPECT_EQ(test, *(u32 *)(seen.data + 24), 0x12345678);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
}

/* Values after the plain arguments: signed, narrow, and one that cannot be read between others that can. */
static void values(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), OUT(4), .loads = 2, .width = 4,
		  .offset = { offsetof(struct outer, inner), offsetof(struct inner, number) } },
		{ ARGUMENT(1), OUT(2), .loads = 1, .width = 2 },
		{ ARGUMENT(0), OUT(8), .loads = 2, .width = 2, .shl = 48, .shr = 48, .flags = ARGTRACE_INSN_SIGNED,
		  .offset = { offsetof(struct outer, inner), offsetof(struct inner, narrow) } },
		{ .source = ARGTRACE_SOURCE_CONST, .mask = ALL, .span = 0x1234, OUT(2) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
	struct inner inner = { .number = 0xfeedbeef, .narrow = -2 };
	struct outer outer = { .inner = &inner };
	struct argtrace_session *session;
	struct {
		u64 caller, a0, unreadable;
		u32 number;
		u16 nothing;
		s64 narrow;
		u16 constant;
	} __packed got;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_U32, 4);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	add_output(probe, ARGTRACE_TYPE_S64, 8);
	add_output(probe, ARGTRACE_TYPE_U16, 2);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	target_three((u64)&outer, 0x40, 3);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + sizeof(got), 8));
	memcpy(&got, seen.data, sizeof(got));
	KUNIT_EXPECT_EQ(test, got.a0, (u64)&outer);
	KUNIT_EXPECT_EQ(test, got.unreadable, 2);
	KUNIT_EXPECT_EQ(test, got.number, 0xfeedbeef);
	KUNIT_EXPECT_EQ(test, got.nothing, 0);
	KUNIT_EXPECT_EQ(test, got.narrow, -2);
	KUNIT_EXPECT_EQ(test, got.constant, 0x1234);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
}

/* Reads the next record, of a probe without arguments of its own, and returns which of its outputs could not be read. */
static u64 unreadable_in_next(struct kunit *test, struct argtrace_session *session, struct seen *seen)
{
	u64 unreadable;

	KUNIT_ASSERT_EQ(test, read_records(test, session, seen, 1), 1);
	memcpy(&unreadable, seen->data + 8, sizeof(unreadable));
	return unreadable;
}

/* The texts that pointers lead to, as the arguments of a program are: all of them, cut, and not to be read. */
static void texts_behind_pointers(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STRS, .arg = 12, .other = 8 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_STRS, .arg = 5, .other = 8, .then = ARGTRACE_OUT_NULL },
	};
	const char *of_two[] = { "ls", "", "-l /tmp", NULL }, *bad[] = { "ls", (const char *)0x10, NULL }, *none[] = { NULL };
	static const u8 cut[] = { 5, ARGTRACE_TEXT_CUT >> 8, 'l', 's', 0, 0, '-' };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	static const u8 nothing[4];
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_BYTES, 12);
	add_output(probe, ARGTRACE_TYPE_BYTES, 5);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	target_three((u64)of_two, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 0);
	/* The last NUL has room in twelve bytes. */
	KUNIT_EXPECT_MEMEQ(test, seen.data + 18, "ls\0\0-l /tmp", 12);
	KUNIT_EXPECT_EQ(test, *(const u16 *)(seen.data + 16), 12);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 30, cut, sizeof(cut));

	target_three((u64)none, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16, nothing, sizeof(nothing));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);

	target_three((u64)bad, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 3);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16, nothing, sizeof(nothing));

	/* NULL is nothing for the second one only. */
	target_three(0, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 1);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16, nothing, sizeof(nothing));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 2);
}

/* What two registers have together: of either length, and what cannot be read of either. */
static void words_of_registers(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 7 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_WORDS, .arg = 16, .base = 7 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_WORDS, .arg = 3 },
		{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 2 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_WORDS, .arg = 9, .base = 2 },
		{ ARGUMENT(2), .action = ARGTRACE_DO_SET, .arg = 0, .loads = 1, .width = 8 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_WORDS, .arg = 12, .base = 0 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_WORDS, .arg = 8 },
	};
	static const u8 expected[] = {
		16, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,
		3, 0, 8, 7, 6,
		9, 0, 8, 7, 6, 5, 4, 3, 2, 1, 0x18,
		0, 0,
		8, 0, 8, 7, 6, 5, 4, 3, 2, 1,
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_BYTES, 16);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	add_output(probe, ARGTRACE_TYPE_BYTES, 9);
	add_output(probe, ARGTRACE_TYPE_BYTES, 12);
	add_output(probe, ARGTRACE_TYPE_BYTES, 8);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	target_three(0x0102030405060708, 0x1112131415161718, 0xf000000000000000);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 8);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16, expected, sizeof(expected));
}

/* As many texts as there may be, of which none has a byte: the end is where the limit is. */
static void many_texts(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STRS, .arg = 2 * ARGTRACE_STRS_MAX, .other = 8 },
	};
	const char **texts = kunit_kcalloc(test, ARGTRACE_STRS_MAX + 2, sizeof(*texts), GFP_KERNEL);
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	struct seen seen;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, texts);
	add_output(probe, ARGTRACE_TYPE_BYTES, 2 * ARGTRACE_STRS_MAX);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	for (i = 0; i < ARGTRACE_STRS_MAX; i++)
		texts[i] = "";
	target_three((u64)texts, 1, 2);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, *(const u16 *)(seen.data + 16), ARGTRACE_STRS_MAX);
	texts[ARGTRACE_STRS_MAX] = "";
	target_three((u64)texts, 1, 2);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, *(const u16 *)(seen.data + 16), ARGTRACE_STRS_MAX | ARGTRACE_TEXT_CUT);
}

/* What is nothing at NULL, of each kind, and a path that is none. */
static void nothing_at_null(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 12, .then = ARGTRACE_OUT_NULL },
		{ ARGUMENT(0), .action = ARGTRACE_DO_MEM, .arg = 3, .offset = { 64 }, .then = ARGTRACE_OUT_NULL },
		{ ARGUMENT(0), .action = ARGTRACE_DO_PATH, .arg = ARGTRACE_PATH_OF_DENTRY, .offset = { 64 }, .then = ARGTRACE_OUT_NULL },
	};
	static const u8 expected[] = { 0, 0, 0, 0, 2, 0, ARGTRACE_PATH_NONE, 0 };
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	struct argtrace_session *session;
	struct seen seen;

	add_output(probe, ARGTRACE_TYPE_STR, 12);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	add_output(probe, ARGTRACE_TYPE_PATH, ARGTRACE_PATH_MAX);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	target_three(0, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 0);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16, expected, sizeof(expected));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	/* The first page is not what is meant by NULL as soon as the address is beyond it. */
	target_three(ARGTRACE_NULL_END, 1, 2);
	KUNIT_EXPECT_EQ(test, unreadable_in_next(test, session, &seen), 7);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
}

/* What target_three() has recorded of the file of its first argument, taken as a descriptor; 1 if it could not be read. */
static u64 file_of_descriptor(struct kunit *test, struct argtrace_session *session, u64 descriptor, bool without_files)
{
	struct files_struct *files = current->files;
	struct seen seen;
	u64 words[2];

	/* Nobody else runs meanwhile who may look at them. */
	preempt_disable();
	if (without_files)
		current->files = NULL;
	target_three(descriptor, 0, 0);
	current->files = files;
	preempt_enable();
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(words, seen.data + sizeof(u64), sizeof(words));
	return words[0] ? 1 : words[1];
}

static void files_of_descriptors(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_FILE, .arg = 3 },
		{ .source = ARGTRACE_SOURCE_SLOT, .index = 3, .mask = ALL, OUT(8) },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	static const struct file_operations operations = { .owner = THIS_MODULE };
	struct file *file = anon_inode_getfile("[kunit]", &operations, NULL, O_RDONLY);
	const int descriptor = get_unused_fd_flags(O_CLOEXEC);
	struct argtrace_session *session;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_GE(test, descriptor, 0);
	fd_install(descriptor, file);
	add_output(probe, ARGTRACE_TYPE_U64, 8);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, descriptor, false), (u64)file);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, 1ull << 32 | descriptor, false), (u64)file);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, descriptor + 1, false), 0);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, 1 << 30, false), 0);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, -1, false), 0);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 0);
	KUNIT_EXPECT_EQ(test, file_of_descriptor(test, session, descriptor, true), 1);
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	session_remove_all(session);
	close_fd(descriptor);
}

/* Text: whole, cut, up to the end of what is there, and not there; a counted buffer. */
static void text_and_buffers(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 12 },
		{ ARGUMENT(1), .action = ARGTRACE_DO_SET, .arg = 3 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_BUF, .arg = 6, .base = 3 },
		{ ARGUMENT(0), .action = ARGTRACE_DO_MEM, .arg = 3 },
	};
	static const struct { const char *text; u16 length; } cases[] = {
		{ "", 0 }, { "a", 1 }, { "eightch", 7 }, { "eight ch", 8 }, { "twelve chars", 12 },
		{ "thirteen char", 12 | ARGTRACE_TEXT_CUT },
	};
	struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);
	u8 *page = vmalloc(PAGE_SIZE);
	struct argtrace_session *session;
	struct seen seen;
	u16 length;
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, page);
	add_output(probe, ARGTRACE_TYPE_STR, 12);
	add_output(probe, ARGTRACE_TYPE_BYTES, 6);
	add_output(probe, ARGTRACE_TYPE_BYTES, 3);
	set_program(probe, insns, ARRAY_SIZE(insns), 0, NULL);
	session = trace_with(test, probe);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		/* The text ends where the page ends, and there is none after it. */
		u8 *text = page + PAGE_SIZE - max(strlen(cases[i].text) + 1, 7ul), *at;
		const u16 text_length = cases[i].length & ~ARGTRACE_TEXT_CUT;

		memset(text, 0, 7);
		strcpy(text, cases[i].text);
		target_three((u64)text, i, 0);
		KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
		memcpy(&length, seen.data + 16, 2);
		KUNIT_EXPECT_EQ_MSG(test, length, cases[i].length, "%s", cases[i].text);
		KUNIT_EXPECT_MEMEQ(test, seen.data + 18, cases[i].text, text_length);
		at = seen.data + 18 + text_length;
		memcpy(&length, at, 2);
		KUNIT_EXPECT_EQ(test, length, i);
		KUNIT_EXPECT_MEMEQ(test, at + 2, text, i);
		at += 2 + i;
		memcpy(&length, at, 2);
		KUNIT_EXPECT_EQ(test, length, 3);
		KUNIT_EXPECT_MEMEQ(test, at + 2, text, 3);
		KUNIT_EXPECT_EQ(test, seen.head.size, ALIGN(16 + 16 + 2 + text_length + 2 + i + 2 + 3, 8));
	}
	/* A buffer of more bytes than are wanted: marked as a text is. */
	strcpy(page, "x");
	strcpy(page + 2, "buffer");
	target_three((u64)page, 7, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	memcpy(&length, seen.data + 16 + 2 + 1, 2);
	KUNIT_EXPECT_EQ(test, length, 6 | ARGTRACE_TEXT_CUT);
	KUNIT_EXPECT_MEMEQ(test, seen.data + 16 + 2 + 1 + 2, page, 6);
	target_three(0xf000000000000000, 9, 0);
	KUNIT_ASSERT_EQ(test, read_records(test, session, &seen, 1), 1);
	KUNIT_EXPECT_EQ(test, seen.head.size, 16 + 16 + 8);
	KUNIT_EXPECT_EQ(test, seen.data[8], 7);
	KUNIT_EXPECT_NULL(test, memchr_inv(seen.data + 9, 0, 7 + 6));
	KUNIT_EXPECT_EQ(test, counts_of(session, 1).faults, 1);
	vfree(page);
}

static void texts_in_filters(struct kunit *test)
{
	static const struct {
		const char *text, *literal;
		u8 how;
		bool matches;
	} cases[] = {
		{ "read", "read", ARGTRACE_MATCH_WHOLE, true }, { "reader", "read", ARGTRACE_MATCH_WHOLE, false },
		{ "rea", "read", ARGTRACE_MATCH_WHOLE, false }, { "reader", "read", ARGTRACE_MATCH_PREFIX, true },
		{ "rea", "read", ARGTRACE_MATCH_PREFIX, false }, { "proofread", "read", ARGTRACE_MATCH_SUFFIX, true },
		{ "proofreader", "read", ARGTRACE_MATCH_SUFFIX, false }, { "ad", "read", ARGTRACE_MATCH_SUFFIX, false },
		{ "proofreader", "read", ARGTRACE_MATCH_CONTAINS, true }, { "read", "read", ARGTRACE_MATCH_CONTAINS, true },
		{ "proof", "read", ARGTRACE_MATCH_CONTAINS, false }, { "vfs_read", "v*_r[de]?d", ARGTRACE_MATCH_GLOB, true },
		{ "vfs_road", "v*_r[de]?d", ARGTRACE_MATCH_GLOB, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct argtrace_insn filter = {
			ARGUMENT(0), .action = ARGTRACE_DO_TEXT, .arg = 64,
			.span = (u64)cases[i].how << 32 | strlen(cases[i].literal),
			.then = ARGTRACE_ACCEPT, .other = ARGTRACE_REJECT,
		};
		struct made_probe *probe = make_probe(test, (unsigned long)target_three, 1);
		struct argtrace_session *session;
		struct argtrace_counts counts;

		set_program(probe, &filter, 1, 1, cases[i].literal);
		session = trace_with(test, probe);
		target_three((u64)cases[i].text, 0, 0);
		target_three(0x20, 0, 0);
		counts = counts_of(session, 1);
		KUNIT_EXPECT_EQ_MSG(test, counts.records, cases[i].matches, "%s, %s, %u", cases[i].text,
				    cases[i].literal, cases[i].how);
		KUNIT_EXPECT_EQ(test, counts.faults, 1);
		session_remove_all(session);
	}
}

/* Where the oldest records are overwritten, none is missing from the counts: programs have no ways of their own there. */
static void in_a_flight_recorder(struct kunit *test)
{
	static const struct argtrace_insn insns[] = {
		{ ARGUMENT(0), .action = ARGTRACE_DO_STR, .arg = 16 },
		{ ARGUMENT(1), OUT(8) },
	};
	struct argtrace_session_attr attr = *attr_of_clock(test);
	struct argtrace_session *session;
	struct seen seen;
	u32 nr, outputs, i;

	attr.flags = ARGTRACE_SESSION_FLIGHT;
	for (outputs = 0; outputs < 2; outputs++) {
		struct made_probe *probe = make_probe(test, (unsigned long)target_three, 0);

		add_output(probe, outputs ? ARGTRACE_TYPE_STR : ARGTRACE_TYPE_U64, outputs ? 16 : 8);
		set_program(probe, &insns[!outputs], 1, 0, NULL);
		session = make_session_like(test, &attr);
		KUNIT_ASSERT_EQ(test, session_add(test, session, probe), 0);
		for (i = 0; i < 1000; i++)
			target_three((u64)"some text", 3, 0);
		KUNIT_EXPECT_EQ(test, counts_of(session, 1).records, 1000);
		nr = read_records(test, session, &seen, 1);
		KUNIT_EXPECT_GT(test, nr, 0);
		KUNIT_EXPECT_LT(test, nr, 1000);
		KUNIT_EXPECT_EQ(test, nr + ring_of(session)->control->overwritten, 1000);
		session_remove_all(session);
	}
}

KUNIT_ARRAY_PARAM(clock, session_clocks, describe_clock);

static struct kunit_case program_cases[] = {
	KUNIT_CASE_PARAM(a_filter_on_an_argument, clock_gen_params),
	KUNIT_CASE_PARAM(a_filter_behind_pointers, clock_gen_params),
	KUNIT_CASE_PARAM(who_calls, clock_gen_params),
	KUNIT_CASE_PARAM(only_what_a_task_surely_has, clock_gen_params),
	KUNIT_CASE_PARAM(narrow_loads_at_the_end_of_a_page, clock_gen_params),
	KUNIT_CASE_PARAM(what_looks_like_a_failure, clock_gen_params),
	KUNIT_CASE_PARAM(values, clock_gen_params),
	KUNIT_CASE(texts_behind_pointers),
	KUNIT_CASE(words_of_registers),
	KUNIT_CASE(many_texts),
	KUNIT_CASE(nothing_at_null),
	KUNIT_CASE_PARAM(files_of_descriptors, clock_gen_params),
	KUNIT_CASE_PARAM(text_and_buffers, clock_gen_params),
	KUNIT_CASE_PARAM(texts_in_filters, clock_gen_params),
	KUNIT_CASE_PARAM(in_a_flight_recorder, clock_gen_params),
	{ }
};

static struct kunit_suite program_suite = {
	.name = "argtrace_program",
	.init = stay_on_this_cpu,
	.test_cases = program_cases,
};
kunit_test_suite(program_suite);
