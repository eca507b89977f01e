/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls, and the bytes that stand for their arguments in a record: what both sides agree on.
 * The module's encoder must write these bytes (tests/kunit/encode_test.c, in the kernel;
 * tests/user/kmod/golden_test.cpp, the same code in user space), the tool's decoder must read
 * this text out of them (golden_test.cpp). They are written by hand, after
 * include/uapi/argtrace.h alone. C and C++ include this; who does has included <uapi/argtrace.h>.
 */
#ifndef ARGTRACE_GOLDEN_RECORDS_H
#define ARGTRACE_GOLDEN_RECORDS_H

#define GOLDEN_MAX_ARGS		6
#define GOLDEN_MAX_BYTES	128
#define GOLDEN_STACK_BYTES	64

/* The registers and the stack of each call. */
static const unsigned long long golden_registers[6] = {
	0x0807060504030281ull, /* rdi */
	0x100f0e0d0c0b0a09ull, /* rsi */
	0xffffffffffffffffull, /* rdx */
	0x8000000080008000ull, /* rcx */
	0xffff888012345678ull, /* r8 */
	0x0000000000000001ull, /* r9 */
};

/* From the stack pointer on; the first word is the return address. */
static const unsigned char golden_stack[GOLDEN_STACK_BYTES] = {
	0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f,
	0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
	0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
	0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
};

struct golden_arg {
	const char *name;
	unsigned char loc, index, type;
	unsigned short size, offset;
	const char *text;	/* the value as the tool prints it */
};

struct golden_record {
	const char *name;
	unsigned int nr_args;
	struct golden_arg args[GOLDEN_MAX_ARGS];
	/* The arguments in the record, without what stands before them and without padding. */
	unsigned int compact_size;
	unsigned char compact[GOLDEN_MAX_BYTES];
	unsigned int named_size;
	unsigned char named[GOLDEN_MAX_BYTES];
	unsigned int stack_words;	/* that can be read; 0: all. The id is then ARGTRACE_ID_UNREADABLE + the probe's */
};

