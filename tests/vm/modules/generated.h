/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between generated.c, which tests/vm/generator writes, and generated_main.c. No kernel
 * headers here: the generated types have names of their own.
 */
#ifndef ARGTRACE_GENERATED_H
#define ARGTRACE_GENERATED_H

/* Values of the parameters and, behind them, of what is returned, in memory that is zero before each call. */
#define ATG_VALUES	13
#define ATG_VALUE_SIZE	4096
extern unsigned char atg_values[ATG_VALUES][ATG_VALUE_SIZE];

unsigned long atg_random(void);
void atg_fill(void *to, unsigned long size);
void atg_fill_bool(void *to);
void atg_fill_text(void *to, unsigned long size);
/* Sometimes one of the errors that have a name: -40 to -1. */
void atg_fill_error(void *to, unsigned long size);

/* These write down, as JSON, what is passed, and what is returned. */
void atg_print(const char *format, ...);
void atg_show_integer(long long value, int is_signed);
void atg_show_bool(const unsigned char *value);
void atg_show_pointer(unsigned long value);
/* A string, "s" or "u" before 32 hexadecimal digits. */
void atg_show_128(const unsigned long *value, int is_signed);
void atg_show_text(const char *text, unsigned long size);
/* A string, "errno" before its number; 0 where it is none of atg_fill_error()'s. */
int atg_show_error(long value);

/* With the sign that C gives it. */
#define SHOW_INTEGER(value) \
	atg_show_integer((long long)(value), (__typeof__((value) + 0))-1 < (__typeof__((value) + 0))1)

/* Each fills the values, writes them down, and calls one function, which is called atg_fN and returns the last of them. */
extern void (*const atg_calls[])(void);
extern const unsigned long atg_nr_calls;
extern const unsigned long atg_seed;

#endif
