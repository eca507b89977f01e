// SPDX-License-Identifier: GPL-2.0-only
/*
 * argtrace_generated.ko: functions of generated prototypes (generated.c) that are called
 * with random values. In debugfs:
 *
 *   argtrace_generated/run       write N: calls each of them N times, in order, and writes
 *                                down what it passes, and what it is given back
 *   argtrace_generated/expected  read: a line of JSON for each call of the last run
 *   argtrace_generated/seed      read: what they were generated from
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/vmalloc.h>

#include "generated.h"

#define TEXT_SIZE	(8 << 20)

unsigned char atg_values[ATG_VALUES][ATG_VALUE_SIZE] __aligned(64);

static DEFINE_MUTEX(lock);
static char *text;
static size_t used;
static struct rnd_state random_state;

unsigned long atg_random(void)
{
	return (unsigned long)prandom_u32_state(&random_state) << 32 | prandom_u32_state(&random_state);
}

void atg_fill(void *to, unsigned long size)
{
	prandom_bytes_state(&random_state, to, size);
}

void atg_fill_bool(void *to)
{
	*(u8 *)to = atg_random() & 1;
}

void atg_fill_text(void *to, unsigned long size)
{
	char *letters = to;

	while (size--)
		*letters++ = 'a' + atg_random() % 26;
}

#define LEAST_ERROR	(-40)

void atg_fill_error(void *to, unsigned long size)
{
	const long error = -1 - (long)(atg_random() % -LEAST_ERROR);

	if (atg_random() % 4 == 0)
		memcpy(to, &error, size);
}

void atg_print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += vscnprintf(text + used, TEXT_SIZE - used, format, args);
	va_end(args);
}

void atg_show_integer(long long value, int is_signed)
{
	atg_print(is_signed ? "%lld" : "%llu", value);
}

void atg_show_bool(const unsigned char *value)
{
	atg_print(*value ? "true" : "false");
}

void atg_show_pointer(unsigned long value)
{
	atg_print("\"0x%lx\"", value);
}

void atg_show_128(const unsigned long *value, int is_signed)
{
	atg_print("\"%c%016lx%016lx\"", is_signed ? 's' : 'u', value[1], value[0]);
}

void atg_show_text(const char *chars, unsigned long size)
{
	atg_print("\"%.*s\"", (int)strnlen(chars, size), chars);
}

int atg_show_error(long value)
{
	const bool error = value < 0 && value >= LEAST_ERROR;

	if (error)
		atg_print("\"errno%ld\"", -value);
	return error;
}

static int run_set(void *data, u64 count)
{
	int error = 0;
	unsigned long i;

	mutex_lock(&lock);
	used = 0;
	while (count--) {
		for (i = 0; i < atg_nr_calls; i++) {
			memset(atg_values, 0, sizeof(atg_values));
			atg_calls[i]();
		}
	}
	if (used >= TEXT_SIZE - 1)
		error = -ENOSPC;
	mutex_unlock(&lock);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(run_fops, NULL, run_set, "%llu\n");

static int seed_get(void *data, u64 *seed)
{
	*seed = atg_seed;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(seed_fops, seed_get, NULL, "%llu\n");

static ssize_t expected_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	ssize_t got;

	mutex_lock(&lock);
	got = simple_read_from_buffer(to, size, pos, text, used);
	mutex_unlock(&lock);
	return got;
}

static const struct file_operations expected_fops = {
	.owner = THIS_MODULE,
	.read = expected_read,
	.llseek = default_llseek,
};

static struct dentry *directory;

static int __init atg_init(void)
{
	text = vmalloc(TEXT_SIZE);
	if (!text)
		return -ENOMEM;
	prandom_seed_state(&random_state, atg_seed);
	directory = debugfs_create_dir("argtrace_generated", NULL);
	debugfs_create_file_unsafe("run", 0200, directory, NULL, &run_fops);
	debugfs_create_file_unsafe("seed", 0400, directory, NULL, &seed_fops);
	debugfs_create_file("expected", 0400, directory, NULL, &expected_fops);
	return 0;
}

static void __exit atg_exit(void)
{
	debugfs_remove_recursive(directory);
	vfree(text);
}

module_init(atg_init);
module_exit(atg_exit);

MODULE_DESCRIPTION("Functions of generated prototypes, for the tests of argtrace");
MODULE_LICENSE("GPL");
