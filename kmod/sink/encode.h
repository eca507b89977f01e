/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes arguments to a record, as sink/layout.h has planned it. Uses no kernel state: this file is
 * also compiled into the user-side tests, along with the decoder that must read what it writes. In
 * the kernel, read/operands.h provides
 *
 *   u64 argtrace_regs_argument(const struct argtrace_regs *regs, unsigned int index)
 *   unsigned int argtrace_fetch_stack(const struct argtrace_regs *regs, unsigned int offset,
 *                                     u8 *to, unsigned int size)
 *             returns how many bytes could be read
 *   const u8 *argtrace_stack(const struct argtrace_regs *regs)
 *             the stack at entry
 *   s32 argtrace_stack_place(const struct argtrace_regs *regs)
 *             its offset in a page of ARGTRACE_STACK_PAGE bytes, the rest of which is sure to be
 *             mapped
 *   u64 argtrace_read_stack(const u8 *at)
 *             a word of that page, whatever object it is part of
 *
 * All sizes were determined when the probe was added. The only thing that can fail here is a read
 * of memory that a descriptor points to and that is not mapped. An honest descriptor points to what
 * the caller has just written.
 */
#ifndef ARGTRACE_ENCODE_H
#define ARGTRACE_ENCODE_H

#include "layout.h"

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

/* The same in words, without writing a byte too many. */
static inline void argtrace_copy_words(u8 *to, const u8 *from, unsigned int size)
{
	u64 word;

	for (; size >= sizeof(word);
	     to += sizeof(word), from += sizeof(word), size -= sizeof(word)) {
		__builtin_memcpy(&word, from, sizeof(word));
		__builtin_memcpy(to, &word, sizeof(word));
	}
	argtrace_copy(to, from, size);
}

/* How many words of the stack arguments may be in. */
#define ARGTRACE_STACK_WORDS	(ARGTRACE_STACK_MAX / 8)

/* *readable is how many words above the stack pointer could be read, as far as is known. */
static inline void argtrace_encode_from_stack(u8 *to, unsigned int offset, unsigned int size,
					      const struct argtrace_regs *regs,
					      unsigned int *readable)
{
	const unsigned int got = argtrace_fetch_stack(regs, offset, to, size);

	if (got < size && *readable > (offset + got) / 8)
		*readable = (offset + got) / 8;
}

/*
 * An argument that is not a word in a register: on the stack, in two registers, or of an odd size.
 */
static inline u8 *argtrace_encode_other(u8 *to, const struct argtrace_step *step,
					const struct argtrace_regs *regs, unsigned int *readable)
{
	u64 words[2];

	if (step->type == ARGTRACE_TYPE_BYTES) {
		__builtin_memcpy(to, &step->size, sizeof(step->size));
		to += sizeof(step->size);
	}
	if (step->loc == ARGTRACE_LOC_STACK) {
		argtrace_encode_from_stack(to, step->offset, step->size, regs, readable);
		return to + step->size;
	}
	words[0] = argtrace_regs_argument(regs, step->index);
	words[1] = step->loc == ARGTRACE_LOC_REG_PAIR ?
			   argtrace_regs_argument(regs, step->index + 1) : 0;
	argtrace_copy(to, (const u8 *)words, step->size);
	return to + step->size;
}

static __always_inline u8 *argtrace_encode_step(u8 *to, const struct argtrace_step *step,
						const struct argtrace_regs *regs,
						unsigned int *readable)
{
	if (__builtin_expect(!step->is_word, 0))
		return argtrace_encode_other(to, step, regs, readable);
	return argtrace_encode_value(to, argtrace_regs_argument(regs, step->index), step->size);
}

static __always_inline void argtrace_encode_register(u8 *record,
						     const struct argtrace_layout *layout,
						     const struct argtrace_regs *regs,
						     unsigned int index)
{
	u64 value = argtrace_regs_argument(regs, index);

	__builtin_memcpy(record + layout->at[index], &value, sizeof(value));
}

/*
 * The first four. The header is written after this. `few` is a constant: the source knows that only
 * the second to fourth register are wanted.
 */
