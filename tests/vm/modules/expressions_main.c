// SPDX-License-Identifier: GPL-2.0-only
/*
 * argtrace_expressions.ko: functions, and expressions of their parameters that the compiler has
 * computed: those of shapes.c, written by hand, and those of random_expressions.c. In debugfs:
 *
 *   argtrace_expressions/functions  read: a line of JSON for each function, with its expressions
 *   argtrace_expressions/run        write N: calls each of them N times, in order
 *   argtrace_expressions/expected   read: a line of JSON for each call of the last run, with the
 *                                   values of the expressions
 *   argtrace_expressions/address    write an address: calls each ax_addressN() with it
 *   argtrace_expressions/freed      write anything: the same with memory that has been freed
 *   argtrace_expressions/pages      write anything: calls ax_page() with pages, their folios and their numbers, and with none
 *   argtrace_expressions/text       write a text: the same with it, at the end of a page of the kernel
 *   argtrace_expressions/addresses  read: an object with addresses to try: a page of letters before one that is not
 *                                   there, poison, beyond all memory, and an object
 *   argtrace_expressions/seed       read: what random_expressions.c was generated from
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/prandom.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>

#include "expressions.h"

#define TEXT_SIZE	(16 << 20)
#define NR_FLEXIBLE	8

static DEFINE_MUTEX(lock);
static char *text;
static size_t used;
static unsigned int nr_shown;
static struct rnd_state random_state;

static union {
	struct ax_shapes shapes;
	u8 bytes[sizeof(struct ax_shapes) + NR_FLEXIBLE * sizeof(int)];
} object, other;
static struct ax_shapes *to_object = &object.shapes, *to_other = &other.shapes;
static struct ax_shapes **to_to_object = &to_object, **to_to_other = &to_other;
static int ints[8] = { 11, -22, 33, -44, 55, -66, 77, -88 };
static char letters[] = "letters";
static const char *strings[] = { "one", "two" };
static ax_row_t some_rows[2] = { { 1, -2, 3 }, { -4, 5, -6 } };
static DEFINE_PER_CPU(int, one_per_cpu);

struct ax_shapes *ax_object(void)
{
	return to_object;
}

struct ax_shapes *ax_other(void)
{
	return to_other;
}

u64 ax_random(void)
{
	return (u64)prandom_u32_state(&random_state) << 32 | prandom_u32_state(&random_state);
}

u64 ax_random_bool(void)
{
	return ax_random() & ~0xfeull;
}

static int called(int i)
{
	return i;
}

static const s64 edge_values[] = {
	0, 1, -1, 2, 127, 128, 255, 32767, 32768, 65535, S32_MAX, 1ll << 31, U32_MAX, 1ll << 32, S64_MAX, S64_MIN,
	S32_MIN, -128,
};

/* Half of the words are random, the others such as overflow in one type or another. */
static void fill_bytes(void *to, size_t size)
{
	size_t at;

	for (at = 0; at < size; at += sizeof(u64)) {
		u64 value = ax_random();

		if (value & 1)
			value = edge_values[(value >> 1) % ARRAY_SIZE(edge_values)];
		memcpy(to + at, &value, min(size - at, sizeof(value)));
	}
}

static void fill(struct ax_shapes *one, size_t size, struct ax_shapes *another)
{
	u64 choice = ax_random();

	fill_bytes(one, size);
	one->bool_ = choice & 1;
	one->fields.h = choice >> 1 & 1;
	one->many[0].h = choice >> 2 & 1;
	one->many[1].h = choice >> 3 & 1;
	if (choice & 16) {
		one->color = AX_BLUE;
		one->hue = AX_DARK;
		one->tiny = AX_LARGE;
		one->tiny_signed = AX_BELOW;
		one->wide = AX_WIDE;
		one->wide_signed = AX_WIDE_BELOW;
	}
	one->function = called;
	one->callback = called;
	one->self = another;
	one->handle = (const struct ax_shapes *const volatile *)(another == to_object ? &to_object : &to_other);
	one->far = another == to_object ? &to_to_object : &to_to_other;
	one->pint = ints + 3;
	one->pchar = letters + 1;
	one->pvoid = ints;
	one->parray = (int (*)[4])ints;
	one->list.next = one->list.prev = &another->list;
	one->names = strings;
	one->prows = some_rows;
	one->address = (u64)(ints + 2);
	one->percpu = &one_per_cpu;
	one->nr_flexible = NR_FLEXIBLE;
}