#define GOLDEN_REG(name, index, type, size, text) \
	{ name, ARGTRACE_LOC_REG, index, ARGTRACE_TYPE_##type, size, 0, text }
#define GOLDEN_PAIR(name, index, type, size, text) \
	{ name, ARGTRACE_LOC_REG_PAIR, index, ARGTRACE_TYPE_##type, size, 0, text }
#define GOLDEN_STACK(name, offset, type, size, text) \
	{ name, ARGTRACE_LOC_STACK, 0, ARGTRACE_TYPE_##type, size, offset, text }
#define GOLDEN_NONE(name) \
	{ name, ARGTRACE_LOC_NONE, 0, ARGTRACE_TYPE_END, 0, 0, "?" }

static const struct golden_record golden_records[] = {
	{
		"no arguments", 0, { GOLDEN_NONE("") },
		0, { 0 },
		2, { 0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"unsigned", 4,
		{
			GOLDEN_REG("a", 0, U8, 1, "129"),
			GOLDEN_REG("b", 1, U16, 2, "2569"),
			GOLDEN_REG("c", 2, U32, 4, "4294967295"),
			GOLDEN_REG("d", 3, U64, 8, "9223372039002292224"),
		},
		15, { 0x81, 0x09, 0x0a, 0xff, 0xff, 0xff, 0xff,
		      0x00, 0x80, 0x00, 0x80, 0x00, 0x00, 0x00, 0x80 },
		29, { 'a', 0, ARGTRACE_TYPE_U8, 0x81,
		      'b', 0, ARGTRACE_TYPE_U16, 0x09, 0x0a,
		      'c', 0, ARGTRACE_TYPE_U32, 0xff, 0xff, 0xff, 0xff,
		      'd', 0, ARGTRACE_TYPE_U64, 0x00, 0x80, 0x00, 0x80, 0x00, 0x00, 0x00, 0x80,
		      0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"signed", 4,
		{
			GOLDEN_REG("a", 0, S8, 1, "-127"),
			GOLDEN_REG("b", 3, S16, 2, "-32768"),
			GOLDEN_REG("c", 3, S32, 4, "-2147450880"),
			GOLDEN_REG("d", 2, S64, 8, "-1"),
		},
		15, { 0x81, 0x00, 0x80, 0x00, 0x80, 0x00, 0x80,
		      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		29, { 'a', 0, ARGTRACE_TYPE_S8, 0x81,
		      'b', 0, ARGTRACE_TYPE_S16, 0x00, 0x80,
		      'c', 0, ARGTRACE_TYPE_S32, 0x00, 0x80, 0x00, 0x80,
		      'd', 0, ARGTRACE_TYPE_S64, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		      0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"bool, characters, pointer, and one that is not captured", 5,
		{
			GOLDEN_REG("on", 5, BOOL, 1, "true"),
			GOLDEN_REG("s", 0, CHAR, 1, "'\\x81'"),
			GOLDEN_NONE("hidden"),
			GOLDEN_REG("u", 0, UCHAR, 1, "'\\x81'"),
			GOLDEN_REG("p", 4, PTR, 8, "0xffff888012345678"),
		},
		11, { 0x01, 0x81, 0x81, 0x78, 0x56, 0x34, 0x12, 0x80, 0x88, 0xff, 0xff },
		26, { 'o', 'n', 0, ARGTRACE_TYPE_BOOL, 0x01,
		      's', 0, ARGTRACE_TYPE_CHAR, 0x81,
		      'u', 0, ARGTRACE_TYPE_UCHAR, 0x81,
		      'p', 0, ARGTRACE_TYPE_PTR, 0x78, 0x56, 0x34, 0x12, 0x80, 0x88, 0xff, 0xff,
		      0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"two registers", 2,
		{
			GOLDEN_PAIR("wide", 0, U128, 16, "21345817372864405881847059188222722689"),
			GOLDEN_PAIR("s", 1, BYTES, 11, "{09 0a 0b 0c 0d 0e 0f 10 ff ff ff}"),
		},
		29, { 0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		      0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,
		      11, 0, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0xff, 0xff, 0xff },
		40, { 'w', 'i', 'd', 'e', 0, ARGTRACE_TYPE_U128,
		      0x81, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		      0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10,
		      's', 0, ARGTRACE_TYPE_BYTES,
		      11, 0, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0xff, 0xff, 0xff,
		      0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"structs in one register, on the stack", 4,
		{
			GOLDEN_REG("r", 0, BYTES, 3, "{81 02 03}"),
			GOLDEN_STACK("w", 8, S16, 2, "-30328"),
			GOLDEN_STACK("b", 16, BYTES, 17, "{10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f a0}"),
			GOLDEN_STACK("q", 56, U64, 8, "13816689325120338360"),
		},
		34, { 3, 0, 0x81, 0x02, 0x03,
		      0x88, 0x89,
		      17, 0, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		      0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0xa0,
		      0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf },
		48, { 'r', 0, ARGTRACE_TYPE_BYTES, 3, 0, 0x81, 0x02, 0x03,
		      'w', 0, ARGTRACE_TYPE_S16, 0x88, 0x89,
		      'b', 0, ARGTRACE_TYPE_BYTES,
		      17, 0, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		      0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0xa0,
		      'q', 0, ARGTRACE_TYPE_U64, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf,
		      0, ARGTRACE_TYPE_END },
		0,
	},
	{
		"a stack that ends within an argument", 4,
		{
			GOLDEN_STACK("q", 56, U64, 8, "?"),
			GOLDEN_STACK("w", 24, U64, 8, "2242261671028070680"),
			GOLDEN_STACK("b", 16, BYTES, 17, "?"),
			GOLDEN_REG("r", 0, U8, 1, "129"),
		},
		36, { 4, 0, 0, 0, 0, 0, 0, 0,
		      0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
		      17, 0, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		      0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x00,
		      0x81 },
		50, { 'q', 0, ARGTRACE_TYPE_U64, 4, 0, 0, 0, 0, 0, 0, 0,
		      'w', 0, ARGTRACE_TYPE_U64, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f,
		      'b', 0, ARGTRACE_TYPE_BYTES,
		      17, 0, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17,
		      0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x00,
		      'r', 0, ARGTRACE_TYPE_U8, 0x81,
		      0, ARGTRACE_TYPE_END },
		4,
	},
	{
		"a struct on the stack that cannot be read", 2,
		{
			GOLDEN_STACK("w", 8, S16, 2, "-30328"),
			GOLDEN_STACK("b", 16, BYTES, 4, "?"),
		},
		8, { 0x88, 0x89, 4, 0, 2, 0, 0, 0 },
		16, { 'w', 0, ARGTRACE_TYPE_S16, 0x88, 0x89,
		      'b', 0, ARGTRACE_TYPE_BYTES, 4, 0, 2, 0, 0, 0,
		      0, ARGTRACE_TYPE_END },
		2,
	},
};

#define GOLDEN_RECORDS (sizeof(golden_records) / sizeof(golden_records[0]))

#endif
