// SPDX-License-Identifier: GPL-2.0-only
/* Which of user space's descriptors the module accepts, and every way in which it refuses one. */
#include <kunit/test.h>

#include "fixtures.h"
#include "base/hook.h"
#include "base/memory.h"

#define ADDR	0xffffffff81234560ul

/* One argument, tried alone and as the second of three. */
struct arg_case {
	const char *name;
	u8 loc, index, type, flags;
	u32 size, offset;
	int ret;		/* 0: taken */
};

#define REG	ARGTRACE_LOC_REG
#define PAIR	ARGTRACE_LOC_REG_PAIR
#define STACK	ARGTRACE_LOC_STACK
#define TYPE(t)	ARGTRACE_TYPE_##t
#define TAKEN(name, loc, index, type, size, offset) \
	{ name, loc, index, TYPE(type), 0, size, offset, 0 }
#define REFUSED(name, loc, index, type, size, offset) \
	{ name, loc, index, TYPE(type), 0, size, offset, -EINVAL }

static const struct arg_case arg_cases[] = {
	TAKEN("u8", REG, 0, U8, 1, 0),
	TAKEN("s8", REG, 1, S8, 1, 0),
	TAKEN("u16", REG, 2, U16, 2, 0),
	TAKEN("s16", REG, 3, S16, 2, 0),
	TAKEN("u32", REG, 4, U32, 4, 0),
	TAKEN("s32", REG, 5, S32, 4, 0),
	TAKEN("u64", REG, 0, U64, 8, 0),
	TAKEN("s64", REG, 0, S64, 8, 0),
	TAKEN("bool", REG, 0, BOOL, 1, 0),
	TAKEN("char", REG, 0, CHAR, 1, 0),
	TAKEN("unsigned char", REG, 0, UCHAR, 1, 0),
	TAKEN("pointer", REG, 0, PTR, 8, 0),
	TAKEN("struct of 1 byte", REG, 0, BYTES, 1, 0),
	TAKEN("struct of 8 bytes", REG, 0, BYTES, 8, 0),
	TAKEN("u128", PAIR, 0, U128, 16, 0),
	TAKEN("s128 in the last pair", PAIR, ARGTRACE_REG_COUNT - 2, S128, 16, 0),
	TAKEN("struct of 9 bytes", PAIR, 0, BYTES, 9, 0),
	TAKEN("struct of 16 bytes", PAIR, 0, BYTES, 16, 0),
	TAKEN("u8 on the stack", STACK, 0, U8, 1, 8),
	TAKEN("u64 on the stack", STACK, 0, U64, 8, 16),
	TAKEN("u128 on the stack", STACK, 0, U128, 16, 16),
	TAKEN("largest struct", STACK, 0, BYTES, ARGTRACE_BYTES_MAX, 8),
	TAKEN("up to the end of the stack", STACK, 0, U64, 8, ARGTRACE_STACK_MAX - 8),
	TAKEN("struct up to it", STACK, 0, BYTES, 1024, ARGTRACE_STACK_MAX - 1024),
	TAKEN("not captured", ARGTRACE_LOC_NONE, 0, END, 0, 0),

	REFUSED("not captured, with a register", ARGTRACE_LOC_NONE, 1, END, 0, 0),
	REFUSED("not captured, with a type", ARGTRACE_LOC_NONE, 0, U8, 0, 0),
	REFUSED("not captured, with a size", ARGTRACE_LOC_NONE, 0, END, 1, 0),
	REFUSED("not captured, with an offset", ARGTRACE_LOC_NONE, 0, END, 0, 8),
	REFUSED("by reference", ARGTRACE_LOC_REF, 0, U64, 8, 0),
	REFUSED("a place there is not", 5, 0, U64, 8, 0),
	REFUSED("a wild place", 255, 0, U64, 8, 0),
	REFUSED("no type", REG, 0, END, 8, 0),
	REFUSED("a string", REG, 0, STR, 8, 0),
	{ "a type there is not", REG, 0, 17, 0, 8, 0, -EINVAL },
	{ "a wild type", REG, 0, 255, 0, 8, 0, -EINVAL },
	{ "flags", REG, 0, TYPE(U64), 1, 8, 0, -EINVAL },
	REFUSED("a register that there is not", REG, ARGTRACE_REG_COUNT, U64, 8, 0),
	REFUSED("a register that no architecture has", REG, ARGTRACE_REG_MAX, U64, 8, 0),
	REFUSED("register 255", REG, 255, U64, 8, 0),
	REFUSED("size too small", REG, 0, U64, 4, 0),
	REFUSED("size too large", REG, 0, U32, 8, 0),
	REFUSED("size 0", REG, 0, U8, 0, 0),
	REFUSED("a huge size", REG, 0, U64, 0x80000008, 0),
	REFUSED("an offset in a register", REG, 0, U64, 8, 8),
	REFUSED("128 bits in one register", REG, 0, U128, 16, 0),
	REFUSED("empty struct", REG, 0, BYTES, 0, 0),
	REFUSED("9 bytes in one register", REG, 0, BYTES, 9, 0),
	REFUSED("a pair that begins in the last register", PAIR, ARGTRACE_REG_COUNT - 1, U128, 16, 0),
	REFUSED("a word in two registers", PAIR, 0, U64, 8, 0),
	REFUSED("8 bytes in two registers", PAIR, 0, BYTES, 8, 0),
	REFUSED("17 bytes in two registers", PAIR, 0, BYTES, 17, 0),
	REFUSED("a pair with an offset", PAIR, 0, U128, 16, 8),
	{ "where some machines have the return address", STACK, 0, TYPE(U64), 0, 8, 0, ARGTRACE_FIRST_STACK_WORD ? -EINVAL : 0 },
	REFUSED("on the stack, in a register", STACK, 1, U64, 8, 8),
	REFUSED("between two words", STACK, 0, U64, 8, 12),
	REFUSED("beyond the stack", STACK, 0, U64, 8, ARGTRACE_STACK_MAX),
	REFUSED("partly beyond it", STACK, 0, BYTES, 1024, ARGTRACE_STACK_MAX - 1016),
	REFUSED("far beyond it", STACK, 0, U64, 8, 0xfffffff8),
	REFUSED("a struct too large", STACK, 0, BYTES, ARGTRACE_BYTES_MAX + 1, 8),
	REFUSED("a struct of 4 GiB", STACK, 0, BYTES, 0xffffffff, 8),
};

