// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks of user stacks that are made by hand, with each kind of rule and each way to end. What compilers make of programs is
 * compared with what others say about it by the VM tests.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <asm/ucontext.h>

#include "arch/walk.h"
#include "atlas_fixtures.h"
#include "machine.h"
#include "stack/user.h"
#include "user_fixtures.h"

/* In the memory of the test: code, all of which looks like calls of 8 bytes; code that does not; the stack. */
#define TEXT	0x0
#define PLAIN	0x4000
#define STACK	0x10000
#define OFFSET	0x7000		/* of the code in its file */

/* A return address in the code, behind a call. */
#define AFTER(n)	(memory + TEXT + 8 * (n) + MACHINE_CALL_LENGTH)

static const struct argtrace_unwind_rule plain = {
	.cfa = ARGTRACE_CFA_REGISTER, .reg = MACHINE_SP, .ra = ARGTRACE_RA_MEMORY, .offset = 8, .ra_at = -1,
};

static struct argtrace_user_room room;
static struct argtrace_user_walked walked;
static struct argtrace_atlas *atlas;
static struct pt_regs regs;
static typeof(*machine_user_ip(NULL)) *ip, *sp, *fp, *kept, *other_kept, *scratch; /* in them */
static u64 memory;

/* The code is that of one object, at OFFSET in its file. */
static void map_code(struct kunit *test, u32 object, u64 begin, u64 end)
{
	const struct argtrace_mapping mapping = {
		.begin = begin,
		.end = end,
		.word = ARGTRACE_FRAME_USER | (u64)(ARGTRACE_OBJECT_FIRST + object) << ARGTRACE_FRAME_OBJECT_SHIFT |
			(OFFSET + begin - memory),
		.object = atlas->objects[ARGTRACE_OBJECT_FIRST + object],
	};
	struct argtrace_space *space = argtrace_atlas_space(atlas, current->mm) ?: argtrace_spaces_add(atlas, current->mm, true);

	KUNIT_ASSERT_NOT_NULL(test, space);
	KUNIT_ASSERT_TRUE(test, argtrace_spaces_change(atlas, space, begin, end, &mapping));
}

static int walk_init(struct kunit *test)
{
	u64 at;

	memory = user_memory(test);
	for (at = TEXT; at < PLAIN; at += 8)
		user_write(test, memory + at, MACHINE_CALL);
	for (at = PLAIN; at < PLAIN + 0x1000; at += 8)
		user_write(test, memory + at, MACHINE_NO_CALL);
	atlas = make_atlas(test, 2);
	map_code(test, 0, memory, memory + PLAIN + 0x1000);
	machine_in_user_code(&regs, memory + TEXT + 3, memory + STACK);
	ip = machine_user_ip(&regs);
	sp = machine_user(&regs, MACHINE_SP);
	fp = machine_user(&regs, MACHINE_FRAME);
	kept = machine_user(&regs, MACHINE_KEPT);
	other_kept = machine_user(&regs, MACHINE_OTHER_KEPT);
	scratch = machine_user(&regs, MACHINE_SCRATCH);
	return 0;
}

static void walk_exit(struct kunit *test)
{
	drop_atlas(atlas);
}

/* The rules of the code: rule n from AFTER(n) - 5 on, the last one to its end. */
static void set_rules(struct kunit *test, const struct argtrace_unwind_rule *rules, u32 count)
{
	struct argtrace_unwind_row rows[16];
	struct argtrace_unwind from = { .nr_rules = count, .nr_rows = count + 1 };
	struct argtrace_unwind_table *table;
	u32 i;

	for (i = 0; i < count; i++)
		rows[i] = (struct argtrace_unwind_row){ OFFSET + TEXT + 8 * i, i };
	rows[count] = (struct argtrace_unwind_row){ OFFSET + PLAIN + 0x800, ARGTRACE_UNWIND_NONE };
	from.rows = user_copy(test, rows, (count + 1) * sizeof(*rows));
	from.rules = user_copy(test, rules, count * sizeof(*rules));
	table = argtrace_unwind_create(&from);
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_ASSERT_EQ(test, argtrace_atlas_set_table(atlas, ARGTRACE_OBJECT_FIRST, table), 0);
}

static void walk_up_to(u32 max)
{
	preempt_disable();
	argtrace_user_stack_walk(atlas, current->mm, &regs, &room, max, &walked);
	preempt_enable();
}

