/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of argtrace_test.ko and what they are called with. The module calls
 * them, the test computes the same values and compares: nothing here knows argtrace.
 *
 * Fn(name, type, kind, parameter, ...) is at_<name> with n parameters, the last of which it
 * returns. Kinds: U unsigned, S signed, B bool, P pointer, C plain char. Parameter k of call number c is given
 * at_value(c, k) in a whole register, of which its type has the lower part.
 * AT_AWKWARD has those for which it is not that simple.
 */
#ifndef ARGTRACE_TEST_CALLS_H
#define ARGTRACE_TEST_CALLS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define AT_CALLS(F0, F1, F2, F3, F4, F5, F6) \
	F0(none) \
	F1(u8, u8, U, a) \
	F1(s8, s8, S, a) \
	F1(u16, u16, U, a) \
	F1(s16, s16, S, a) \
	F1(u32, u32, U, a) \
	F1(s32, s32, S, a) \
	F1(u64, u64, U, a) \
	F1(s64, s64, S, a) \
	F1(bool, bool, B, on) \
	F1(char, char, C, letter) \
	F1(pointer, void *, P, p) \
	F1(string, const char *, P, s) \
	F1(function, at_handler_t, P, handler) \
	F1(enum, enum at_color, U, color) \
	F1(signed_enum, enum at_level, S, level) \
	F1(wide_enum, enum at_wide, U, wide) \
	F1(typedef, at_handle_t, U, handle) \
	F2(two, u8, U, a, s64, S, b) \
	F3(three, bool, B, a, char, C, b, u16, U, c) \
	F4(four, struct at_object *, P, object, const void *, P, buf, size_t, U, count, loff_t *, P, pos) \
	F5(five, s8, S, a, s16, S, b, s32, S, c, s64, S, d, enum at_level, S, e) \
	F6(six, u8, U, a, s16, S, b, u32, U, c, s64, S, d, bool, B, e, void *, P, f)

/* splitmix64: every bit of the register is used, so that truncation at the wrong place shows. */
static inline uint64_t at_value(uint64_t call, uint64_t parameter)
{
	uint64_t x = (call * 8 + parameter + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* A bool is 0 or 1 in its byte (psABI 3.1.2); the bits above are undefined, as for other types. */
static inline uint64_t at_bool_value(uint64_t call, uint64_t parameter)
{
	return at_value(call, parameter) & ~0xfeull;
}

/*
 * Functions whose arguments are not in one register each. They are called as if
 * they took twelve words, six in registers and six on the stack: word w of call c is
 * at_value(c, w). By the calling convention (psABI 3.2.3) those words are what the
 * parameters in the comments say.
 */
#define AT_AWKWARD(A) \
	A(eight,	(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u8 g, s32 h)) \
	/* g and h: words 6 and 7 */ \
	A(twelve,	(s8 a, s8 b, s8 c, s8 d, s8 e, s8 f, u16 g, bool h, s64 i, char j, void *k, enum at_level l)) \
	/* g to l: words 6 to 11 */ \
	A(small,	(struct at_small s, u16 after)) \
	/* s: word 0; after: word 1 */ \
	A(pair,		(u8 before, struct at_pair p, u16 after)) \
	/* before: word 0; p: words 1 and 2; after: word 3 */ \
	A(squeezed,	(u64 a, u64 b, u64 c, u64 d, u64 e, struct at_pair p, u32 after)) \
	/* p fits no more: words 6 and 7; after takes the register that is left: word 5 */ \
	A(large,	(u8 before, struct at_large l, u16 after)) \
	/* before: word 0; l: words 6 to 8; after: word 1 */ \
	A(huge_int,	(u8 before, at_s128_t i, u16 after)) \
	/* before: word 0; i: words 1 and 2; after: word 3 */ \
	A(variadic,	(const char *format, u32 count, ...)) \
	/* format: word 0; count: word 1 */

/* Calls made in interrupts are numbered from here. */
#define AT_INTERRUPT_BASE	1000000000ull

#endif