static void describe_arg(const struct arg_case *arg, char *text)
{
	strscpy(text, arg->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(arg, arg_cases, describe_arg);

static void set_arg(struct argtrace_arg *arg, const struct arg_case *wanted)
{
	arg->loc = wanted->loc;
	arg->index = wanted->index;
	arg->type = wanted->type;
	arg->flags = wanted->flags;
	arg->size = wanted->size;
	arg->offset = wanted->offset;
}

/* Checks the result, that nothing stays charged, and that *length is reduced by what was read. */
static void expect_verdict(struct kunit *test, const struct made_probe *probe, int ret)
{
	const struct argtrace_plan_format format = { .max_record = 8192 };
	const u64 before = argtrace_memory_used();
	u64 length = probe->head.size;
	struct argtrace_plan *plan = make_plan_from(test, probe, &length, &format);

	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(plan), ret);
	KUNIT_EXPECT_EQ(test, length, ret ? probe->head.size : 0);
	argtrace_plan_free(plan);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void descriptor(struct kunit *test)
{
	const struct arg_case *wanted = test->param_value;
	struct made_probe *probe = make_probe(test, ADDR, 1);

	set_arg(&probe->args[0], wanted);
	expect_verdict(test, probe, wanted->ret);

	/* One bad argument among good ones is found, too. */
	probe = make_probe(test, ADDR, 3);
	set_arg(&probe->args[1], wanted);
	expect_verdict(test, probe, wanted->ret);
}

/* What a system call takes is in registers. */
static void syscall_descriptor(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arg_cases); i++) {
		struct made_probe *probe = make_probe(test, ADDR, 1);

		probe->head.kind = ARGTRACE_KIND_SYSCALL;
		set_arg(&probe->args[0], &arg_cases[i]);
		expect_verdict(test, probe, arg_cases[i].loc == ARGTRACE_LOC_STACK ? -EINVAL : arg_cases[i].ret);
	}
}