static void walk(void)
{
	walk_up_to(ARGTRACE_STACK_DEPTH_MAX);
}

static u64 frame_of(u64 ip)
{
	return ARGTRACE_FRAME_USER | (u64)ARGTRACE_OBJECT_FIRST << ARGTRACE_FRAME_OBJECT_SHIFT | (OFFSET + ip - memory);
}

static u64 exact_of(u64 ip)
{
	return frame_of(ip) | ARGTRACE_FRAME_EXACT;
}

static u64 end_of(enum argtrace_end end)
{
	return ARGTRACE_FRAME_USER | end;
}

static void expect(struct kunit *test, const u64 *frames, u32 count, s8 end)
{
	u64 hash = 0;
	u32 i;

	KUNIT_EXPECT_EQ(test, walked.count, count);
	KUNIT_EXPECT_EQ(test, walked.end, end);
	for (i = 0; i < min(count, walked.count); i++) {
		KUNIT_EXPECT_EQ_MSG(test, room.frames[i], frames[i], "frame %u", i);
		hash = argtrace_stack_hash(hash, frames[i]);
	}
	KUNIT_EXPECT_EQ(test, walked.hash, hash);
}

#define EXPECT(test, end, ...) do {							\
	const u64 frames_[] = { __VA_ARGS__ };						\
	expect(test, frames_, ARRAY_SIZE(frames_), end);				\
} while (0)

static void callers_are_found_by_rules(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain, plain };

	rules[1].offset = 32;				/* has saved the frame pointer, and has room for two words */
	rules[1].saved = BIT(MACHINE_FRAME_SAVED);
	rules[1].at[MACHINE_FRAME_SAVED] = -2;
	rules[2].reg = MACHINE_FRAME;				/* a frame pointer, and the stack pointer anywhere */
	rules[2].offset = 16;
	rules[2].saved = BIT(MACHINE_FRAME_SAVED);
	rules[2].at[MACHINE_FRAME_SAVED] = -2;
	rules[3].ra = ARGTRACE_RA_END;
	rules[3].ra_at = 0;
	set_rules(test, rules, 4);
	user_write(test, *sp, AFTER(1));
	user_write(test, *sp + 8 + 16, memory + STACK + 0x200);
	user_write(test, *sp + 8 + 24, AFTER(2));
	user_write(test, memory + STACK + 0x200, 4711);
	user_write(test, memory + STACK + 0x208, AFTER(3));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)), frame_of(AFTER(3)));
	KUNIT_EXPECT_FALSE(test, walked.cut);
	KUNIT_EXPECT_TRUE(test, atlas->objects[ARGTRACE_OBJECT_FIRST]->in_stack);
	KUNIT_EXPECT_FALSE(test, atlas->objects[ARGTRACE_OBJECT_FIRST + 1]->in_stack);
	walk_up_to(2);
	KUNIT_EXPECT_TRUE(test, walked.cut);
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)));
}

/* From one mapping to another and to a third one, each found anew. */
static void mappings_follow_each_other(struct kunit *test)
{
	const u64 second = memory + 0x3000 + MACHINE_CALL_LENGTH, third = memory + 0x2000 + MACHINE_CALL_LENGTH;

	set_rules(test, &plain, 1);
	map_code(test, 1, memory + 0x2000, memory + 0x3000);
	user_write(test, *sp, second);
	user_write(test, *sp + 8, third);
	walk();
	/* The other object has no table, and a frame pointer of 0 is what the rules have left. */
	EXPECT(test, ARGTRACE_END_NO_TABLE, exact_of(*ip), frame_of(second), frame_of(third) + (1ull << ARGTRACE_FRAME_OBJECT_SHIFT),
	       end_of(ARGTRACE_END_NO_TABLE));
}

/* Where the second function begins, of which the rule leads nowhere; stacks end in the third. */
static u64 begin_next_function(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain };

	rules[1].offset = 0x7ffffff0;
	rules[2].ra = ARGTRACE_RA_END;
	rules[2].ra_at = 0;
	set_rules(test, rules, 3);
	return memory + TEXT + 8;
}

