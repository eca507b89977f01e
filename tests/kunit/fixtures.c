// SPDX-License-Identifier: GPL-2.0-only
#include <linux/align.h>
#include <linux/kallsyms.h>
#include <linux/mman.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "arm/arm.h"
#include "base/authority.h"
#include "base/clock.h"
#include "fixtures.h"

u16 made_probe_string(struct made_probe *probe, const char *text)
{
	u16 at = probe->head.strings;

	strscpy(probe->strings + at, text, sizeof(probe->strings) - at);
	probe->head.strings += strlen(text) + 1;
	return at;
}

void made_probe_seal(struct made_probe *probe)
{
	struct argtrace_probe *head = &probe->head;

	head->types = probe->types;
	head->size = ALIGN(sizeof(*head) + head->nr_args * sizeof(struct argtrace_arg) +
			   head->strings + head->types, 8) + head->program;
}

struct made_probe *make_probe(struct kunit *test, unsigned long addr, u32 nr_args)
{
	struct made_probe *probe = kunit_kzalloc(test, sizeof(*probe), GFP_KERNEL);
	u32 i;

	KUNIT_ASSERT_NOT_NULL(test, probe);
	KUNIT_ASSERT_LE(test, nr_args, (u32)ARRAY_SIZE(probe->args));
	probe->head.addr = addr;
	probe->head.nr_args = nr_args;
	made_probe_string(probe, "f");
	for (i = 0; i < nr_args; i++) {
		char name[8];

		snprintf(name, sizeof(name), "a%u", i);
		probe->args[i] = (struct argtrace_arg){
			.loc = ARGTRACE_LOC_REG,
			.index = i < ARGTRACE_REG_COUNT ? i : 0,
			.type = ARGTRACE_TYPE_U64,
			.size = 8,
			.name = made_probe_string(probe, name),
			.type_name = made_probe_string(probe, "u64"),
		};
	}
	made_probe_seal(probe);
	return probe;
}

const void __user *put_probe(struct kunit *test, const struct made_probe *probe)
{
	const u32 nr_args = min_t(u32, probe->head.nr_args, ARRAY_SIZE(probe->args));
	const size_t args = nr_args * sizeof(struct argtrace_arg);
	const u32 strings = min_t(u32, probe->head.strings, sizeof(probe->strings));
	const u32 program = min_t(u32, probe->head.program, sizeof(probe->program));
	const size_t room = PAGE_ALIGN(sizeof(probe->head) + args + strings + probe->types + 8 + program);
	u8 *entry = kunit_kzalloc(test, room, GFP_KERNEL);
	unsigned long user;
	size_t used;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	memcpy(entry, &probe->head, sizeof(probe->head));
	used = sizeof(probe->head);
	memcpy(entry + used, probe->args, args);
	used += args;
	memcpy(entry + used, probe->strings, strings);
	used += strings;
	memset(entry + used, TYPES_BYTE, probe->types);
	used += probe->types;
	memset(entry + used, probe->padding, ALIGN(used, 8) - used);
	memcpy(entry + ALIGN(used, 8), probe->program, program);

	user = kunit_vm_mmap(test, NULL, 0, room, PROT_READ | PROT_WRITE,
			     MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE_MSG(test, user, 0, "no user memory");
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)user, entry, room), 0);
	return (const void __user *)user;
}

void set_program(struct made_probe *probe, const struct argtrace_insn *insns, u32 nr_insns, u32 nr_filter,
			const char *data)
{
	struct argtrace_program *head = (void *)probe->program;

	*head = (struct argtrace_program){
		.nr_insns = nr_insns, .nr_filter = nr_filter, .data = data ? strlen(data) + 1 : 0,
	};
	memcpy(head + 1, insns, nr_insns * sizeof(*insns));
	memcpy((u8 *)(head + 1) + nr_insns * sizeof(*insns), data ?: "", head->data);
	probe->head.program = ALIGN(sizeof(*head) + nr_insns * sizeof(*insns) + head->data, 8);
	made_probe_seal(probe);
}

void add_output(struct made_probe *probe, u8 type, u32 size)
{
	probe->args[probe->head.nr_args++] = (struct argtrace_arg){
		.loc = ARGTRACE_LOC_PROGRAM, .type = type, .size = size,
		.name = made_probe_string(probe, "out"), .type_name = made_probe_string(probe, "?"),
	};
	made_probe_seal(probe);
}

struct argtrace_plan *make_plan_from(struct kunit *test, const struct made_probe *probe,
				     u64 *length, const struct argtrace_plan_format *format)
{
	return argtrace_plan_create(put_probe(test, probe), length, format);
}

static bool yes(void)
{
	return true;
}