/* Without the right to read memory, only a probe that reads memory is refused. */
static void registers_only(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 8192, .registers_only = true };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(arg_cases); i++) {
		const struct arg_case *wanted = &arg_cases[i];
		struct made_probe *probe = make_probe(test, ADDR, 3);
		const u64 before = argtrace_memory_used();
		u64 length = probe->head.size;
		struct argtrace_plan *plan;

		set_arg(&probe->args[2], wanted);
		plan = make_plan_from(test, probe, &length, &format);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(plan),
				    !wanted->ret && wanted->loc == ARGTRACE_LOC_STACK ? -EPERM :
										       wanted->ret,
				    "%s", wanted->name);
		argtrace_plan_free(plan);
		KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
	}
}

struct header_case {
	const char *name;
	void (*spoil)(struct argtrace_probe *head);
	int ret;
};

#define HEADER_CASE(id, text, what) \
	static void spoil_##id(struct argtrace_probe *head) { what; }
#define HEADER_CASES(H) \
	H(id, "an id", head->id = 1) \
	H(flags, "flags", head->flags = ARGTRACE_PROBE_REMOVED) \
	H(kind, "an unknown kind", head->kind = 99) \
	H(returns, "a tracepoint that returns", (head->kind = ARGTRACE_KIND_TRACEPOINT, \
						 head->flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(0))) \
	H(waits, "a tracepoint that is waited for", (head->kind = ARGTRACE_KIND_TRACEPOINT, head->addr = 0)) \
	H(syscall_waits, "a system call that is waited for", (head->kind = ARGTRACE_KIND_SYSCALL, head->addr = 0)) \
	H(syscall_words, "a system call with arguments on the stack", (head->kind = ARGTRACE_KIND_SYSCALL, \
						 head->flags = ARGTRACE_PROBE_RETURN | ARGTRACE_PROBE_WORDS(1))) \
	H(program, "a program", head->program = 8) \
	H(addr, "no address", head->addr = 0) \
	H(longer, "size too large", head->size += 8) \
	H(shorter, "size too small", head->size -= 8) \
	H(odd, "size that is no multiple of 8", head->size -= 1) \
	H(no_size, "size 0", head->size = 0) \
	H(huge_size, "size of 4 GiB", head->size = 0xfffffff8) \
	H(more_args, "an argument more", head->nr_args++) \
	H(many_args, "65535 arguments", head->nr_args = 0xffff) \
	H(no_strings, "no strings", head->strings = 0) \
	H(long_strings, "65535 bytes of strings", head->strings = 0xffff) \
	H(types, "types that are not there", head->types = 8) \
	H(huge_types, "types of 4 GiB", head->types = 0xffffffff) \
	H(wrapping_types, "types that make the size wrap", head->types = -head->size)
HEADER_CASES(HEADER_CASE)

#define HEADER_ROW(id, text, what) { text, spoil_##id, -EINVAL },
static const struct header_case header_cases[] = { HEADER_CASES(HEADER_ROW) };

static void describe_header(const struct header_case *header, char *text)
{
	strscpy(text, header->name, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(header, header_cases, describe_header);

static void header(struct kunit *test)
{
	const struct header_case *wanted = test->param_value;
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = make_probe(test, ADDR, 2);
	u64 length = 1u << 20, before = argtrace_memory_used();
	struct argtrace_plan *plan;

	wanted->spoil(&probe->head);
	plan = make_plan_from(test, probe, &length, &format);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(plan), wanted->ret);
	KUNIT_EXPECT_EQ(test, length, 1u << 20);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
	argtrace_plan_free(plan);
}

static void more_than_the_caller_gave(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = make_probe(test, ADDR, 2);
	u64 length;

	for (length = 0; length < probe->head.size; length++) {
		u64 left = length;

		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(make_plan_from(test, probe, &left, &format)),
				-EINVAL);
		KUNIT_EXPECT_EQ(test, left, length);
	}
}