/* A return address behind the last instruction of a function is the first of the next, whose rule says nothing about it. */
static void a_call_may_end_its_function(struct kunit *test)
{
	const u64 behind = begin_next_function(test);

	user_write(test, memory + TEXT, MACHINE_CALL_AT_END);
	user_write(test, *sp, behind);
	user_write(test, *sp + 8, AFTER(2));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(behind), frame_of(AFTER(2)));
}

/* So may a system call, from which nobody expects a return; registers say that it is one. */
static void a_system_call_may_end_its_function(struct kunit *test)
{
	const u64 behind = begin_next_function(test);

	user_write(test, memory + TEXT, MACHINE_SYSCALL_AT_END);
	user_write(test, *sp, AFTER(2));
	machine_in_syscall(&regs, behind);
	walk();
	EXPECT(test, -1, frame_of(behind), frame_of(AFTER(2)));
	/* A signal's handler begins there, while the task is still on its way out of the system call. */
	machine_begins_handler(&regs, behind);
	walk();
	EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(behind), end_of(ARGTRACE_END_UNREADABLE));
	/* The program has been interrupted there. */
	machine_leaves_syscall(&regs, behind);
	walk();
	EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(behind), end_of(ARGTRACE_END_UNREADABLE));
}

/* The first frame of a stack that a program has made may be a place that nothing calls, if its rule says that there is no caller. */
static void a_stack_may_end_where_nothing_calls(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain };
	const u64 nowhere = memory + PLAIN + 0x40;

	rules[1].ra = ARGTRACE_RA_END;
	rules[1].ra_at = 0;
	set_rules(test, rules, 2);
	user_write(test, *sp, nowhere);
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(nowhere));
}

static void any_register_is_known_where_code_was_interrupted(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain };

	rules[0].reg = MACHINE_SCRATCH;
	rules[0].offset = 24;
	rules[1] = rules[0];
	set_rules(test, rules, 2);
	*scratch = memory + STACK + 0x100;
	user_write(test, memory + STACK + 0x110, AFTER(1));
	walk();
	/* The caller's is not known. */
	EXPECT(test, ARGTRACE_END_NO_RULE, exact_of(*ip), frame_of(AFTER(1)), end_of(ARGTRACE_END_NO_RULE));
}

static void saved_registers_are_restored(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain, plain };

	rules[0].offset = 24;				/* has saved a register */
	rules[0].saved = BIT(MACHINE_KEPT_SAVED);
	rules[0].at[MACHINE_KEPT_SAVED] = -3;
	rules[1].reg = MACHINE_KEPT;				/* as the dynamic linker's resolver */
	rules[1].offset = 8;
	rules[2].reg = MACHINE_OTHER_KEPT;
	rules[3].ra = ARGTRACE_RA_END;
	rules[3].ra_at = 0;
	set_rules(test, rules, 4);
	*kept = 1;
	*other_kept = memory + STACK + 0x400;		/* never saved */
	user_write(test, *sp, memory + STACK + 0x300);
	user_write(test, *sp + 16, AFTER(1));
	user_write(test, memory + STACK + 0x300, AFTER(2));
	user_write(test, memory + STACK + 0x400, AFTER(3));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)), frame_of(AFTER(3)));
}

/* A function that realigns its stack: the CFA is in memory, and registers lie at the frame pointer. */
static void realigned_stacks(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain };

	rules[0].cfa = ARGTRACE_CFA_MEMORY;
	rules[0].reg = MACHINE_FRAME;
	rules[0].offset = -8;
	rules[0].saved = BIT(MACHINE_KEPT_SAVED) | BIT(MACHINE_FRAME_SAVED);
	rules[0].by_frame = BIT(MACHINE_KEPT_SAVED) | BIT(MACHINE_FRAME_SAVED);
	rules[0].at[0] = -2;
	rules[1].reg = MACHINE_KEPT;
	rules[1].offset = 8;
	rules[2].ra = ARGTRACE_RA_END;
	rules[2].ra_at = 0;
	set_rules(test, rules, 3);
	*fp = memory + STACK + 0x80;
	user_write(test, *fp, 1);
	user_write(test, *fp - 8, memory + STACK + 0x200);
	user_write(test, *fp - 16, memory + STACK + 0x300);
	user_write(test, memory + STACK + 0x1f8, AFTER(1));
	user_write(test, memory + STACK + 0x300, AFTER(2));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)));
}

