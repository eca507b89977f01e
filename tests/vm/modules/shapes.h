/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of every shape, whose members the expressions of argtrace_expressions.ko name.
 */
#ifndef ARGTRACE_SHAPES_H
#define ARGTRACE_SHAPES_H

#include <asm/byteorder.h>
#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>

enum ax_color { AX_RED, AX_GREEN = 5, AX_BLUE = -1 };
enum ax_hue { AX_PALE = 3, AX_DARK = 0x80000000u };
enum __attribute__((packed)) ax_tiny { AX_TINY = 7, AX_LARGE = 200 };
enum __attribute__((packed)) ax_tiny_signed { AX_BELOW = -7, AX_ABOVE = 7 };
enum __attribute__((packed)) ax_short { AX_SHORT = 0x1234 };
enum ax_wide { AX_WIDE = 0x123456789abcdef0ull };
enum ax_wide_signed { AX_WIDE_BELOW = -0x123456789abcdefll, AX_WIDE_ABOVE = 0x123456789abcdefll };

typedef u32 ax_plain_t;
typedef const ax_plain_t ax_const_t;
typedef volatile ax_const_t ax_chain_t;
typedef s16 ax_row_t[3];
typedef int (*ax_callback_t)(int);

struct ax_fields {
	u32 a : 3, b : 7, c : 22;
	s32 d : 5, e : 27;
	u64 f : 40, g : 24;
	bool h : 1;
	s64 i : 63;
	enum ax_tiny_signed j : 4;
	u8 k : 4, l : 4;
	const volatile u16 m : 9;
};

struct __attribute__((packed)) ax_packed {
	u8 first;
	u32 x : 31;
	u64 y : 50;
	s32 z;
	u16 last;
};

struct ax_empty {};
struct ax_unknown;

struct ax_shapes {
	s8 s8_;
	u8 u8_;
	s16 s16_;
	u16 u16_;
	s32 s32_;
	u32 u32_;
	s64 s64_;
	u64 u64_;
	bool bool_;
	char char_;
	signed char schar_;
	unsigned char uchar_;
	long long longlong_;
	enum ax_color color;
	enum ax_hue hue;
	enum ax_tiny tiny;
	enum ax_tiny_signed tiny_signed;
	enum ax_short short_;
	enum ax_wide wide;
	enum ax_wide_signed wide_signed;
	const volatile int cv;
	ax_chain_t chain;
	__be16 be16_;
	__be32 be32_;
	__be64 be64_;
	__le32 le32_;
	int array[4];
	char text[8];
	u8 bytes[5];
	ax_row_t rows[2];
	int matrix[2][3];
	struct ax_fields fields;
	union {
		int u_int;
		s16 u_short;
		struct {
			u8 low, high;
			union {
				u16 deep;
				s8 deeper[2];
			};
		};
	};
	struct {
		int inner;
		struct {
			long innermost;
		};
		union ax_named {
			u64 whole;
			u16 quarters[4];
		} choice;
	} nested;
	struct ax_fields many[2];
	struct ax_packed packed;
	struct ax_packed packs[3];
	struct ax_empty empty;
	int (*function)(int);
	ax_callback_t callback;
	struct ax_shapes *self;
	const struct ax_shapes *const volatile *handle;	/* a pointer to one that is like self */
	struct ax_shapes ***far;
	int *pint;
	const char *pchar;
	void *pvoid;
	int (*parray)[4];
	struct list_head list;
	const char *const *names;
	ax_row_t *prows;
	u64 address;			/* of an int */
	int __percpu *percpu;
	struct ax_unknown *unknown;
	__int128 huge;
	u32 nr_flexible;
	int flexible[];
};

#endif
