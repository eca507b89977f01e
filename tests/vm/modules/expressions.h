/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between expressions_main.c, addresses.c, shapes.c, and random_expressions.c, which tests/vm/generator writes.
 */
#ifndef ARGTRACE_EXPRESSIONS_H
#define ARGTRACE_EXPRESSIONS_H

#include "shapes.h"

/* A function that is traced, and expressions of its parameters. */
struct ax_function {
	const char *name;
	const char *const *expressions;
	unsigned int nr_expressions;
	/* Gives the parameters random values, passes those of the expressions to ax_show(), and calls the function. */
	void (*call)(u64 number);
};

extern const struct ax_function ax_shape_functions[], ax_random_functions[];
extern const unsigned int ax_nr_shape_functions, ax_nr_random_functions;
extern const unsigned long ax_seed;

/* Both are filled anew before each call, and the pointers of each lead to the other. */
struct ax_shapes *ax_object(void);
struct ax_shapes *ax_other(void);

u64 ax_random(void);
u64 ax_random_bool(void);	/* the lowest byte of the register is 0 or 1 */

struct dentry;
int ax_addresses_init(struct dentry *directory);
void ax_addresses_exit(void);

enum ax_kind { AX_SIGNED, AX_UNSIGNED, AX_POINTER, AX_FUNCTION };

void ax_show(u64 value, enum ax_kind kind);

/* The value as C has it, and its type as far as it tells how the value is written. */
#define AX_SHOW(x) ax_show((u64)(x), AX_KIND(x))
#define AX_KIND(x) \
	(__builtin_types_compatible_p(__typeof__((x) + 0), ax_callback_t) ? AX_FUNCTION : \
	 __builtin_classify_type(x) == 5 ? AX_POINTER : \
	 (__typeof__((x) + 0))-1 < (__typeof__((x) + 0))1 ? AX_SIGNED : AX_UNSIGNED)

/* Functions are called as if all parameters were words, so that registers are filled whatever the type. */
typedef void (*ax_words_t)(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

#define AX_TRACED(name, ...) \
	__attribute__((__noipa__)) void name(__VA_ARGS__); \
	__attribute__((__noipa__)) void name(__VA_ARGS__) { __asm__ volatile(""); }

#endif
