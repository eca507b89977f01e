/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments -> the bytes of a record. No kernel state: this file is compiled into
 * the user-side tests too, beside the decoder that must read what it writes. The
 * includer provides the fixed-width types and
 *
 *   u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index)
 *   void argtrace_fetch_stack(const struct ftrace_regs *regs, unsigned int offset,
 *                             u8 *to, unsigned int size)
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
	u8 name_length;		/* with its NUL */
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
static noinline u8 *argtrace_encode_other(u8 *to, const struct argtrace_step *step,
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

/* Returns the end of the data. */
static __always_inline u8 *argtrace_encode_compact(u8 *to, const struct argtrace_step *step,
						   unsigned int count,
						   const struct ftrace_regs *regs)
{
	for (; count; count--, step++)
		to = argtrace_encode_step(to, step, regs);
	return to;
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

/* Bytes that the arguments take, without padding. */
static inline u32 argtrace_encoded_size(const struct argtrace_step *step, unsigned int count,
					bool named)
{
	u32 size = named ? 2 : 0;

	for (; count; count--, step++) {
		size += step->size + (named ? step->name_length + 1 : 0);
		if (step->type == ARGTRACE_TYPE_BYTES)
			size += sizeof(step->size);
	}
	return size;
}

#endif
