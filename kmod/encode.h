/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments -> the bytes of a record. No kernel state: this file is compiled into
 * the user-side tests too, beside the decoder that must read what it writes. The
 * includer provides the fixed-width types and
 *
 *   u64 argtrace_fetch_reg(const struct ftrace_regs *regs, unsigned int index)
 *
 * Every size has been settled when the probe was added: nothing here can fail.
 */
#ifndef ARGTRACE_ENCODE_H
#define ARGTRACE_ENCODE_H

/* One argument, as the callback executes it. */
struct argtrace_step {
	u8 index;		/* argument register */
	u8 size;		/* bytes of data: 1, 2, 4 or 8 */
	u8 type;		/* enum argtrace_type */
	u8 name_length;		/* of the name with its NUL; named encoding */
	u32 name;		/* its offset in the probe's string table */
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

/* Returns the end of the data. */
static __always_inline u8 *argtrace_encode_compact(u8 *to, const struct argtrace_step *step,
						   unsigned int count,
						   const struct ftrace_regs *regs)
{
	for (; count; count--, step++)
		to = argtrace_encode_value(to, argtrace_fetch_reg(regs, step->index), step->size);
	return to;
}

static inline u8 *argtrace_encode_named(u8 *to, const struct argtrace_step *step,
					unsigned int count, const char *strings,
					const struct ftrace_regs *regs)
{
	for (; count; count--, step++) {
		const char *name = strings + step->name;
		unsigned int i;

		/* Not memcpy(): with a variable length that is a call. */
		for (i = 0; i < step->name_length; i++)
			to[i] = name[i];
		to += step->name_length;
		*to++ = step->type;
		to = argtrace_encode_value(to, argtrace_fetch_reg(regs, step->index), step->size);
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

	for (; count; count--, step++)
		size += step->size + (named ? step->name_length + 1 : 0);
	return size;
}

#endif