static void memory_that_is_not_there(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 4096 };
	u64 length = 4096;

	/* A kernel address is refused like NULL. */
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(argtrace_plan_create(NULL, &length, &format)),
			-EFAULT);
	KUNIT_EXPECT_EQ(test, -EFAULT,
			PTR_ERR_OR_ZERO(argtrace_plan_create((void __user *)&length, &length,
							     &format)));
	KUNIT_EXPECT_EQ(test, length, 4096);
}

static void __user *changing;

static void take_the_address_away(enum argtrace_hook at)
{
	const u64 none = 0;

	if (at == ARGTRACE_HOOK_PROBE_READ)
		(void)!copy_to_user(changing + offsetof(struct argtrace_probe, addr), &none, sizeof(none));
}

/* User space changes the probe after its header has been checked and before all of it is copied. */
static void changed_while_it_is_read(struct kunit *test)
{
	const struct argtrace_plan_format format = { .max_record = 4096 };
	struct made_probe *probe = make_probe(test, ADDR, 2);
	u64 length = probe->head.size, before = argtrace_memory_used();
	struct argtrace_plan *plan;

	changing = (void __user *)put_probe(test, probe);
	WRITE_ONCE(argtrace_kunit_hook, take_the_address_away);
	plan = argtrace_plan_create(changing, &length, &format);
	WRITE_ONCE(argtrace_kunit_hook, NULL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(plan), -EINVAL);
	KUNIT_EXPECT_EQ(test, length, probe->head.size);
	argtrace_plan_free(plan);
	KUNIT_EXPECT_EQ(test, argtrace_memory_used(), before);
}

static void strings(struct kunit *test)
{
	struct made_probe *probe;

	probe = make_probe(test, ADDR, 1);
	probe->strings[probe->head.strings - 1] = 'x';
	expect_verdict(test, probe, -EINVAL);

	probe = make_probe(test, ADDR, 0);
	probe->strings[0] = '\0';
	expect_verdict(test, probe, -EINVAL);

	probe = make_probe(test, ADDR, 1);
	probe->strings[probe->args[0].name] = '\0';
	expect_verdict(test, probe, -EINVAL);

	/* The bytes after the strings look like a string: only the offset shows that it is out of bounds. */
	probe = make_probe(test, ADDR, 1);
	probe->types = 8;
	made_probe_seal(probe);
	expect_verdict(test, probe, 0);
	probe->args[0].name = probe->head.strings;
	expect_verdict(test, probe, -EINVAL);

	probe = make_probe(test, ADDR, 1);
	probe->args[0].type_name = probe->head.strings;
	expect_verdict(test, probe, -EINVAL);

	/* The type's name may be empty; names may share their bytes. */
	probe = make_probe(test, ADDR, 1);
	probe->args[0].type_name = probe->head.strings - 1;
	probe->args[0].name = 0;
	expect_verdict(test, probe, 0);
}

/* The plan keeps the length of a name, with its NUL, in one byte. */
static void long_names(struct kunit *test)
{
	struct made_probe *probe;
	char name[300];
	u32 length;

	for (length = 253; length <= 256; length++) {
		memset(name, 'n', length);
		name[length] = '\0';
		probe = make_probe(test, ADDR, 1);
		probe->args[0].name = made_probe_string(probe, name);
		made_probe_seal(probe);
		expect_verdict(test, probe, length < U8_MAX ? 0 : -EINVAL);
	}
}

static void padding(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, ADDR, 0);

	/* "f" and its NUL leave six bytes. */
	expect_verdict(test, probe, 0);
	probe->padding = 1;
	expect_verdict(test, probe, -EINVAL);
}

