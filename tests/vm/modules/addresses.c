// SPDX-License-Identifier: GPL-2.0-only
/* Functions that are called with any address, as pointers of several types. */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/poison.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "expressions.h"

static u8 *page, *last;	/* the guard page of vmalloc follows each */
static u64 nr_calls;

/* As many as there are conditions to be tried at once. */
#define AX_ADDRESSES(A) A(0) A(1) A(2) A(3) A(4) A(5) A(6) A(7) A(8) A(9) A(10) A(11) A(12) A(13) A(14) A(15)

#define A(which) AX_TRACED(ax_address##which, const char *text, int *number, struct ax_shapes *p, u64 call)
AX_ADDRESSES(A)
#undef A

/* Has the name of a function that never returns, so that its return is not followed. Nobody calls it. */
AX_TRACED(lbug_with_loc, u64 call)

AX_TRACED(ax_page, struct page *page, struct folio *folio, unsigned long pfn)

/* The pages of a folio, one of vmalloc, and none. */
static int pages_set(void *data, u64 ignored)
{
	ax_words_t function = (ax_words_t)(unsigned long)ax_page;
	struct page *pages = alloc_pages(GFP_KERNEL | __GFP_COMP, 2), *one = vmalloc_to_page(page);
	int i;

	if (!pages)
		return -ENOMEM;
	for (i = 0; i < 4; i++)
		function((u64)(pages + i), (u64)page_folio(pages + i), page_to_pfn(pages + i), 0, 0, 0, 0, 0, 0, 0);
	function((u64)one, (u64)page_folio(one), page_to_pfn(one), 0, 0, 0, 0, 0, 0, 0);
	function(0, (u64)ERR_PTR(-ENOENT), 0, 0, 0, 0, 0, 0, 0, 0);
	__free_pages(pages, 2);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(pages_fops, NULL, pages_set, "%llu\n");

static int address_set(void *data, u64 address)
{
	const ax_words_t functions[] = {
#define A(which) (ax_words_t)(unsigned long)ax_address##which,
		AX_ADDRESSES(A)
#undef A
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		functions[i](address, address, address, nr_calls, 0, 0, 0, 0, 0, 0);
	nr_calls++;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(address_fops, NULL, address_set, "%llu\n");

/* Nobody has used it, so that no processor remembers where it was. */
static int freed_set(void *data, u64 ignored)
{
	void *freed = vmalloc(PAGE_SIZE);

	if (!freed)
		return -ENOMEM;
	vfree(freed);
	return address_set(NULL, (u64)freed);
}
DEFINE_DEBUGFS_ATTRIBUTE(freed_fops, NULL, freed_set, "%llu\n");

/* What is written, and a NUL, in kernel memory that ends with it. */
static ssize_t text_write(struct file *file, const char __user *from, size_t count, loff_t *pos)
{
	u8 *text = last + PAGE_SIZE - count - 1;

	if (count >= PAGE_SIZE)
		return -EINVAL;
	if (copy_from_user(text, from, count))
		return -EFAULT;
	text[count] = 0;
	address_set(NULL, (u64)text);
	return count;
}

static const struct file_operations text_fops = {
	.owner = THIS_MODULE,
	.write = text_write,
};

static int addresses_show(struct seq_file *file, void *data)
{
	seq_printf(file, "{\"page\":%llu,\"poison\":%llu,\"other_poison\":%llu,\"beyond_memory\":%llu,\"object\":%llu}\n",
		   (u64)page, (u64)LIST_POISON1, (u64)LIST_POISON2,
		   (u64)high_memory + SZ_1G, (u64)ax_object());
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(addresses);

int ax_addresses_init(struct dentry *directory)
{
	int i;

	page = vmalloc(PAGE_SIZE);
	last = vmalloc(PAGE_SIZE);
	if (!page || !last) {
		ax_addresses_exit();
		return -ENOMEM;
	}
	for (i = 0; i < PAGE_SIZE; i++)
		page[i] = 'a' + i % 26;
	debugfs_create_file_unsafe("address", 0200, directory, NULL, &address_fops);
	debugfs_create_file_unsafe("freed", 0200, directory, NULL, &freed_fops);
	debugfs_create_file_unsafe("pages", 0200, directory, NULL, &pages_fops);
	debugfs_create_file("text", 0200, directory, NULL, &text_fops);
	debugfs_create_file("addresses", 0400, directory, NULL, &addresses_fops);
	return 0;
}

void ax_addresses_exit(void)
{
	vfree(page);
	vfree(last);
}