static void linkage_tables_push_what_they_want(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain };

	rules[0].cfa = ARGTRACE_CFA_PLT;
	rules[0].add = 11;
	rules[1] = rules[0];				/* an entry has 16 bytes */
	rules[2].ra = ARGTRACE_RA_END;
	rules[2].ra_at = 0;
	set_rules(test, rules, 3);
	user_write(test, *sp, AFTER(2));
	user_write(test, *sp + 8, AFTER(3));
	*ip = memory + TEXT + 10;
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(2)));
	*ip = memory + TEXT + 11;
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(3)));
}

static void return_addresses_may_be_in_registers(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain };

	rules[0].ra = ARGTRACE_RA_REGISTER;		/* as in vfork() */
	rules[0].ra_at = MACHINE_SCRATCH;
	rules[0].offset = 0;
	rules[1].ra = ARGTRACE_RA_END;
	rules[1].ra_at = 0;
	set_rules(test, rules, 2);
	*scratch = AFTER(1);
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)));
}

/* The handler returns to code that restores all registers; it was on a stack of its own, above the one that it has interrupted. */
static void signals_interrupt_at_any_instruction(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain, plain };
	const u64 restorer = memory + PLAIN + 0x100, interrupted = memory + PLAIN + 0x11;
	static struct ucontext context;		/* large on some machines */
	struct argtrace_unwind_row rows[] = {
		{ OFFSET + TEXT, 0 }, { OFFSET + TEXT + 8, 1 }, { OFFSET + PLAIN, 2 }, { OFFSET + PLAIN + 0xff, 3 },
		{ OFFSET + PLAIN + 0x110, ARGTRACE_UNWIND_NONE },
	};
	struct argtrace_unwind from = { .nr_rules = 4, .nr_rows = ARRAY_SIZE(rows) };
	struct argtrace_unwind_table *table;

	rules[1].ra = ARGTRACE_RA_END;
	rules[1].ra_at = 0;
	rules[2].reg = MACHINE_SCRATCH;
	rules[3].cfa = ARGTRACE_CFA_SIGNAL;
	rules[3].offset = 0;
	rules[3].ra_at = 0;
	from.rows = user_copy(test, rows, sizeof(rows));
	from.rules = user_copy(test, rules, sizeof(rules));
	table = argtrace_unwind_create(&from);
	KUNIT_ASSERT_FALSE(test, IS_ERR(table));
	KUNIT_ASSERT_EQ(test, argtrace_atlas_set_table(atlas, ARGTRACE_OBJECT_FIRST, table), 0);

	machine_set_context(&context, interrupted, memory + STACK - 0x800, memory + STACK - 0x400);
	user_write(test, *sp, restorer);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)*sp + 8, &context, sizeof(context)), 0);
	user_write(test, memory + STACK - 0x400, AFTER(1));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(restorer), exact_of(interrupted), frame_of(AFTER(1)));
}

static void what_follows_no_call_is_no_caller(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain };

	set_rules(test, rules, 1);
	user_write(test, *sp, memory + PLAIN + 0x40);
	walk();
	EXPECT(test, ARGTRACE_END_NO_CALL, exact_of(*ip), end_of(ARGTRACE_END_NO_CALL));
	user_write(test, *sp, 0xffffffff81000000ull);
	walk();
	EXPECT(test, ARGTRACE_END_NO_CALL, exact_of(*ip), end_of(ARGTRACE_END_NO_CALL));
	user_write(test, *sp, 0x4141414141414141ull);
	walk();
	EXPECT(test, ARGTRACE_END_NO_CALL, exact_of(*ip), end_of(ARGTRACE_END_NO_CALL));
	/* No address at all: the stack is complete. */
	user_write(test, *sp, 0);
	walk();
	EXPECT(test, -1, exact_of(*ip));
}

static void calls_are_recognised(struct kunit *test)
{
	/* The bytes before the return address, the last one first. */
	static const u64 calls[] = { MACHINE_CALLS }, others[] = { MACHINE_NO_CALLS };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_TRUE_MSG(test, argtrace_user_calls(calls[i]), "%llx", calls[i]);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_FALSE_MSG(test, argtrace_user_calls(others[i]), "%llx", others[i]);
}

/* Where the function returns to that has just been entered. */
static void set_caller(struct kunit *test, u64 addr)
{
	if (MACHINE_HAS_LINK)
		*machine_user(&regs, MACHINE_LINK) = addr;
	else
		user_write(test, *sp, addr);
}

