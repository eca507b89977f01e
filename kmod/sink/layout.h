/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the arguments of a call go in its record, planned once, when the probe is added. Uses
 * no kernel state: this file and encode.h are also compiled into the user-side tests, which provide
 * the fixed-width types, and what read/operands.h has in the kernel.
 */
#ifndef ARGTRACE_LAYOUT_H
#define ARGTRACE_LAYOUT_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <uapi/argtrace.h>

#include "read/operands.h"
#endif

/* One argument, as the callback executes it. */
struct argtrace_step {
	u8 is_word;		/* 1, 2, 4 or 8 bytes in one register: the common case */
	u8 index;		/* argument register */
	u16 size;		/* bytes of data */
	u8 type;		/* enum argtrace_type */
	u8 loc;			/* enum argtrace_loc */
	u16 offset;		/* LOC_STACK */
	u16 name;		/* its offset in the probe's string table; named encoding */
	u16 at;			/* where in the record it goes; compact encoding */
	u8 name_length;		/* with its NUL */
};

/* Another word on the stack and where in the record its 8 bytes go. */
struct argtrace_stack_word {
	u16 offset;
	u16 at;
};

/*
 * A record in the compact encoding, in three parts, in this order:
 *
 *   registers  all 8 bytes of each, in the order of the registers, whatever their width; the
 *              excess is overwritten by the next field, or cleared where it falls into padding. A
 *              register that is not wanted goes where the header will be.
 *   stack      its first word, then others, likewise
 *   steps      one by one, to the byte: arguments for which that is not possible
 *
 * Nothing is written beyond the end of the record: another one, of an interrupt, may already be
 * there.
 */
struct argtrace_layout {
	/* in the record, of registers and the stack's first word; 0: not wanted */
	u16 at[ARGTRACE_REG_COUNT + 1];
	/* where call/record.h writes the caller's address; 0: nowhere */
	u16 caller_at;
	u16 last_at;			/* where the last 8 bytes of the record are */
	u8 has_more;			/* many_registers or has_rest */
	u8 many_registers;		/* a register after the fourth is wanted */
	/*
	 * the highest argtrace_stack_place() at which the rest can be read without faults; -1: none
	 */
	s32 stack_limit;
	u8 has_rest;			/* there is a stack part, or steps */
	u8 rest_is_words;		/* there are steps alone, each of a word in a register */
	u8 many_stack;			/* words after the first are wanted */
	/*
	 * where the data of the argument that is highest on the stack begins; 0: none is on the
	 * stack
	 */
	u16 mark_at;
	u64 last_mask;			/* which of the last 8 bytes are no padding */
	const struct argtrace_stack_word *stack, *stack_end; /* words after the first */
	const struct argtrace_step *steps, *steps_end;
};

/*
 * Assigns each step its place in the record, from `at` on; returns the end of the last
 * one, without padding.
 */
static inline u32 argtrace_place_steps(struct argtrace_step *steps, unsigned int count, bool named,
				       u32 at)
{
	struct argtrace_step *step = steps;

	for (; count; count--, step++) {
		if (named)
			at += step->name_length + 1;
		step->at = at;
		at += step->size;
		if (step->type == ARGTRACE_TYPE_BYTES)
			at += sizeof(step->size);
	}
	return at + (named ? 2 : 0);
}

/* Whether it can be written with the registers, if argtrace_may_write_8() permits it. */
static inline bool argtrace_in_registers(const struct argtrace_step *step)
{
	return step->is_word || (step->loc == ARGTRACE_LOC_REG_PAIR && step->size == 16 &&
				 step->type != ARGTRACE_TYPE_BYTES);
}

/* Whether the 8 bytes that a step would write in its part overwrite nothing written before. */
static inline bool argtrace_may_write_8(const struct argtrace_step *step,
					const struct argtrace_step *end, u32 record_size)
{
	const struct argtrace_step *later = step + 1;

	if (step->at + 8u > record_size)
		return false;
	for (; later < end && later->at < step->at + 8u; later++) {
		if (argtrace_in_registers(later) &&
		    (!step->is_word || later->index <= step->index))
			return false;
	}
	return true;
}

/*
 * Where a record says that its part of the stack could not be read completely
 * (ARGTRACE_ID_UNREADABLE); 0 if it has no argument on the stack.
 */
