/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments -> the bytes of a record. No kernel state: this file is compiled into
 * the user-side tests too, beside the decoder that must read what it writes. The
 * includer provides the fixed-width types and
 *
 *   u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index)
 *   void argtrace_fetch_stack(const struct ftrace_regs *regs, unsigned int offset,
 *                             u8 *to, unsigned int size)
 *   const u8 *argtrace_stack(const struct ftrace_regs *regs)
 *             the stack at entry
 *   s32 argtrace_stack_place(const struct ftrace_regs *regs)
 *             where in a page of ARGTRACE_STACK_PAGE bytes that is: the rest of the page is sure to be there
 *   u64 argtrace_read_stack(const u8 *at)
 *             a word of it, whatever it may be a part of
 *
 * Every size has been settled when the probe was added: nothing here can fail. (The
 * second may: it then gives zeros. An honest descriptor points at what the caller has
 * just written.)
 */
#ifndef ARGTRACE_ENCODE_H
#define ARGTRACE_ENCODE_H

/* One argument, as the callback executes it. */
struct argtrace_step {
	u8 is_word;		/* 1, 2, 4 or 8 bytes in one register: the common case */
	u8 index;		/* argument register */
	u16 size;		/* bytes of data */
	u8 type;		/* enum argtrace_type */
	u8 loc;			/* enum argtrace_loc */
	u16 offset;		/* of LOC_STACK */
	u16 name;		/* its offset in the probe's string table; named encoding */
	u16 at;			/* where in the record it goes; compact encoding */
	u8 name_length;		/* with its NUL */
};

/* Of the first word on the stack: the return address lies before it (psABI 3.2.3). */
#define ARGTRACE_FIRST_STACK_WORD	8

/* Another word on the stack and where in the record its 8 bytes go. */
struct argtrace_stack_word {
	u16 offset;
	u16 at;
};

/*
 * A record in the compact encoding, in three parts, in this order:
 *
 *   registers  all 8 bytes of each, in the order of the registers, without a look at what
 *              is wanted of them: what is too much is overwritten by who comes later, or is
 *              padding. A register that is not wanted goes where the header will be.
 *   stack      likewise, its first word, then others
 *   steps      one by one, and to the byte, whatever that cannot be done with
 *
 * Nothing is written behind the record: that may be another one already, of an interrupt.
 */
struct argtrace_layout {
	u16 at[ARGTRACE_REG_COUNT + 1];	/* in the record, of registers and the stack's first word; 0: not wanted */
	u8 many_registers;		/* one behind the fourth is wanted */
	u8 has_rest;			/* there is a stack part, or steps */
	s32 stack_limit;		/* the last argtrace_stack_place() at which the rest can be read straight; -1: none */
	u8 many_stack;			/* words behind the first are wanted */
	u8 nr_steps;
	u16 caller_at;			/* the caller's address, which the includer writes; 0: nowhere */
	const struct argtrace_stack_word *stack, *stack_end; /* words behind the first */
	const struct argtrace_step *steps;
};

/* Cuts the register to the argument's size: the bits above it are undefined (psABI 3.2.3). */
static __always_inline u8 *argtrace_encode_value(u8 *to, u64 value, unsigned int size)
{
	switch (size) {
	case 8:
		__builtin_memcpy(to, &value, 8);
		break;
	case 4:
		__builtin_memcpy(to, &value, 4);
		break;
	case 2:
		__builtin_memcpy(to, &value, 2);
		break;
	default:
		*to = value;
		break;
	}
	return to + size;
}

static inline void argtrace_copy(u8 *to, const u8 *from, unsigned int size)
{
	unsigned int i;

	/* Not memcpy(): with a variable length that is a call. */
	for (i = 0; i < size; i++)
		to[i] = from[i];
}

/* What is no word: on the stack, in two registers, or of an odd size. */
static inline u8 *argtrace_encode_other(u8 *to, const struct argtrace_step *step,
					  const struct ftrace_regs *regs)
{
	u64 words[2];

	if (step->type == ARGTRACE_TYPE_BYTES) {
		__builtin_memcpy(to, &step->size, sizeof(step->size));
		to += sizeof(step->size);
	}
	if (step->loc == ARGTRACE_LOC_STACK) {
		argtrace_fetch_stack(regs, step->offset, to, step->size);
		return to + step->size;
	}
	words[0] = argtrace_fetch_reg(regs, step->index);
	words[1] = step->loc == ARGTRACE_LOC_REG_PAIR ?
			   argtrace_fetch_reg(regs, step->index + 1) : 0;
	argtrace_copy(to, (const u8 *)words, step->size);
	return to + step->size;
}

static __always_inline u8 *argtrace_encode_step(u8 *to, const struct argtrace_step *step,
						const struct ftrace_regs *regs)
{
	if (__builtin_expect(!step->is_word, 0))
		return argtrace_encode_other(to, step, regs);
	return argtrace_encode_value(to, argtrace_fetch_reg(regs, step->index), step->size);
}