static void frame_pointers_lead_where_no_rule_does(struct kunit *test)
{
	*fp = memory + STACK + 0x40;
	user_write(test, *fp, memory + STACK + 0x80);
	user_write(test, *fp + 8, AFTER(1));
	user_write(test, memory + STACK + 0x80, 0);
	user_write(test, memory + STACK + 0x88, AFTER(2));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)));
	/* Downwards, or nowhere. */
	*fp = *sp - 8;
	user_write(test, *fp + 8, 1);
	walk();
	EXPECT(test, ARGTRACE_END_NO_TABLE, exact_of(*ip), end_of(ARGTRACE_END_NO_TABLE));
	/* A function that has just been entered. */
	set_caller(test, AFTER(3));
	walk();
	EXPECT(test, ARGTRACE_END_NO_TABLE, exact_of(*ip), frame_of(AFTER(3)), end_of(ARGTRACE_END_NO_TABLE));
}

/* The dynamic linker's entry has no rules. */
static void programs_begin_without_a_caller(struct kunit *test)
{
	current->mm->start_stack = *sp;
	walk();
	EXPECT(test, -1, exact_of(*ip));
	current->mm->start_stack = *sp + (MACHINE_HAS_LINK ? 0 : 8);	/* it has called somebody */
	set_caller(test, AFTER(1));
	walk();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)));
	current->mm->start_stack = 0;
}

/* arm64 has memory of programs beyond the bits that an offset has. */
static u64 memory_frame_of(u64 ip)
{
	const u64 object = ip > ARGTRACE_FRAME_OFFSET_MASK ? ARGTRACE_OBJECT_HIGH_MEMORY : ARGTRACE_OBJECT_MEMORY;

	return ARGTRACE_FRAME_USER | object << ARGTRACE_FRAME_OBJECT_SHIFT | (ip & ARGTRACE_FRAME_OFFSET_MASK);
}

/* Nothing is in memory before its page. */
static void code_in_no_file_has_its_address(struct kunit *test)
{
	const u64 made = memory + STACK + 0x4000;

	*ip = made + 3;
	*fp = memory + STACK + 0x40;
	user_write(test, made, MACHINE_CALL);
	user_write(test, *fp, 0);
	user_write(test, *fp + 8, made + MACHINE_CALL_LENGTH);
	walk();
	EXPECT(test, -1, memory_frame_of(made + 3) | ARGTRACE_FRAME_EXACT, memory_frame_of(made + MACHINE_CALL_LENGTH));
}

/* Words of memory, the first of which the thread has, in memory or in a register, lead to a stack pointer, beside which is an address. */
enum { THREAD = 0x800, GOROUTINE = 0x900, MACHINE = 0xa00, OTHER = 0xb00, POINTER = 0xc00 };

static const struct argtrace_unwind_rule by_thread = {
	.cfa = ARGTRACE_CFA_THREAD, .ra = ARGTRACE_RA_MEMORY, .add = 8, .ra_at = -1, MACHINE_BY_THREAD(-8, 0x30, -0x40, 0x38),
};

static void write_thread(struct kunit *test)
{
	const u64 stack = memory + STACK;

	user_write(test, stack + THREAD - 8, stack + GOROUTINE);
	user_write(test, stack + GOROUTINE + 0x30, stack + MACHINE);
	user_write(test, stack + MACHINE - 0x40, stack + OTHER);
	user_write(test, stack + OTHER + 0x38, stack + POINTER);
	user_write(test, stack + OTHER + 0x40, AFTER(2));
	user_write(test, stack + POINTER, AFTER(1));
}

/* As a thread of the process that has its variables there. */
static void walk_as_thread(void)
{
	u64 before;

	preempt_disable();
	before = machine_change_thread(&regs, memory + STACK + THREAD, memory + STACK + GOROUTINE);
	argtrace_user_stack_walk(atlas, current->mm, &regs, &room, ARGTRACE_STACK_DEPTH_MAX, &walked);
	machine_restore_thread(before);
	preempt_enable();
}

static void threads_know_the_stack_that_they_come_from(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { by_thread, plain, plain, plain };

	rules[1].offset = 0x108;
	rules[3].ra = ARGTRACE_RA_END;
	rules[3].ra_at = 0;
	set_rules(test, rules, 4);
	write_thread(test);
	user_write(test, memory + STACK + POINTER + 8 + 0x100, AFTER(3));
	walk_as_thread();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(3)));
}

