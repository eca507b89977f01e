// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verifies programs. Nothing is trusted, and nothing remains to be checked during a call. What the fields of an
 * instruction mean depends on its action and source, so each field is checked accordingly.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include "base/compat.h"
#include "base/schema.h"
#include "read/operands.h"
#include "read/path.h"
#include "program/program.h"
#include "read/text.h"
#include "sink/map.h"

struct program {
	const struct argtrace_program *head;
	const struct argtrace_insn *insns;
	const u8 *data;
	u32 nr_values;
	u32 values_begin;			/* after the filters */
	u32 verdicts_end;			/* of the filter that is being verified; 0: it is a value */
	const struct argtrace_map_set *map;	/* of ARGTRACE_SINK_MAP */
	const struct argtrace_stack_set *stacks;	/* the session's; NULL: it has none */
	bool followed;				/* calls are recorded when they return */
	bool ticks;				/* there are no calls, but ticks of a timer */
	bool idle_has_stacks;			/* ARGTRACE_TIMER_IDLE */
	bool returns;				/* what is being verified is run when the function returns */
	u16 defined[ARGTRACE_INSNS_MAX + 1];	/* slots that are set on every way to an instruction */
};

static bool is_output(const struct argtrace_insn *insn)
{
	return insn->action >= ARGTRACE_DO_OUT;
}

/* Whether the instruction continues at `then` (or `other`) instead of the next one. */
static bool jumps(const struct argtrace_insn *insn)
{
	return insn->action <= ARGTRACE_DO_JUMP;
}

#define INSN_USER_LOADS	(ARGTRACE_INSN_USER(0) | ARGTRACE_INSN_USER(1) | ARGTRACE_INSN_USER(2))

/* The flags of so many loads. */
static u8 first_loads(u8 loads)
{
	return (ARGTRACE_INSN_USER(loads) - 1) & INSN_USER_LOADS;
}

/* Whether the action reads memory that may be user space's. */
static bool reads_data(const struct argtrace_insn *insn)
{
	return insn->action == ARGTRACE_DO_TEXT || insn->action == ARGTRACE_DO_STR || insn->action == ARGTRACE_DO_BUF ||
	       insn->action == ARGTRACE_DO_MEM;
}