static __always_inline void argtrace_encode_register(u8 *record,
						     const struct argtrace_layout *layout,
						     const struct ftrace_regs *regs,
						     unsigned int index)
{
	u64 value = argtrace_fetch_reg(regs, index);

	__builtin_memcpy(record + layout->at[index], &value, sizeof(value));
}

/* The header comes after this. */
static __always_inline void argtrace_encode_registers(u8 *record,
						      const struct argtrace_layout *layout,
						      const struct ftrace_regs *regs)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = 0; i < 4; i++)
		argtrace_encode_register(record, layout, regs, i);
	if (layout->many_registers) {
#pragma GCC unroll 4
		for (i = 4; i < ARGTRACE_REG_COUNT; i++)
			argtrace_encode_register(record, layout, regs, i);
	}
}

/*
 * The stack part, if that is all that is left and can be read straight; false: see encode_rest(). The
 * header comes after this.
 */
static __always_inline bool argtrace_encode_stack(u8 *record,
						  const struct argtrace_layout *layout,
						  const struct ftrace_regs *regs)
{
	const u8 *stack = argtrace_stack(regs);
	u64 value;

	if (argtrace_stack_place(regs) > layout->stack_limit)
		return false;
	value = argtrace_read_stack(stack + ARGTRACE_FIRST_STACK_WORD);
	__builtin_memcpy(record + layout->at[ARGTRACE_REG_COUNT], &value, sizeof(value));
	if (layout->many_stack) {
		const struct argtrace_stack_word *word = layout->stack, *end = layout->stack_end;

		do {
			value = argtrace_read_stack(stack + word->offset);
			__builtin_memcpy(record + word->at, &value, sizeof(value));
		} while (++word < end);
	}
	return true;
}

/* The stack part and the steps, behind the header. */
static inline void argtrace_encode_rest(u8 *record, const struct argtrace_layout *layout,
					const struct ftrace_regs *regs)
{
	const struct argtrace_stack_word *word = layout->stack;
	const struct argtrace_step *step = layout->steps;
	const u16 first = layout->at[ARGTRACE_REG_COUNT];
	unsigned int i;

	if (first)
		argtrace_fetch_stack(regs, ARGTRACE_FIRST_STACK_WORD, record + first, 8);
	for (; word < layout->stack_end; word++)
		argtrace_fetch_stack(regs, word->offset, record + word->at, 8);
	for (i = 0; i < layout->nr_steps; i++, step++)
		argtrace_encode_step(record + step->at, step, regs);
}

static inline u8 *argtrace_encode_named(u8 *to, const struct argtrace_step *step,
					unsigned int count, const char *strings,
					const struct ftrace_regs *regs)
{
	for (; count; count--, step++) {
		argtrace_copy(to, (const u8 *)strings + step->name, step->name_length);
		to += step->name_length;
		*to++ = step->type;
		to = argtrace_encode_step(to, step, regs);
	}
	*to++ = '\0';
	*to++ = ARGTRACE_TYPE_END;
	return to;
}

/*
 * Says where each step's data goes, from `at` on in the record; returns where the
 * last one ends, without padding.
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

/* Written with the registers, if nothing speaks against it. */
static inline bool argtrace_in_registers(const struct argtrace_step *step)
{
	return step->is_word || (step->loc == ARGTRACE_LOC_REG_PAIR && step->size == 16 &&
				 step->type != ARGTRACE_TYPE_BYTES);
}

/* Whether the 8 bytes that a step would write in its part spoil nothing written before. */
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

static inline void argtrace_plan_named(struct argtrace_layout *layout,
				       const struct argtrace_step *steps, unsigned int count)
{
	layout->steps = steps;
	layout->nr_steps = count;
	layout->has_rest = true;
	layout->stack_limit = -1;
}

/* As the next word of the stack part; `end` is where the list of words behind the first ends. */
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
 * Divides the steps of a compact record among the three parts. `steps` keeps the last part;
 * `stack` has room for all of them.
 */
static inline void argtrace_plan_layout(struct argtrace_layout *layout,
					struct argtrace_step *steps, unsigned int count,
					struct argtrace_stack_word *stack, u32 record_size)
{
	const struct argtrace_step *step, *end = steps + count;
	unsigned int i;

	layout->steps = steps;
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
			steps[layout->nr_steps++] = *step;
		}
	}
	layout->stack_end = stack;
	for (i = 4; i < ARGTRACE_REG_COUNT; i++)
		layout->many_registers |= !!layout->at[i];
	layout->has_rest = layout->at[ARGTRACE_REG_COUNT] || layout->many_stack || layout->nr_steps;
	if (layout->nr_steps)
		layout->stack_limit = -1;
}

#endif