static void threads_know_where_a_stack_goes_on(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { by_thread, plain, plain, plain };

	rules[0].add = 0;
	rules[0].ra = ARGTRACE_RA_BESIDE;
	rules[0].ra_at = 0;
	rules[2].offset = 0x100;
	rules[3].ra = ARGTRACE_RA_END;
	rules[3].ra_at = 0;
	if (ARGTRACE_USER_HAS_LINK) {
		rules[0].at[ARGTRACE_USER_THREAD_OFFSETS] = 0x48;
		rules[2].ra = ARGTRACE_RA_REGISTER;
		rules[2].ra_at = ARGTRACE_USER_LINK;
	}
	set_rules(test, rules, 4);
	write_thread(test);
	user_write(test, memory + STACK + (ARGTRACE_USER_HAS_LINK ? OTHER + 0x38 + 0x48 : POINTER + 0xf8), AFTER(3));
	walk_as_thread();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(2)), frame_of(AFTER(3)));
}

/* A thread that has left its goroutine, or has none. */
static void threads_without_another_stack_have_no_caller(struct kunit *test)
{
	static const u32 places[] = { THREAD - 8, GOROUTINE + 0x30, MACHINE - 0x40, OTHER + 0x38 };
	struct argtrace_unwind_rule rules[] = { by_thread };
	u32 i;

	set_rules(test, rules, 1);
	for (i = MACHINE_FIRST_OF_THREAD; i < ARRAY_SIZE(places); i++) {
		write_thread(test);
		user_write(test, memory + STACK + places[i], 0);
		walk_as_thread();
		EXPECT(test, -1, exact_of(*ip));
	}
}

static void absent_words_of_threads_are_told(struct kunit *test)
{
	static const u32 places[] = { THREAD - 8, GOROUTINE + 0x30, MACHINE - 0x40 };
	static const s32 offsets[] = { 0x30, -0x40, 0x38 };
	const u64 absent = memory + USER_MEMORY + 0x100;
	struct argtrace_unwind_rule rules[] = { by_thread };
	u32 i;

	set_rules(test, rules, 1);
	for (i = MACHINE_FIRST_OF_THREAD; i < ARRAY_SIZE(places); i++) {
		write_thread(test);
		user_write(test, memory + STACK + places[i], absent);
		walk_as_thread();
		EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(*ip), end_of(ARGTRACE_END_UNREADABLE));
		KUNIT_EXPECT_EQ(test, walked.missing, absent + offsets[i]);
	}
}

/* Code that was called back twice: the inner one has left the stack at POINTER, the outer one at 0x100 above. */
static void callbacks_are_in_one_another(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { by_thread, plain, by_thread, plain };
	const u64 stack = memory + STACK;

	rules[0].cfa = ARGTRACE_CFA_CALLBACK;
	rules[0].at[ARGTRACE_USER_THREAD_OFFSETS] = 0x10;
	rules[1].cfa = ARGTRACE_CFA_DEPTH;
	rules[1].offset = 0x20;
	rules[1].at[0] = 8;
	rules[1].at[1] = 0x28;
	rules[1].add = 8;
	rules[2] = rules[0];
	rules[3].ra = ARGTRACE_RA_END;
	rules[3].ra_at = 0;
	set_rules(test, rules, 4);
	write_thread(test);
	user_write(test, stack + POINTER + 0x10, stack + POINTER + 0x100);
	/* On its stack, behind what is returned to, is which goroutine has called, and how deep it was. */
	user_write(test, stack + POINTER + 8 + 0x20, stack + GOROUTINE);
	user_write(test, stack + POINTER + 8 + 0x28, 0x300);
	user_write(test, stack + GOROUTINE + 8, stack + 0x600);
	user_write(test, stack + 0x300, AFTER(2));
	user_write(test, stack + POINTER + 0x100, AFTER(3));
	walk_as_thread();
	EXPECT(test, -1, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)), frame_of(AFTER(3)));
	/* It can only have been higher. */
	user_write(test, stack + POINTER + 0x10, stack + POINTER);
	walk_as_thread();
	EXPECT(test, ARGTRACE_END_NO_RULE, exact_of(*ip), frame_of(AFTER(1)), frame_of(AFTER(2)), end_of(ARGTRACE_END_NO_RULE));
}