struct argtrace_plan *make_template(struct kunit *test, const char *function, u32 flags)
{
	const struct argtrace_plan_format format = { .max_record = 4096, .rules_of = argtrace_plan_rules_of, .may_follow = yes };
	struct made_probe *probe = make_probe(test, 0, 0);
	struct argtrace_plan *template;
	u64 length;

	probe->head.flags = flags;
	probe->head.strings = 0;
	made_probe_string(probe, function);
	made_probe_seal(probe);
	length = probe->head.size;
	template = argtrace_plan_create_template(put_probe(test, probe), &length, &format);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, template);
	return template;
}

KUNIT_DEFINE_ACTION_WRAPPER(free_plan_action, argtrace_plan_free, struct argtrace_plan *);

void free_plan_later(struct kunit *test, struct argtrace_plan *plan)
{
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_plan_action, plan), 0);
}

struct argtrace_plan *make_plan(struct kunit *test, const struct made_probe *probe)
{
	const struct argtrace_plan_format format = { .max_record = 4096 };
	u64 length = probe->head.size;
	struct argtrace_plan *plan = make_plan_from(test, probe, &length, &format);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, plan);
	KUNIT_EXPECT_EQ(test, length, 0);
	return plan;
}

KUNIT_DEFINE_ACTION_WRAPPER(put_session_action, argtrace_session_put, struct argtrace_session *);

struct argtrace_session *make_session_like(struct kunit *test,
					   const struct argtrace_session_attr *wanted)
{
	struct argtrace_session_attr attr = *wanted;
	struct argtrace_session *session;

	attr.size = sizeof(attr);
	attr.packet_size = 4096;
	attr.nr_packets = 4;
	session = argtrace_session_get(&attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_session_action, session), 0);
	return session;
}

struct argtrace_session *make_session(struct kunit *test, const char *name, u32 format)
{
	struct argtrace_session_attr attr = {
		.flags = name[0] ? ARGTRACE_SESSION_CREATE : 0,
		.format = format,
	};

	strscpy(attr.name, name, sizeof(attr.name));
	return make_session_like(test, &attr);
}

const u32 session_clocks[SESSION_CLOCKS] = { ARGTRACE_CLOCK_TSC, ARGTRACE_CLOCK_MONOTONIC };

void describe_clock(const u32 *clock, char *text)
{
	strcpy(text, *clock == ARGTRACE_CLOCK_TSC ? "tsc" : "monotonic");
}

const struct argtrace_session_attr *attr_of_clock(struct kunit *test)
{
	struct argtrace_session_attr *attr = kunit_kzalloc(test, sizeof(*attr), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, attr);
	attr->clock = test->param_value ? *(const u32 *)test->param_value : ARGTRACE_CLOCK_MONOTONIC;
	if (attr->clock == ARGTRACE_CLOCK_TSC && !argtrace_clock_has_tsc())
		kunit_skip(test, "this machine's TSC is none to keep time by");
	return attr;
}

int session_add(struct kunit *test, struct argtrace_session *session,
		const struct made_probe *probe)
{
	const struct argtrace_plan_format format = {
		.format = session->format,
		.max_record = session->packet_size - ARGTRACE_PACKET_OVERHEAD,
		.rules_of = argtrace_plan_rules_of, .may_follow = argtrace_may_follow,
		.maps = session->maps,
		.stacks = session->stacks,
	};
	u64 length = probe->head.size;
	unsigned long failed;
	struct argtrace_plan *plan = make_plan_from(test, probe, &length, &format);
	int ret;

	if (IS_ERR(plan))
		return PTR_ERR(plan);
	mutex_lock(&session->lock);
	ret = argtrace_arm_add(session, &plan, 1, &failed);
	mutex_unlock(&session->lock);
	return ret;
}

int session_remove(struct argtrace_session *session, unsigned long addr)
{
	unsigned long failed;
	int ret;

	mutex_lock(&session->lock);
	ret = argtrace_arm_remove(session, ARGTRACE_KIND_ENTRY, &addr, 1, &failed);
	mutex_unlock(&session->lock);
	return ret;
}

void session_remove_all(struct argtrace_session *session)
{
	mutex_lock(&session->lock);
	argtrace_arm_remove_all(session);
	mutex_unlock(&session->lock);
}

bool is_in_function(unsigned long return_address, const void *function)
{
	/* Not on the stack: they are long. Tests run one after the other. */
	static char there[KSYM_SYMBOL_LEN], wanted[KSYM_SYMBOL_LEN];

	/* A call may be the last instruction. */
	sprint_symbol_no_offset(there, return_address - 1);
	sprint_symbol_no_offset(wanted, (unsigned long)function);
	return !strcmp(there, wanted);
}