static void limits(struct kunit *test)
{
	struct made_probe *probe;

	expect_verdict(test, make_probe(test, ADDR, ARGTRACE_MAX_ARGS), 0);
	expect_verdict(test, make_probe(test, ADDR, ARGTRACE_MAX_ARGS + 1), -EINVAL);

	probe = make_probe(test, ADDR, 1);
	while (probe->head.strings < ARGTRACE_MAX_STRINGS)
		made_probe_string(probe, probe->head.strings % 2 ? "" : "x");
	made_probe_seal(probe);
	expect_verdict(test, probe, 0);
	made_probe_string(probe, "");
	made_probe_seal(probe);
	expect_verdict(test, probe, -EINVAL);

	probe = make_probe(test, ADDR, 1);
	probe->types = ARGTRACE_MAX_TYPES;
	made_probe_seal(probe);
	expect_verdict(test, probe, 0);
	probe->types++;
	made_probe_seal(probe);
	expect_verdict(test, probe, -EINVAL);
}

/* header, caller, three words: 48 bytes; named: 3 times "aN", its NUL and the type, and the end. */
static void size_of_the_record(struct kunit *test)
{
	static const struct { u32 format, size; } cases[] = {
		{ 0, 16 + 8 + 24 },
		{ ARGTRACE_FORMAT_NO_CALLER, 16 + 24 },
		{ ARGTRACE_FORMAT_NAMED, 16 + 8 + 40 },
		{ ARGTRACE_FORMAT_NAMED | ARGTRACE_FORMAT_NO_CALLER, 16 + 40 },
	};
	struct made_probe *probe = make_probe(test, ADDR, 3);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct argtrace_plan_format format = { cases[i].format, cases[i].size };
		u64 length = probe->head.size;
		struct argtrace_plan *plan = make_plan_from(test, probe, &length, &format);

		KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, plan, "format %u", cases[i].format);
		KUNIT_EXPECT_EQ(test, plan->record_size, cases[i].size);
		KUNIT_EXPECT_EQ(test, plan->layout.caller_at,
				cases[i].format & ARGTRACE_FORMAT_NO_CALLER ? 0 : 16);
		argtrace_plan_free(plan);

		length = probe->head.size;
		format.max_record -= 8;
		plan = make_plan_from(test, probe, &length, &format);
		KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(plan), -E2BIG);
	}
}

static void out_of_the_allowed_memory(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, ADDR, 3);
	u64 left = argtrace_memory_limit() - argtrace_memory_used();

	KUNIT_ASSERT_EQ(test, argtrace_memory_charge(left - 10), 0);
	expect_verdict(test, probe, -ENOSPC);
	argtrace_memory_uncharge(left - 10);
}

static void schemas(struct kunit *test)
{
	struct made_probe *probe = make_probe(test, ADDR, 3);
	struct argtrace_plan *one = make_plan(test, probe), *other;

	free_plan_later(test, one);
	other = make_plan(test, probe);
	other->id = other->schema->id = 7;
	other->schema->flags = ARGTRACE_PROBE_REMOVED;
	KUNIT_EXPECT_TRUE(test, argtrace_plan_same_schema(one, other));
	argtrace_plan_free(other);

	probe->args[2].type = ARGTRACE_TYPE_S64;
	other = make_plan(test, probe);
	KUNIT_EXPECT_FALSE(test, argtrace_plan_same_schema(one, other));
	argtrace_plan_free(other);

	/* The same function of a module that is at another address now. */
	probe = make_probe(test, ADDR + 16, 3);
	other = make_plan(test, probe);
	KUNIT_EXPECT_TRUE(test, argtrace_plan_same_schema(one, other));
	argtrace_plan_free(other);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(syscall_descriptor),
	KUNIT_CASE(registers_only),
	KUNIT_CASE_PARAM(descriptor, arg_gen_params),
	KUNIT_CASE_PARAM(header, header_gen_params),
	KUNIT_CASE(more_than_the_caller_gave),
	KUNIT_CASE(memory_that_is_not_there),
	KUNIT_CASE(changed_while_it_is_read),
	KUNIT_CASE(strings),
	KUNIT_CASE(long_names),
	KUNIT_CASE(padding),
	KUNIT_CASE(limits),
	KUNIT_CASE(size_of_the_record),
	KUNIT_CASE(out_of_the_allowed_memory),
	KUNIT_CASE(schemas),
	{ }
};

static struct kunit_suite probe_suite = {
	.name = "argtrace_probe",
	.test_cases = probe_cases,
};
kunit_test_suite(probe_suite);