/* A handler that has its signal answered by a call of what was interrupted, which may be at any instruction. */
static void handlers_make_calls(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain, plain };

	rules[0].ra = ARGTRACE_RA_INTERRUPTED;
	rules[1].ra = rules[2].ra = ARGTRACE_RA_END;
	rules[1].ra_at = rules[2].ra_at = 0;
	if (ARGTRACE_USER_HAS_LINK) {
		rules[0].offset = 0x20;
		rules[0].ra_at = -4;
		rules[1].ra = ARGTRACE_RA_REGISTER;
		rules[1].ra_at = ARGTRACE_USER_LINK;
		user_write(test, *sp + 0x20 - ARGTRACE_USER_PUSHED_LINK, AFTER(2));
	}
	set_rules(test, rules, 3);
	user_write(test, *sp, memory + TEXT + 8);	/* the first of those instructions, behind no call */
	user_write(test, memory + TEXT, MACHINE_NO_CALL);
	walk();
	if (ARGTRACE_USER_HAS_LINK)
		EXPECT(test, -1, exact_of(*ip), exact_of(memory + TEXT + 8), frame_of(AFTER(2)));
	else
		EXPECT(test, -1, exact_of(*ip), exact_of(memory + TEXT + 8));
}

/* A call through a null pointer. */
static void nothing_is_at_address_zero(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain };

	rules[0].ra = ARGTRACE_RA_END;
	rules[0].ra_at = 0;
	set_rules(test, rules, 1);
	*ip = 0;
	set_caller(test, AFTER(1));
	walk();
	EXPECT(test, -1, ARGTRACE_FRAME_USER | ARGTRACE_FRAME_EXACT | (u64)ARGTRACE_OBJECT_MEMORY << ARGTRACE_FRAME_OBJECT_SHIFT,
	       frame_of(AFTER(1)));
}

static void unreadable_stacks_end(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain, plain };

	rules[1].offset = 0x7ffffff0;
	set_rules(test, rules, 2);
	user_write(test, *sp, AFTER(1));
	walk();
	EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(*ip), frame_of(AFTER(1)), end_of(ARGTRACE_END_UNREADABLE));
	KUNIT_EXPECT_EQ(test, walked.missing, memory + STACK + 8 + 0x7ffffff0 - 8);
	/* Nothing of it can be, but where the code was is known. */
	*sp = 0xffff888000000000ull;
	walk();
	EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(*ip), end_of(ARGTRACE_END_UNREADABLE));
	*sp = 16;
	walk();
	EXPECT(test, ARGTRACE_END_UNREADABLE, exact_of(*ip), end_of(ARGTRACE_END_UNREADABLE));
}

/* It is told which word is absent, of those that a rule reads. */
static void absent_words_are_told(struct kunit *test)
{
	const u64 absent = memory + USER_MEMORY;
	struct argtrace_unwind_rule rules[] = { plain, plain };

	rules[0].saved = BIT(MACHINE_FRAME_SAVED);
	rules[0].at[MACHINE_FRAME_SAVED] = (s16)((absent - (memory + STACK + 8)) / 8);
	set_rules(test, rules, 2);
	user_write(test, *sp, AFTER(1));
	walk();
	KUNIT_EXPECT_EQ(test, walked.end, ARGTRACE_END_UNREADABLE);
	KUNIT_EXPECT_EQ(test, walked.missing, absent);
	walk_up_to(1);
	KUNIT_EXPECT_EQ(test, walked.missing, absent);
	/* The return address is absent as well. */
	*sp = absent;
	walk();
	KUNIT_EXPECT_EQ(test, walked.missing, absent);
	/* A stack that is complete, or ends for another reason, has none. */
	*sp = memory + STACK;
	rules[0].saved = 0;
	user_write(test, *sp, memory + PLAIN + 8);
	*ip = memory + PLAIN + 0x900;
	walk();
	KUNIT_EXPECT_NE(test, walked.end, ARGTRACE_END_UNREADABLE);
	KUNIT_EXPECT_EQ(test, walked.missing, 0);
}