static inline u16 argtrace_mark_place(const struct argtrace_step *steps, unsigned int count)
{
	const struct argtrace_step *step, *highest = NULL;

	for (step = steps; step < steps + count; step++) {
		if (step->loc != ARGTRACE_LOC_STACK)
			continue;
		if (!highest || step->offset + step->size > highest->offset + highest->size)
			highest = step;
	}
	if (!highest)
		return 0;
	return highest->at + (highest->type == ARGTRACE_TYPE_BYTES ? sizeof(highest->size) : 0);
}

static inline void argtrace_plan_named(struct argtrace_layout *layout,
				       const struct argtrace_step *steps, unsigned int count)
{
	layout->steps = steps;
	layout->steps_end = steps + count;
	layout->mark_at = argtrace_mark_place(steps, count);
	layout->has_rest = true;
	layout->has_more = true;
	layout->stack_limit = -1;
	/* Nothing is written to the padding. */
	layout->last_mask = ~0ull;
}

/*
 * Makes the step the next word of the stack part; `end` is the end of the list of words after the
 * first.
 */
static inline struct argtrace_stack_word *
argtrace_plan_stack_word(struct argtrace_layout *layout, struct argtrace_stack_word *end,
			 const struct argtrace_step *step)
{
	u16 *first = &layout->at[ARGTRACE_REG_COUNT];
	const s32 limit = ARGTRACE_STACK_PAGE - (step->offset + 8);

	if (layout->stack_limit > limit)
		layout->stack_limit = limit;
	if (step->offset == ARGTRACE_FIRST_STACK_WORD && !*first && !layout->many_stack) {
		*first = step->at;
		return end;
	}
	layout->many_stack = true;
	end->offset = step->offset;
	end->at = step->at;
	return end + 1;
}

/*
 * Plans the end of a record whose arguments and return value end at `end`. If other data follows,
 * it overwrites whatever has been written too much, and it need not end at record_size: then the
 * word is one that keeps its value.
 */
static inline void argtrace_plan_end(struct argtrace_layout *layout, u32 end, u32 record_size)
{
	const u32 padding = record_size - end;

	layout->last_at = padding < 8 ? record_size - 8 : 0;
	layout->last_mask = padding < 8 ? ~0ull >> (padding * 8) : ~0ull;
}

/*
 * Divides the steps of a compact record among the three parts. `steps` keeps the last part;
 * `stack` has room for all of them. `end_of_data` is the `end` of argtrace_plan_end().
 */
static inline void argtrace_plan_layout(struct argtrace_layout *layout, struct argtrace_step *steps,
					unsigned int count, struct argtrace_stack_word *stack,
					u32 end_of_data, u32 record_size)
{
	const struct argtrace_step *step, *end = steps + count;
	struct argtrace_step *left = steps;
	unsigned int i;

	layout->steps = steps;
	layout->mark_at = argtrace_mark_place(steps, count);
	layout->stack = stack;
	/* The first word is read whether or not an argument needs it. */
	layout->stack_limit = ARGTRACE_STACK_PAGE - (ARGTRACE_FIRST_STACK_WORD + 8);
	for (step = steps; step < end; step++) {
		if (step->is_word && !layout->at[step->index] &&
		    argtrace_may_write_8(step, end, record_size)) {
			layout->at[step->index] = step->at;
		} else if (!step->is_word && argtrace_in_registers(step) &&
			   !layout->at[step->index] && !layout->at[step->index + 1]) {
			layout->at[step->index] = step->at;
			layout->at[step->index + 1] = step->at + 8;
		} else if (step->loc == ARGTRACE_LOC_STACK && step->size <= 8 &&
			   step->type != ARGTRACE_TYPE_BYTES &&
			   argtrace_may_write_8(step, end, record_size)) {
			stack = argtrace_plan_stack_word(layout, stack, step);
		} else {
			*left++ = *step;
		}
	}
	layout->stack_end = stack;
	layout->steps_end = left;
	for (i = 4; i < ARGTRACE_REG_COUNT; i++)
		layout->many_registers |= !!layout->at[i];
	layout->has_rest = layout->at[ARGTRACE_REG_COUNT] || layout->many_stack || left > steps;
	layout->rest_is_words = left > steps && !layout->at[ARGTRACE_REG_COUNT] &&
				!layout->many_stack;
	for (step = steps; step < left; step++)
		layout->rest_is_words &= step->is_word;
	if (left > steps)
		layout->stack_limit = -1;
	layout->has_more = layout->many_registers || layout->has_rest;
	argtrace_plan_end(layout, end_of_data, record_size);
}

#endif