static __always_inline void argtrace_encode_some_registers(u8 *record,
							   const struct argtrace_layout *layout,
							   const struct argtrace_regs *regs,
							   const bool few)
{
	unsigned int i;

#pragma GCC unroll 4
	for (i = few; i < 4; i++)
		argtrace_encode_register(record, layout, regs, i);
}

/* The registers after the fourth, if any of them is wanted. */
static __always_inline void argtrace_encode_many_registers(u8 *record,
							   const struct argtrace_layout *layout,
							   const struct argtrace_regs *regs)
{
	unsigned int i;

	if (!layout->many_registers)
		return;
#pragma GCC unroll 4
	for (i = 4; i < ARGTRACE_REG_COUNT; i++)
		argtrace_encode_register(record, layout, regs, i);
}

static __always_inline void argtrace_encode_registers(u8 *record,
						      const struct argtrace_layout *layout,
						      const struct argtrace_regs *regs)
{
	argtrace_encode_some_registers(record, layout, regs, false);
	argtrace_encode_many_registers(record, layout, regs);
}

/*
 * Clears what stores of 8 bytes have left behind the last field, as the upper half of a register is
 * what the caller last had there. To be called when all of the record that may be written so has
 * been written, with or without the header.
 */
static __always_inline void argtrace_encode_end(u8 *record, const struct argtrace_layout *layout)
{
	u64 last;

	__builtin_memcpy(&last, record + layout->last_at, sizeof(last));
	last &= layout->last_mask;
	__builtin_memcpy(record + layout->last_at, &last, sizeof(last));
}

/*
 * Writes the stack part, if nothing else is left and it is within the page of the stack pointer;
 * otherwise returns false, and argtrace_encode_rest() has to write it. The header is written after
 * this.
 */
static __always_inline bool argtrace_encode_stack(u8 *record,
						  const struct argtrace_layout *layout,
						  const struct argtrace_regs *regs)
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

/*
 * In place of argtrace_encode_rest(), if layout->rest_is_words: narrow arguments at the end of a
 * record, where 8 bytes do not fit.
 */
static __always_inline void argtrace_encode_words(u8 *record, const struct argtrace_layout *layout,
						  const struct argtrace_regs *regs)
{
	const struct argtrace_step *step = layout->steps, *end = layout->steps_end;

	do {
		const u64 value = argtrace_regs_argument(regs, step->index);

		/* Most are flags. */
		if (__builtin_expect(step->size == 1, 1))
			record[step->at] = value;
		else
			argtrace_encode_value(record + step->at, value, step->size);
	} while (++step < end);
}

/*
 * Writes the stack part and the steps of a record whose header has been written. Returns how many
 * words of the stack could be read, ARGTRACE_STACK_WORDS if none is missing.
 */
static inline unsigned int argtrace_encode_rest(u8 *record, const struct argtrace_layout *layout,
						const struct argtrace_regs *regs)
{
	const struct argtrace_stack_word *word = layout->stack;
	const struct argtrace_step *step = layout->steps;
	const u16 first = layout->at[ARGTRACE_REG_COUNT];
	unsigned int readable = ARGTRACE_STACK_WORDS;

	if (first)
		argtrace_encode_from_stack(record + first, ARGTRACE_FIRST_STACK_WORD, 8, regs,
					   &readable);
	for (; word < layout->stack_end; word++)
		argtrace_encode_from_stack(record + word->at, word->offset, 8, regs, &readable);
	for (; step < layout->steps_end; step++)
		argtrace_encode_step(record + step->at, step, regs, &readable);
	return readable;
}

/*
 * Writes all arguments in the named encoding; returns their end. *readable is less if words of the
 * stack are missing.
 */
static inline u8 *argtrace_encode_named(u8 *to, const struct argtrace_step *step,
					unsigned int count, const char *strings,
					const struct argtrace_regs *regs, unsigned int *readable)
{
	for (; count; count--, step++) {
		argtrace_copy(to, (const u8 *)strings + step->name, step->name_length);
		to += step->name_length;
		*to++ = step->type;
		to = argtrace_encode_step(to, step, regs, readable);
	}
	*to++ = '\0';
	*to++ = ARGTRACE_TYPE_END;
	return to;
}

#endif