static void walk_mm(const struct mm_struct *mm, const struct pt_regs *from)
{
	preempt_disable();
	argtrace_user_stack_walk(atlas, mm, from, &room, ARGTRACE_STACK_DEPTH_MAX, &walked);
	preempt_enable();
}

static void unknown_processes_have_no_frames(struct kunit *test)
{
	struct argtrace_space *space = argtrace_atlas_space(atlas, current->mm);

	walk_mm(NULL, &regs);
	EXPECT(test, ARGTRACE_END_UNMAPPED, end_of(ARGTRACE_END_UNMAPPED));
	walk_mm(current->mm, NULL);
	EXPECT(test, ARGTRACE_END_32_BIT, end_of(ARGTRACE_END_32_BIT));
	space->whole = false;
	walk();
	EXPECT(test, ARGTRACE_END_UNMAPPED, end_of(ARGTRACE_END_UNMAPPED));
}

/* The task has the registers of the program that it leaves, and the mm of the one that it begins. */
static void programs_that_have_not_begun_have_no_stack(struct kunit *test)
{
	struct argtrace_space *space = argtrace_atlas_space(atlas, current->mm);

	atlas->filled = true;
	walk_mm(NULL, &regs);			/* nothing is mapped yet */
	KUNIT_EXPECT_EQ(test, walked.count, 0);
	KUNIT_EXPECT_EQ(test, walked.end, -1);
	space->begun = false;
	current->in_execve = 1;
	walk();
	KUNIT_EXPECT_EQ(test, walked.count, 0);
	KUNIT_EXPECT_FALSE(test, space->begun);
	current->in_execve = 0;
	walk();
	KUNIT_EXPECT_GT(test, walked.count, 0);
	KUNIT_EXPECT_TRUE(test, space->begun);
	/* It executes another one, and has not left this one yet. */
	current->in_execve = 1;
	walk();
	KUNIT_EXPECT_GT(test, walked.count, 0);
	current->in_execve = 0;
}

/* A stack that leads to itself is as deep as stacks are at most. */
static void circles_are_cut(struct kunit *test)
{
	struct argtrace_unwind_rule rules[] = { plain };

	rules[0].offset = 0;
	rules[0].ra_at = 0;
	set_rules(test, rules, 1);
	user_write(test, *sp, AFTER(1));
	walk();
	KUNIT_EXPECT_TRUE(test, walked.cut);
	KUNIT_EXPECT_EQ(test, walked.count, ARGTRACE_STACK_DEPTH_MAX);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(callers_are_found_by_rules),
	KUNIT_CASE(mappings_follow_each_other),
	KUNIT_CASE(a_call_may_end_its_function),
	KUNIT_CASE(a_system_call_may_end_its_function),
	KUNIT_CASE(a_stack_may_end_where_nothing_calls),
	KUNIT_CASE(any_register_is_known_where_code_was_interrupted),
	KUNIT_CASE(saved_registers_are_restored),
	KUNIT_CASE(realigned_stacks),
	KUNIT_CASE(linkage_tables_push_what_they_want),
	KUNIT_CASE(return_addresses_may_be_in_registers),
	KUNIT_CASE(signals_interrupt_at_any_instruction),
	KUNIT_CASE(what_follows_no_call_is_no_caller),
	KUNIT_CASE(calls_are_recognised),
	KUNIT_CASE(frame_pointers_lead_where_no_rule_does),
	KUNIT_CASE(programs_begin_without_a_caller),
	KUNIT_CASE(code_in_no_file_has_its_address),
	KUNIT_CASE(threads_know_the_stack_that_they_come_from),
	KUNIT_CASE(threads_know_where_a_stack_goes_on),
	KUNIT_CASE(threads_without_another_stack_have_no_caller),
	KUNIT_CASE(absent_words_of_threads_are_told),
	KUNIT_CASE(callbacks_are_in_one_another),
	KUNIT_CASE(handlers_make_calls),
	KUNIT_CASE(nothing_is_at_address_zero),
	KUNIT_CASE(unreadable_stacks_end),
	KUNIT_CASE(absent_words_are_told),
	KUNIT_CASE(unknown_processes_have_no_frames),
	KUNIT_CASE(programs_that_have_not_begun_have_no_stack),
	KUNIT_CASE(circles_are_cut),
	{ }
};

static struct kunit_suite suite = {
	.name = "argtrace_user_walk",
	.init = walk_init,
	.exit = walk_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
