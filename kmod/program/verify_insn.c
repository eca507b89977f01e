// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the fields of an instruction mean depends on its source and its action, so each field is
 * checked accordingly.
 */
#include <linux/bits.h>
#include <linux/string.h>

#include "arch/regs.h"
#include "arch/vector.h"
#include "program/insn.h"
#include "program/verify.h"

/* The flags of so many loads. */
static u8 first_loads(u8 loads)
{
	return (ARGTRACE_INSN_USER(loads) - 1) & ARGTRACE_INSN_USER_LOADS;
}

static bool width_is_valid(u32 width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

/* Whether the number of the stack is an output, unmodified. */
static bool stack_id_is_alone(const struct argtrace_insn *insn)
{
	return insn->action == ARGTRACE_DO_OUT && insn->arg == sizeof(u64) && !insn->index &&
	       !insn->loads && !insn->offset[0] && !insn->shl && !insn->shr &&
	       !(insn->flags & (ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP)) && insn->mask == ~0ull;
}

/*
 * The frame of a call that is followed has the registers of its arguments alone; that of a function
 * of Go has others as well.
 */
static bool has_register(const struct argtrace_verified *program, u32 index)
{
	if (program->goroutines)
		return argtrace_frame_has_register(index);
	return index < (program->user_code && !program->followed ? ARGTRACE_USER_REG_COUNT :
								   ARGTRACE_REG_COUNT);
}

/*
 * Go's first results are SOURCE_RESULT. The kernel's functions return nothing in registers that the
 * kernel leaves alone.
 */
static bool has_result(const struct argtrace_verified *program, u32 index)
{
	const u32 vector = index - ARGTRACE_RETURN_VECTOR;

	if (program->goroutines)
		return vector < ARGTRACE_RETURN_VECTORS_GO;
	if (index < ARGTRACE_RETURN_VECTOR)
		return true;
	return program->user_code && (argtrace_is_vector(vector, ARGTRACE_RETURN_VECTORS) ||
				      vector - ARGTRACE_VECTOR_X87 < ARGTRACE_X87_WORDS);
}

static bool source_is_valid(const struct argtrace_verified *program,
			    const struct argtrace_insn *insn, bool returns, u16 defined)
{
	switch (insn->source) {
	case ARGTRACE_SOURCE_RETURN:
		return returns && has_result(program, insn->index);
	case ARGTRACE_SOURCE_RESULT:
		return returns && program->goroutines &&
		       argtrace_result_number(insn->index) < ARGTRACE_RESULTS;
	case ARGTRACE_SOURCE_DURATION:
		return returns && !insn->index;
	case ARGTRACE_SOURCE_IDENTITY:
		return insn->index <= ARGTRACE_IDENTITY_CGROUP;
	case ARGTRACE_SOURCE_REG:
		return has_register(program, insn->index) && !program->ticks;
	case ARGTRACE_SOURCE_SLOT:
		return insn->index < ARGTRACE_SLOTS && defined & BIT(insn->index);
	case ARGTRACE_SOURCE_STACK:
		/* What is kept of a call of user code has none. */
		return !insn->index && !program->ticks && !(program->user_code && returns);
	case ARGTRACE_SOURCE_CONST:
	case ARGTRACE_SOURCE_TASK:
	case ARGTRACE_SOURCE_CALLER:
	case ARGTRACE_SOURCE_CPU:
	case ARGTRACE_SOURCE_TIME:
		return !insn->index;
	case ARGTRACE_SOURCE_STACK_ID:
		return program->stacks.kernel && stack_id_is_alone(insn);
	case ARGTRACE_SOURCE_USER_STACK_ID:
		return program->stacks.user && stack_id_is_alone(insn);
	case ARGTRACE_SOURCE_VECTOR:
		return program->user_code && !returns &&
		       argtrace_is_vector(insn->index, ARGTRACE_VECTORS);
	default:
		return false;
	}
}

static bool insn_flags_are_valid(const struct argtrace_insn *insn, bool returns)
{
	const u8 known = ARGTRACE_INSN_SIGNED | ARGTRACE_INSN_SWAP | ARGTRACE_INSN_RETURN |
			 ARGTRACE_INSN_USER_LOADS | ARGTRACE_INSN_USER_DATA;

	if (insn->flags & ARGTRACE_INSN_RETURN &&
	    !(returns && argtrace_action_is_output(insn->action)))
		return false;
	if (insn->flags & ARGTRACE_INSN_USER_DATA && !argtrace_action_reads_data(insn->action))
		return false;
	return !(insn->flags & ARGTRACE_INSN_USER_LOADS & ~first_loads(insn->loads)) &&
	       !(insn->flags & ~known);
}

static bool value_is_valid(const struct argtrace_verified *program,
			   const struct argtrace_insn *insn, bool returns, u16 defined)
{
	u32 i, offsets;

	if (!source_is_valid(program, insn, returns, defined) || insn->loads > 3)
		return false;
	if (insn->loads ? !width_is_valid(insn->width) : insn->width)
		return false;
	offsets = insn->loads + (insn->action != ARGTRACE_DO_TEST);
	for (i = offsets; i < 3; i++) {
		if (insn->offset[i])
			return false;
	}
	return insn->shl < 64 && insn->shr < 64 && insn_flags_are_valid(insn, returns);
}

static bool literal_is_valid(const struct argtrace_verified *program,
			     const struct argtrace_insn *insn)
{
	const u32 length = insn->span, how = insn->span >> 32;

	return insn->arg && insn->arg <= ARGTRACE_MATCH_MAX && how <= ARGTRACE_MATCH_GLOB &&
	       length && length <= ARGTRACE_MATCH_MAX && insn->base < program->head->data &&
	       length < program->head->data - insn->base &&
	       /* The end of a glob is where its NUL is. */
	       strnlen(argtrace_program_data(program, insn), length + 1) == length;
}

static bool layout_is_there(const struct argtrace_verified *program,
			    const struct argtrace_insn *insn, u32 size)
{
	return insn->base % sizeof(u64) == 0 && program->head->data >= size &&
	       insn->base <= program->head->data - size;
}

/* Loads at an offset in a layout may fail like any other, but it must be plausible for a member. */
static bool is_member(u32 offset)
{
	return offset <= ARGTRACE_MOUNT_MAX - sizeof(u64) && !(offset % sizeof(u64));
}

static bool mount_layout_is_valid(const struct argtrace_mount_layout *layout)
{
	return is_member(layout->mnt) && is_member(layout->mnt_parent) &&
	       is_member(layout->mnt_mountpoint) && is_member(layout->mnt_ns) &&
	       is_member(layout->ns_root) && !layout->reserved;
}

static bool node_layout_is_valid(const struct argtrace_node_layout *layout)
{
	return is_member(layout->name) && is_member(layout->parent);
}

static bool path_is_valid(const struct argtrace_verified *program, const struct argtrace_insn *insn)
{
	const void *layout = argtrace_program_data(program, insn);

	switch (insn->arg) {
	case ARGTRACE_PATH_OF_PATH:
		return layout_is_there(program, insn, sizeof(struct argtrace_mount_layout)) &&
		       mount_layout_is_valid(layout);
	case ARGTRACE_PATH_OF_DENTRY:
		return !insn->base;
	case ARGTRACE_PATH_OF_NODE:
		return layout_is_there(program, insn, sizeof(struct argtrace_node_layout)) &&
		       node_layout_is_valid(layout);
	default:
		return false;
	}
}

/* Outputs alone have these, of which AGAIN is for what is computed at entry. */
static bool output_flags_are_valid(const struct argtrace_verified *program,
				   const struct argtrace_insn *insn)
{
	if (insn->then & ~(ARGTRACE_OUT_AGAIN | ARGTRACE_OUT_NULL))
		return false;
	return !(insn->then & ARGTRACE_OUT_AGAIN) ||
	       (program->followed && insn->flags & ARGTRACE_INSN_USER_DATA &&
		!(insn->flags & ARGTRACE_INSN_RETURN));
}

/* The slot that has what is behind the first word of a WORDS. */
static bool second_word_is_valid(const struct argtrace_insn *insn, u16 defined)
{
	if (insn->arg <= sizeof(u64))
		return !insn->base;
	return insn->base < ARGTRACE_SLOTS && defined & BIT(insn->base);
}

static bool action_is_valid(const struct argtrace_verified *program,
			    const struct argtrace_insn *insn, u16 defined)
{
	switch (insn->action) {
	case ARGTRACE_DO_TEST:
		return !insn->arg;
	case ARGTRACE_DO_TEXT:
		return literal_is_valid(program, insn);
	case ARGTRACE_DO_JUMP:
		return !insn->arg && !insn->other && !insn->loads;
	case ARGTRACE_DO_SET:
	case ARGTRACE_DO_FILE:
		return insn->arg < ARGTRACE_SLOTS && !insn->then && !insn->other;
	case ARGTRACE_DO_ALU:
		return insn->arg < ARGTRACE_SLOTS && defined & BIT(insn->arg) &&
		       insn->then <= ARGTRACE_ALU_LE && (insn->other == 4 || insn->other == 8);
	case ARGTRACE_DO_OUT:
		return width_is_valid(insn->arg) && !insn->then && !insn->other;
	case ARGTRACE_DO_STR:
	case ARGTRACE_DO_MEM:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX && !insn->other &&
		       output_flags_are_valid(program, insn);
	case ARGTRACE_DO_STRS:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX &&
		       (insn->other == 4 || insn->other == 8) &&
		       output_flags_are_valid(program, insn);
	case ARGTRACE_DO_BUF:
		return insn->arg && insn->arg <= ARGTRACE_TEXT_MAX &&
		       insn->other <= ARGTRACE_BUF_SIGNED && insn->base < ARGTRACE_SLOTS &&
		       defined & BIT(insn->base) && output_flags_are_valid(program, insn);
	case ARGTRACE_DO_WORDS:
		return insn->arg && insn->arg <= ARGTRACE_WORDS_MAX && !insn->then &&
		       !insn->other && second_word_is_valid(insn, defined);
	case ARGTRACE_DO_PATH:
		return !(insn->then & ~ARGTRACE_OUT_NULL) && !insn->other &&
		       path_is_valid(program, insn);
	default:
		return false;
	}
}

static bool is_supplied(const struct argtrace_insn *insn, u16 supplied)
{
	switch (insn->source) {
	case ARGTRACE_SOURCE_REG:
	case ARGTRACE_SOURCE_STACK:
	case ARGTRACE_SOURCE_CALLER:
	case ARGTRACE_SOURCE_RETURN:
	case ARGTRACE_SOURCE_VECTOR:
	case ARGTRACE_SOURCE_RESULT:
		return true;
	case ARGTRACE_SOURCE_SLOT:
		return supplied & BIT(insn->index);
	default:
		return false;
	}
}

bool argtrace_insn_trusts_no_address(const struct argtrace_insn *insn, u16 supplied,
				     bool *supplies)
{
	u32 i;

	*supplies = is_supplied(insn, supplied);
	for (i = 0; i < insn->loads; i++) {
		const bool user = insn->flags & ARGTRACE_INSN_USER(i);

		if (*supplies && !user)
			return false;
		*supplies |= user;
	}
	if (!*supplies)
		return true;
	if (argtrace_action_reads_data(insn->action))
		return insn->flags & ARGTRACE_INSN_USER_DATA;
	return insn->action != ARGTRACE_DO_PATH;
}

bool argtrace_insn_is_valid(const struct argtrace_verified *program,
			    const struct argtrace_insn *insn, bool returns, u16 defined)
{
	return value_is_valid(program, insn, returns, defined) &&
	       action_is_valid(program, insn, defined);
}