static void print(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += vscnprintf(text + used, TEXT_SIZE - used, format, args);
	va_end(args);
}

void ax_show(u64 value, enum ax_kind kind)
{
	print(nr_shown++ ? "," : "");
	switch (kind) {
	case AX_SIGNED:
		print("%lld", value);
		break;
	case AX_UNSIGNED:
		print("%llu", value);
		break;
	case AX_POINTER:
		print("\"0x%llx\"", value);
		break;
	case AX_FUNCTION:
		print("\"%ps\"", (void *)value);
		break;
	}
}

static void call(const struct ax_function *function, u64 number)
{
	fill(to_object, sizeof(object), to_other);
	fill(to_other, sizeof(other), to_object);
	nr_shown = 0;
	print("{\"func\":\"%s\",\"call\":%llu,\"values\":[", function->name, number);
	function->call(number);
	print("]}\n");
}

static int run_set(void *data, u64 count)
{
	int error = 0;
	u64 number;
	unsigned int i;

	mutex_lock(&lock);
	used = 0;
	for (number = 0; number < count; number++) {
		for (i = 0; i < ax_nr_shape_functions; i++)
			call(&ax_shape_functions[i], number);
		for (i = 0; i < ax_nr_random_functions; i++)
			call(&ax_random_functions[i], number);
	}
	if (used >= TEXT_SIZE - 1)
		error = -ENOSPC;
	mutex_unlock(&lock);
	return error;
}
DEFINE_DEBUGFS_ATTRIBUTE(run_fops, NULL, run_set, "%llu\n");

static int seed_get(void *data, u64 *seed)
{
	*seed = ax_seed;
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

static void show_functions(struct seq_file *file, const struct ax_function *functions, unsigned int count)
{
	unsigned int i, k;

	for (i = 0; i < count; i++) {
		seq_printf(file, "{\"func\":\"%s\",\"values\":[", functions[i].name);
		for (k = 0; k < functions[i].nr_expressions; k++)
			seq_printf(file, "%s\"%s\"", k ? "," : "", functions[i].expressions[k]);
		seq_puts(file, "]}\n");
	}
}

static int functions_show(struct seq_file *file, void *data)
{
	show_functions(file, ax_shape_functions, ax_nr_shape_functions);
	show_functions(file, ax_random_functions, ax_nr_random_functions);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(functions);

static struct dentry *directory;

static int __init ax_init(void)
{
	int error;

	text = vmalloc(TEXT_SIZE);
	if (!text)
		return -ENOMEM;
	prandom_seed_state(&random_state, ax_seed);
	directory = debugfs_create_dir("argtrace_expressions", NULL);
	error = ax_addresses_init(directory);
	if (error) {
		debugfs_remove_recursive(directory);
		vfree(text);
		return error;
	}
	debugfs_create_file("functions", 0400, directory, NULL, &functions_fops);
	debugfs_create_file_unsafe("run", 0200, directory, NULL, &run_fops);
	debugfs_create_file_unsafe("seed", 0400, directory, NULL, &seed_fops);
	debugfs_create_file("expected", 0400, directory, NULL, &expected_fops);
	return 0;
}

static void __exit ax_exit(void)
{
	debugfs_remove_recursive(directory);
	ax_addresses_exit();
	vfree(text);
}

module_init(ax_init);
module_exit(ax_exit);

MODULE_DESCRIPTION("Expressions with known values, for the tests of argtrace");
MODULE_LICENSE("GPL");