static bool width_is_valid(u32 width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

/* Whether the number of the stack is an output, unmodified. */
static bool stack_id_is_alone(const struct argtrace_insn *insn)
{
	return insn->action == ARGTRACE_DO_OUT && insn->arg == sizeof(u64) && !insn->index && !insn->loads && !insn->offset[0] &&
	       !insn->shl && !insn->shr && !(insn->flags & (ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP)) &&
	       insn->mask == ~0ull;
}

static bool source_is_valid(const struct program *program, const struct argtrace_insn *insn, u16 defined)
{
	switch (insn->source) {
	case ARGTRACE_SOURCE_RETURN:
		return program->returns && insn->index < 2;
	case ARGTRACE_SOURCE_DURATION:
		return program->returns && !insn->index;
	case ARGTRACE_SOURCE_IDENTITY:
		return insn->index <= ARGTRACE_IDENTITY_CGROUP;
	case ARGTRACE_SOURCE_REG:
		return insn->index < ARGTRACE_REG_COUNT && !program->ticks;
	case ARGTRACE_SOURCE_SLOT:
		return insn->index < ARGTRACE_SLOTS && defined & BIT(insn->index);
	case ARGTRACE_SOURCE_STACK:
		return !insn->index && !program->ticks;
	case ARGTRACE_SOURCE_CONST:
	case ARGTRACE_SOURCE_TASK:
	case ARGTRACE_SOURCE_CALLER:
	case ARGTRACE_SOURCE_CPU:
	case ARGTRACE_SOURCE_TIME:
		return !insn->index;
	case ARGTRACE_SOURCE_STACK_ID:
		return program->stacks && stack_id_is_alone(insn);
	default:
		return false;
	}
}

static bool value_is_valid(const struct program *program, const struct argtrace_insn *insn, u16 defined)
{
	u32 i, offsets;

	if (!source_is_valid(program, insn, defined) || insn->loads > 3)
		return false;
	if (insn->loads ? !width_is_valid(insn->width) : insn->width)
		return false;
	offsets = insn->loads + (insn->action != ARGTRACE_DO_TEST);
	for (i = offsets; i < 3; i++) {
		if (insn->offset[i])
			return false;
	}
	if (insn->flags & ARGTRACE_INSN_RETURN && !(program->returns && is_output(insn)))
		return false;
	if (insn->flags & ARGTRACE_INSN_USER_DATA && !reads_data(insn))
		return false;
	return insn->shl < 64 && insn->shr < 64 && !(insn->flags & INSN_USER_LOADS & ~first_loads(insn->loads)) &&
	       !(insn->flags & ~(ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP | ARGTRACE_INSN_RETURN | INSN_USER_LOADS |
				 ARGTRACE_INSN_USER_DATA));
}

/* The literal or the layout of an instruction, once its place has been checked. */
static const void *data_at(const struct program *program, const struct argtrace_insn *insn)
{
	return program->data + array_index_nospec(insn->base, program->head->data);
}

static bool literal_is_valid(const struct program *program, const struct argtrace_insn *insn)
{
	const u32 length = insn->span, how = insn->span >> 32;

	return insn->arg && insn->arg <= ARGTRACE_MATCH_MAX && how <= ARGTRACE_MATCH_GLOB &&
	       length && length <= ARGTRACE_MATCH_MAX && insn->base < program->head->data &&
	       length < program->head->data - insn->base &&
	       /* The end of a glob is where its NUL is. */
	       strnlen(data_at(program, insn), length + 1) == length;
}

static bool layout_is_there(const struct program *program, const struct argtrace_insn *insn, u32 size)
{
	return insn->base % sizeof(u64) == 0 && program->head->data >= size && insn->base <= program->head->data - size;
}

/* Loads at these offsets may fail like any other, but the offsets must be plausible for members. */
static bool path_is_valid(const struct program *program, const struct argtrace_insn *insn)
{
	const struct argtrace_mount_layout *layout = data_at(program, insn);
	const struct argtrace_node_layout *node = (const void *)layout;
	const u32 offsets_max = ARGTRACE_MOUNT_MAX - sizeof(u64);

	if (insn->arg == ARGTRACE_PATH_OF_DENTRY)
		return !insn->base;
	if (insn->arg == ARGTRACE_PATH_OF_NODE)
		return layout_is_there(program, insn, sizeof(*node)) && node->name <= offsets_max && node->parent <= offsets_max &&
		       !((node->name | node->parent) % sizeof(u64));
	if (insn->arg != ARGTRACE_PATH_OF_PATH || !layout_is_there(program, insn, sizeof(*layout)))
		return false;
	return layout->mnt <= offsets_max && layout->mnt_parent <= offsets_max &&
	       layout->mnt_mountpoint <= offsets_max && layout->mnt_ns <= offsets_max && layout->ns_root <= offsets_max &&
	       !((layout->mnt | layout->mnt_parent | layout->mnt_mountpoint | layout->mnt_ns | layout->ns_root) % sizeof(u64)) &&
	       !layout->reserved;
}

static bool action_is_valid(const struct program *program, const struct argtrace_insn *insn, u16 defined)
{
	switch (insn->action) {
	case ARGTRACE_DO_TEST:
		return !insn->arg;
	case ARGTRACE_DO_TEXT:
		return literal_is_valid(program, insn);
	case ARGTRACE_DO_JUMP:
		return !insn->arg && !insn->other && !insn->loads;
	case ARGTRACE_DO_SET:
		return insn->arg < ARGTRACE_SLOTS && !insn->then && !insn->other;
	case ARGTRACE_DO_ALU:
		return insn->arg < ARGTRACE_SLOTS && defined & BIT(insn->arg) &&
		       insn->then <= ARGTRACE_ALU_LE && (insn->other == 4 || insn->other == 8);
	case ARGTRACE_DO_OUT:
		return width_is_valid(insn->arg) && !insn->then && !insn->other;
	case ARGTRACE_DO_STR:
	case ARGTRACE_DO_MEM:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX && !insn->then && !insn->other;
	case ARGTRACE_DO_BUF:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX && !insn->then && insn->other <= ARGTRACE_BUF_SIGNED &&
		       insn->base < ARGTRACE_SLOTS && defined & BIT(insn->base);
	case ARGTRACE_DO_PATH:
		return !insn->then && !insn->other && path_is_valid(program, insn);
	default:
		return false;
	}
}

/* Notes that `to` can be reached with these slots set. */
static void reach(struct program *program, u32 to, u16 defined)
{
	program->defined[to] &= defined;
}

/* Checks a jump from `at` within a part that ends before `end`. */
static bool jump_is_valid(struct program *program, u32 at, u32 end, u8 to, u16 defined)
{
	if (program->verdicts_end && to >= ARGTRACE_REJECT)
		return true;
	if (to <= at || to >= end)
		return false;
	reach(program, to, defined);
	return true;
}

static bool insn_is_valid(struct program *program, u32 at, u32 end)
{
	const struct argtrace_insn *insn = &program->insns[at];
	u16 defined = program->defined[at];

	if (!value_is_valid(program, insn, defined) || !action_is_valid(program, insn, defined))
		return false;
	if (insn->action == ARGTRACE_DO_SET)
		defined |= BIT(insn->arg);
	if (!jumps(insn)) {
		/* A filter must end with a verdict. */
		if (at + 1 == end)
			return is_output(insn);
		reach(program, at + 1, defined);
		return true;
	}
	return jump_is_valid(program, at, end, insn->then, defined) &&
	       (insn->action == ARGTRACE_DO_JUMP ||
		jump_is_valid(program, at, end, insn->other, defined));
}

/*
 * Checks a part: a filter, or a value. It begins with no slots set. Since jumps only go forward, all paths to an
 * instruction are known by the time it is checked; an instruction that cannot be reached is refused.
 */
static bool part_is_valid(struct program *program, u32 begin, u32 end)
{
	const u16 none_yet = ~0;
	bool reached;
	u32 at, from;

	for (at = begin; at < end; at++)
		program->defined[at] = none_yet;
	program->defined[begin] = 0;
	for (at = begin; at < end; at++) {
		for (reached = at == begin, from = begin; from < at && !reached; from++) {
			const struct argtrace_insn *insn = &program->insns[from];

			reached = jumps(insn) ? insn->then == at ||
						(insn->action != ARGTRACE_DO_JUMP && insn->other == at) :
						from + 1 == at;
		}
		if (!reached || !insn_is_valid(program, at, end))
			return false;
	}
	return true;
}

static bool filter_is_valid(struct program *program, u32 begin, u32 end)
{
	bool valid;
	u32 at;

	for (at = begin; at < end; at++) {
		if (is_output(&program->insns[at]))
			return false;
	}
	program->verdicts_end = end;
	valid = begin == end || part_is_valid(program, begin, end);
	program->verdicts_end = 0;
	return valid;
}

static bool values_are_valid(struct program *program)
{
	u32 begin = program->values_begin, end;

	for (; begin < program->head->nr_insns; begin = end) {
		for (end = begin; end < program->head->nr_insns && !is_output(&program->insns[end]); end++)
			;
		if (end == program->head->nr_insns)
			return false;
		program->returns = program->followed && program->insns[end].flags & ARGTRACE_INSN_RETURN;
		if (!part_is_valid(program, begin, ++end))
			return false;
		program->nr_values++;
	}
	return program->nr_values <= ARGTRACE_VALUES_MAX;
}

static bool output_is(const struct argtrace_insn *insn, const struct argtrace_arg *arg)
{
	if (insn->action == ARGTRACE_DO_PATH)
		return arg->type == ARGTRACE_TYPE_PATH && arg->size == ARGTRACE_PATH_MAX;
	if (insn->arg != arg->size)
		return false;
	switch (insn->action) {
	case ARGTRACE_DO_OUT:
		return argtrace_type_size(arg->type) == arg->size &&
		       (arg->type == ARGTRACE_TYPE_STACK) == (insn->source == ARGTRACE_SOURCE_STACK_ID);
	case ARGTRACE_DO_STR:
		return arg->type == ARGTRACE_TYPE_STR;
	default:
		return arg->type == ARGTRACE_TYPE_BYTES;
	}
}

/* Whether the outputs match their descriptions in the schema. */
static bool outputs_are(const struct program *program, const struct argtrace_probe *schema)
{
	const struct argtrace_arg *args = argtrace_schema_args(schema);
	u32 at = program->values_begin, i;

	for (i = 0; i < schema->nr_args; i++) {
		if (args[i].loc != ARGTRACE_LOC_PROGRAM)
			continue;
		while (at < program->head->nr_insns && !is_output(&program->insns[at]))
			at++;
		if (at == program->head->nr_insns || !output_is(&program->insns[at++], &args[i]))
			return false;
	}
	return at == program->head->nr_insns;
}

/* How many words an output takes in a map's key; 0 if it cannot be part of one. */
static u32 words_of_key(const struct argtrace_insn *insn)
{
	if (insn->action == ARGTRACE_DO_OUT)
		return 1;
	return insn->action == ARGTRACE_DO_STR && !(insn->arg % sizeof(u64)) ? insn->arg / sizeof(u64) : 0;
}

/* Whether the outputs suit what is done with the call. */
static bool outputs_fit_sink(const struct program *program)
{
	const struct argtrace_insn *insn = &program->insns[program->values_begin];
	const struct argtrace_insn *end = &program->insns[program->head->nr_insns];
	u32 words = 0;

	if (program->head->sink == ARGTRACE_SINK_RECORD)
		return true;
	if (program->head->sink == ARGTRACE_SINK_COUNT)
		return insn == end;
	if (program->map->has_value) {
		if (insn == end)
			return false;
		end--;
		if (end->action != ARGTRACE_DO_OUT || end->arg != sizeof(u64))
			return false;
	}
	for (; insn < end; insn++) {
		if (!is_output(insn))
			continue;
		if (!words_of_key(insn))
			return false;
		words += words_of_key(insn);
	}
	return words == program->map->key_words;
}

static bool reads_memory(const struct argtrace_insn *insn)
{
	return insn->loads || insn->action == ARGTRACE_DO_TEXT || insn->action > ARGTRACE_DO_OUT;
}

static const struct argtrace_op *target(const struct argtrace_op *ops, const struct argtrace_op *accept, u8 to)
{
	return to == ARGTRACE_ACCEPT ? accept : to == ARGTRACE_REJECT ? ARGTRACE_OP_REJECT : ops + to;
}

/* The offset of an identity in struct cred, where none is at 0; ARGTRACE_NOT_IN_CRED for the cgroup. */
static u8 place_in_cred(u8 identity)
{
	static_assert(offsetof(struct cred, uid) && offsetof(struct cred, gid));
	if (identity == ARGTRACE_IDENTITY_CGROUP)
		return ARGTRACE_NOT_IN_CRED;
	return identity == ARGTRACE_IDENTITY_UID ? offsetof(struct cred, uid) : offsetof(struct cred, gid);
}

static u8 place_of(const struct argtrace_insn *insn, bool returns)
{
	if (insn->source == ARGTRACE_SOURCE_REG)
		return argtrace_reg_place(array_index_nospec(insn->index, ARGTRACE_REG_COUNT));
	if (insn->source == ARGTRACE_SOURCE_SLOT)
		return array_index_nospec(insn->index, ARGTRACE_SLOTS);
	if (insn->source == ARGTRACE_SOURCE_RETURN)
		return argtrace_return_place(array_index_nospec(insn->index, 2));
	if (insn->source == ARGTRACE_SOURCE_DURATION)
		return argtrace_duration_place();
	if (insn->source == ARGTRACE_SOURCE_IDENTITY)
		return place_in_cred(insn->index);
	if (insn->source == ARGTRACE_SOURCE_STACK_ID)
		return argtrace_bp_place(returns);
	/* Any valid one: it is read before it turns out to be unused, and a call's frame lacks part of struct pt_regs. */
	return argtrace_reg_place(0);
}

/* ARGTRACE_USER_* of an instruction, whose last load has offset[2] in an operation. */
static u8 user_of(const struct argtrace_insn *insn)
{
	const u8 loads = (insn->flags & INSN_USER_LOADS) / ARGTRACE_INSN_USER(0);

	return (insn->loads ? loads << (3 - insn->loads) : 0) |
	       (insn->flags & ARGTRACE_INSN_USER_DATA ? ARGTRACE_USER_DATA : 0);
}

static void prepare_op(struct argtrace_op *op, const struct argtrace_insn *insn, const struct argtrace_op *ops,
		       const struct argtrace_op *accept, bool returns)
{
	u32 i;

	*op = (struct argtrace_op){
		.mask = insn->mask, .base = insn->base, .span = insn->span,
		.next = { jumps(insn) ? target(ops, accept, insn->other) : (void *)(unsigned long)insn->other,
			  jumps(insn) ? target(ops, accept, insn->then) : (void *)(unsigned long)insn->then },
		.arg = insn->arg,
		.source = insn->source,
		.action = insn->action,
		.shl = insn->shl,
		.shr = insn->shr,
		.flags = insn->flags,
		.kind = ARGTRACE_OP_OTHER,
		.index = place_of(insn, returns),
		.loads = insn->source == ARGTRACE_SOURCE_STACK_ID ? ARGTRACE_LOADS_STACK : insn->loads,
		.width = insn->width,
		.user = user_of(insn),
	};
	for (i = 0; i < insn->loads; i++)
		op->offset[3 - insn->loads + i] = insn->offset[i];
	if (insn->loads < 3)
		op->offset[0] = insn->offset[insn->loads];
}

/*
 * A load that fails yields -EFAULT. If the next offset leaves that within the uppermost 16 MiB, or makes it positive, the next
 * load recognises that it is no kernel address.
 */
static bool failure_shows(const struct argtrace_insn *insn)
{
	u32 i;

	for (i = 1; i < insn->loads; i++) {
		if (insn->offset[i] < -(s32)SZ_16M + 2 * EFAULT)
			return false;
	}
	return true;
}

/* The quick form of an instruction's value, or ARGTRACE_OP_OTHER if there is none. */
static enum argtrace_op_kind quick_kind(const struct argtrace_insn *insn)
{
	const bool task = insn->source == ARGTRACE_SOURCE_TASK;

	if (insn->flags & (ARGTRACE_INSN_SWAP | INSN_USER_LOADS) || !failure_shows(insn))
		return ARGTRACE_OP_OTHER;
	/* The last member, `thread`, may be cut short to what the processor needs: see fpu__init_task_struct_size(). */
	if (task && insn->loads == 1 && insn->offset[0] >= 0 &&
	    insn->offset[0] <= (s32)(offsetof(struct task_struct, thread) - sizeof(u64)))
		return ARGTRACE_OP_TASK;
	if (task && insn->loads)
		return ARGTRACE_OP_LOAD_TASK;
	if (insn->source == ARGTRACE_SOURCE_REG || insn->source == ARGTRACE_SOURCE_RETURN ||
	    insn->source == ARGTRACE_SOURCE_DURATION)
		return insn->loads ? ARGTRACE_OP_LOAD_1 + insn->loads - 1 : ARGTRACE_OP_REG;
	if (insn->source == ARGTRACE_SOURCE_IDENTITY && !insn->loads)
		return ARGTRACE_OP_IDENTITY;
	return ARGTRACE_OP_OTHER;
}

static void make_quick(struct argtrace_op *op, enum argtrace_op_kind kind)
{
	op->kind = kind;
	if (op->loads)
		op->mask &= GENMASK_ULL(op->width * 8 - 1, 0);
}

/*
 * Prepares a TEST of the filter. The shifts that extend a sign are dropped: with its sign bit toggled, a number compares
 * like an unsigned one.
 */
static void quicken_test(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const enum argtrace_op_kind kind = quick_kind(insn);
	const u64 bits = GENMASK_ULL(63 - insn->shl, 0);
	u64 sign = 0;

	if (kind == ARGTRACE_OP_OTHER || insn->action != ARGTRACE_DO_TEST || insn->shl != insn->shr)
		return;
	if (insn->flags & ARGTRACE_INSN_SIGNED && insn->shl && insn->mask & ~bits) {
		/* Only if all bits of the sign are compared. */
		if (insn->mask != ~0ull)
			return;
		sign = bits ^ (bits >> 1);
	}
	op->mask &= bits;
	op->base += sign;
	op->sign = sign;
	make_quick(op, kind);
}

static bool quicken_output(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const enum argtrace_op_kind kind = quick_kind(insn);
	const bool is_address = insn->action == ARGTRACE_DO_STR || insn->action == ARGTRACE_DO_PATH;

	/* The quick paths of records have no register left for an identity. */
	if (insn->source == ARGTRACE_SOURCE_STACK_ID) {
		op->kind = ARGTRACE_OP_STACK;
		return true;
	}
	if (kind == ARGTRACE_OP_OTHER || kind == ARGTRACE_OP_IDENTITY || (insn->action != ARGTRACE_DO_OUT && !is_address) ||
	    insn->shl || insn->shr)
		return false;
	/* The mask of a narrow load would be applied after the addition. */
	if (op->loads < 3 && op->offset[0] && (!is_address || (op->loads && op->width != 8)))
		return false;
	make_quick(op, kind);
	return true;
}

/* Whether the output is the full name of the current task. */
static bool is_name(const struct argtrace_insn *insn)
{
	return insn->action == ARGTRACE_DO_STR && insn->arg == TASK_COMM_LEN && insn->source == ARGTRACE_SOURCE_TASK &&
	       !insn->loads && !insn->shl && !insn->shr && !(insn->flags & ~ARGTRACE_INSN_RETURN) && insn->mask == ~0ull &&
	       insn->offset[0] == (s32)offsetof(struct task_struct, comm);
}

/* Whether the output is a signed number of 4 bytes, extended to a word. */
static bool extends_int(const struct argtrace_insn *insn)
{
	return insn->shl == 32 && insn->shr == 32 && (insn->flags & ~ARGTRACE_INSN_RETURN) == ARGTRACE_INSN_SIGNED && insn->mask == ~0ull &&
	       insn->arg == sizeof(u64);
}

/* Prepares part of a key, or a value, if it is a word that is computed without loads, at the call or its return. */
static bool quicken_word(struct argtrace_op *op, const struct argtrace_insn *insn)
{
	const u32 flags = insn->flags & ~ARGTRACE_INSN_RETURN;

	if (insn->action != ARGTRACE_DO_OUT || insn->loads > 1 || insn->offset[insn->loads])
		return false;
	if (extends_int(insn)) {
		op->kind = quick_kind(insn) == ARGTRACE_OP_TASK && insn->width == sizeof(int) ? ARGTRACE_OP_TASK_INT :
			   quick_kind(insn) == ARGTRACE_OP_REG ? ARGTRACE_OP_REG_INT : ARGTRACE_OP_OTHER;
		return op->kind != ARGTRACE_OP_OTHER;
	}
	if (insn->shl || insn->shr || flags)
		return false;
	/* A record drops the higher bits of a narrow output, but a key would contain them. */
	op->mask &= GENMASK_ULL(insn->arg * 8 - 1, 0);
	if (insn->source == ARGTRACE_SOURCE_CONST && !insn->loads) {
		op->span &= op->mask;
		op->kind = ARGTRACE_OP_CONST;
	}
	return op->kind == ARGTRACE_OP_REG || op->kind == ARGTRACE_OP_TASK || op->kind == ARGTRACE_OP_CONST;
}

/* Whether the key (of two words at most, or the task's name) and the value consist of words. */
static bool quicken_words(const struct program *program, struct argtrace_op *ops)
{
	const u32 begin = program->values_begin, nr = program->head->nr_insns - begin;
	const struct argtrace_insn *insns = program->insns + begin;
	const bool has_name = nr && is_name(insns);
	u32 i;

	if (program->map->key_words > 2)
		return false;
	for (i = has_name; i < nr; i++) {
		if (!quicken_word(&ops[begin + i], &insns[i]))
			return false;
	}
	return true;
}

/* Whether the map's key is only the number of a stack, of a call or of a tick, and there is no value. */
static bool is_stack_key(const struct program *program, const struct argtrace_op *ops)
{
	const struct argtrace_op *op = &ops[program->values_begin];

	return program->head->nr_insns - program->values_begin == 1 && program->map->key_words == 1 && !program->map->has_value &&
	       !program->followed && (op->kind == ARGTRACE_OP_STACK || op->loads == ARGTRACE_LOADS_TICK);
}

/* What the callback does with a call. If it adds to a map, all operations are quick. */
static enum argtrace_op_kind sink_kind(const struct program *program, const struct argtrace_op *key, const struct argtrace_op *value)
{
	const struct argtrace_map_set *map = program->map;
	const u16 buckets = map->buckets.kind;
	const bool has_name = map->key_words && is_name(&program->insns[program->values_begin]);

	if (map->buckets.is_signed || (map->has_value && value->kind != ARGTRACE_OP_REG))
		return ARGTRACE_OP_ADD_OTHER;
	if (has_name && map->has_value)
		return buckets == ARGTRACE_BUCKETS_LOG2 ? ARGTRACE_OP_ADD_NAME_LOG2 :
		       buckets == ARGTRACE_BUCKETS_NONE ? ARGTRACE_OP_ADD_NAME_VALUE : ARGTRACE_OP_ADD_OTHER;
	if (has_name)
		return ARGTRACE_OP_ADD_NAME;
	if (!map->key_words && buckets == ARGTRACE_BUCKETS_LOG2 && map->slots > BITS_PER_TYPE(u64))
		return ARGTRACE_OP_ADD_LOG2;
	if (map->key_words == 1 && buckets == ARGTRACE_BUCKETS_LOG2 && key->kind == ARGTRACE_OP_CONST)
		return ARGTRACE_OP_ADD_CONST_LOG2;
	if (map->key_words == 1 && !map->has_value && key->kind == ARGTRACE_OP_REG)
		return ARGTRACE_OP_ADD_REG;
	if (map->key_words == 1 && !map->has_value && key->kind == ARGTRACE_OP_TASK)
		return ARGTRACE_OP_ADD_TASK;
	if (map->key_words == 1 && !map->has_value && key->kind == ARGTRACE_OP_TASK_INT)
		return ARGTRACE_OP_ADD_TASK_INT;
	return ARGTRACE_OP_ADD_OTHER;
}

static void prepare_sink(struct argtrace_op *sink, const struct argtrace_code *code, const struct program *program)
{
	static const struct argtrace_op none;
	const bool has_any = code->values < code->end;
	const struct argtrace_op *key = has_any ? code->values : &none, *value = has_any ? code->end - 1 : &none;

	*sink = (struct argtrace_op){
		.kind = code->outputs == ARGTRACE_OUTPUTS_COUNT ? ARGTRACE_OP_COUNT :
			code->outputs == ARGTRACE_OUTPUTS_WORDS ? sink_kind(program, key, value) :
			code->outputs == ARGTRACE_OUTPUTS_STACK_KEY && key->kind == ARGTRACE_OP_STACK ? ARGTRACE_OP_ADD_STACK :
													ARGTRACE_OP_ADD_OTHER,
	};
	if (code->outputs != ARGTRACE_OUTPUTS_WORDS)
		return;
	sink->base = (u64)(unsigned long __force)program->map->cpus;
	sink->mask = key->kind == ARGTRACE_OP_CONST ? key->span : key->mask;
	sink->index = key->index;
	sink->offset[2] = key->offset[2];
	sink->span = value->mask;
	sink->width = value->index;
}

static u32 output_size(const struct argtrace_insn *insn)
{
	switch (insn->action) {
	case ARGTRACE_DO_OUT:
		return insn->arg;
	case ARGTRACE_DO_PATH:
		return sizeof(u16) + ARGTRACE_PATH_ROOM;
	default:
		return sizeof(u16) + insn->arg;
	}
}

static enum argtrace_outputs outputs_kind(bool quick, bool fixed, bool paths, bool stack, bool user)
{
	if (quick && stack && fixed)
		return ARGTRACE_OUTPUTS_STACK;
	if (!quick || stack)
		return fixed ? ARGTRACE_OUTPUTS_FIXED : ARGTRACE_OUTPUTS_VARIABLE;
	if (user)
		return ARGTRACE_OUTPUTS_USER;
	if (paths)
		return ARGTRACE_OUTPUTS_PATHS;
	return fixed ? ARGTRACE_OUTPUTS_QUICK : ARGTRACE_OUTPUTS_TEXT;
}

static int prepare_outputs(struct argtrace_code *code, const struct program *program, struct argtrace_op *ops)
{
	const u32 begin = program->values_begin, nr_insns = program->head->nr_insns;
	bool quick = true, fixed = true, paths = false, stack = false, user = false;
	u32 at, output = 0;

	code->values = ops + begin;
	code->end = ops + nr_insns;
	for (at = begin; at < nr_insns; at++) {
		const struct argtrace_insn *insn = &program->insns[at];

		prepare_op(&ops[at], insn, ops, NULL, program->followed);
		if (insn->action == ARGTRACE_DO_PATH)
			ops[at].next[0] = insn->arg == ARGTRACE_PATH_OF_DENTRY ? NULL : data_at(program, insn);
		if (program->ticks && insn->source == ARGTRACE_SOURCE_STACK_ID) {
			ops[at].loads = ARGTRACE_LOADS_TICK;
			quick = false;
		} else {
			quick &= quicken_output(&ops[at], insn);
		}
		if (is_output(insn)) {
			fixed &= insn->action == ARGTRACE_DO_OUT;
			paths |= insn->action == ARGTRACE_DO_PATH;
			user |= ops[at].user & ARGTRACE_USER_DATA;
			if (program->followed && !(insn->flags & ARGTRACE_INSN_RETURN)) {
				code->keeps = true;
				code->kept += output_size(insn);
			}
			stack |= insn->source == ARGTRACE_SOURCE_STACK_ID;
			output += output_size(insn);
		}
	}
	/* Where returns are followed, only numbers have a quick way. */
	quick &= !program->followed || (fixed && !stack);
	if (program->head->sink == ARGTRACE_SINK_COUNT)
		code->outputs = ARGTRACE_OUTPUTS_COUNT;
	else if (program->map)
		code->outputs = is_stack_key(program, ops)  ? ARGTRACE_OUTPUTS_STACK_KEY :
				quicken_words(program, ops) ? ARGTRACE_OUTPUTS_WORDS : ARGTRACE_OUTPUTS_MAP;
	else
		code->outputs = begin == nr_insns ? ARGTRACE_OUTPUTS_NONE : outputs_kind(quick, fixed, paths, stack, user);
	if (code->outputs == ARGTRACE_OUTPUTS_PATHS && nr_insns - begin == 1 && ops[begin].arg != ARGTRACE_PATH_OF_NODE)
		code->outputs = ARGTRACE_OUTPUTS_PATH;
	code->map = program->map;
	code->output = output + (code->outputs == ARGTRACE_OUTPUTS_TEXT ? ARGTRACE_TEXT_ROOM : 0);
	/* In scratch memory they follow a word. */
	return output <= ARGTRACE_OUTPUT_MAX - sizeof(u64) ? 0 : -E2BIG;
}

/* Makes operations of what precedes and follows the filter, so that calls without either pay nothing. */
static int prepare(struct argtrace_code *code, const struct program *program)
{
	const struct argtrace_program *head = program->head;
	struct argtrace_op *sample = (void *)(code + 1), *cap = sample + 1, *sink = cap + 1, *ops = sample + ARGTRACE_OPS_EXTRA;
	const struct argtrace_op *accept = ARGTRACE_OP_ACCEPT;
	u32 at;
	int ret;

	/* Where returns are followed, these are decided when the call returns. */
	if (!program->followed && head->max_rate)
		accept = cap;
	else if (!program->followed && head->sink != ARGTRACE_SINK_RECORD)
		accept = sink;

	*code = (struct argtrace_code){
		.filter = head->nr_filter ? ops : NULL,
		.return_filter = head->nr_return ? ops + head->nr_filter : NULL,
		.data = program->data,
		.stacks = program->stacks,
		.idle_has_stacks = program->idle_has_stacks,
		.sample = head->sample > 1 ? head->sample : 0,
		.max_rate = head->max_rate,
	};
	*cap = (struct argtrace_op){ .kind = ARGTRACE_OP_CAP, .next[1] = ARGTRACE_OP_ACCEPT };
	*sample = (struct argtrace_op){ .kind = ARGTRACE_OP_SAMPLE, .next[1] = head->nr_filter ? ops : accept };
	code->start = code->sample ? sample : sample->next[1];
	for (at = 0; at < program->values_begin; at++) {
		prepare_op(&ops[at], &program->insns[at], ops, accept, program->followed);
		quicken_test(&ops[at], &program->insns[at]);
	}
	for (at = 0; at < head->nr_insns; at++) {
		code->reads |= reads_memory(&program->insns[at]);
		code->times |= program->insns[at].source == ARGTRACE_SOURCE_DURATION;
	}
	ret = prepare_outputs(code, program, ops);
	if (!ret && head->sink != ARGTRACE_SINK_RECORD)
		prepare_sink(sink, code, program);
	return ret;
}

/* What a call may take at most: jumps go forward, so that each instruction is executed once. */
static u64 cost_of(const struct program *program)
{
	u64 cost = 0;
	u32 at;

	for (at = 0; at < program->head->nr_insns; at++)
		cost += argtrace_insn_cost(&program->insns[at]);
	return cost;
}

size_t argtrace_code_size(size_t program)
{
	return program ? sizeof(struct argtrace_code) +
			 (program / sizeof(struct argtrace_insn) + ARGTRACE_OPS_EXTRA) * sizeof(struct argtrace_op) : 0;
}

int argtrace_code_prepare(struct argtrace_code *code, const struct argtrace_probe *schema,
			  struct argtrace_map_set *const *maps, const struct argtrace_stack_set *stacks, u64 *too_dear)
{
	const struct argtrace_program *head = argtrace_schema_program(schema);
	struct program program = { .head = head, .insns = (const void *)(head + 1), .stacks = stacks };
	u64 size, cost;
	int ret;

	if (schema->program < sizeof(*head) || head->nr_insns > ARGTRACE_INSNS_MAX || head->nr_filter > head->nr_insns ||
	    head->nr_return > head->nr_insns - head->nr_filter)
		return -EINVAL;
	if (head->nr_return && !(schema->flags & ARGTRACE_PROBE_RETURN))
		return -EINVAL;
	if (head->sink > ARGTRACE_SINK_MAP || (head->map && head->sink != ARGTRACE_SINK_MAP) || head->reserved)
		return -EINVAL;
	if (head->sink == ARGTRACE_SINK_MAP) {
		program.map = maps ? argtrace_map_of(maps, head->map) : NULL;
		if (!program.map)
			return -EINVAL;
	}
	program.values_begin = head->nr_filter + head->nr_return;
	size = sizeof(*head) + head->nr_insns * sizeof(*program.insns);
	program.data = (const u8 *)head + size;
	if (schema->program != ALIGN(size + head->data, 8) ||
	    memchr_inv(program.data + head->data, 0, schema->program - size - head->data))
		return -EINVAL;
	program.ticks = schema->kind == ARGTRACE_KIND_TIMER;
	program.idle_has_stacks = program.ticks && schema->addr & ARGTRACE_TIMER(0, 0, ARGTRACE_TIMER_IDLE);
	if (!filter_is_valid(&program, 0, head->nr_filter))
		return -EINVAL;
	program.followed = schema->flags & ARGTRACE_PROBE_RETURN;
	program.returns = program.followed;
	if (!filter_is_valid(&program, head->nr_filter, program.values_begin) || !values_are_valid(&program) ||
	    !outputs_are(&program, schema) || !outputs_fit_sink(&program))
		return -EINVAL;
	cost = cost_of(&program);
	if (cost > ARGTRACE_COST_MAX) {
		if (too_dear)
			*too_dear = cost;
		return -E2BIG;
	}
	ret = prepare(code, &program);
	code->maps = maps;
	return ret;
}

void argtrace_code_place(struct argtrace_code *code, u32 at, bool quick)
{
	struct argtrace_op *op = (struct argtrace_op *)code->values;

	code->unreadable_at = at;
	if (!quick && (code->outputs == ARGTRACE_OUTPUTS_QUICK || code->outputs == ARGTRACE_OUTPUTS_STACK))
		code->outputs = ARGTRACE_OUTPUTS_FIXED;
	if (!quick && (code->outputs == ARGTRACE_OUTPUTS_PATH || code->outputs == ARGTRACE_OUTPUTS_TEXT ||
		       code->outputs == ARGTRACE_OUTPUTS_PATHS || code->outputs == ARGTRACE_OUTPUTS_USER))
		code->outputs = ARGTRACE_OUTPUTS_VARIABLE;
	if (code->outputs < ARGTRACE_OUTPUTS_QUICK || code->outputs > ARGTRACE_OUTPUTS_STACK)
		return;
	at += sizeof(u64);
	for (; op < code->end; op++) {
		op->next[1] = op + 1 < code->end ? op + 1 : NULL;
		if (code->outputs == ARGTRACE_OUTPUTS_QUICK || code->outputs == ARGTRACE_OUTPUTS_STACK) {
			op->base = at;
			at += op->arg;
		} else {
			op->base = op->loads < 3 ? op->offset[0] : 0;
		}
	}
}
