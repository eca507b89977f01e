// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/mm.h>

#include "memory.h"
#include "source/return_number.h"

#define PER_PAGE	(PAGE_SIZE / sizeof(struct argtrace_return *))
#define NR_PAGES	((1ul << ARGTRACE_RETURN_NUMBER_BITS) / PER_PAGE)
static_assert(ARGTRACE_RETURN_NUMBER_BITS * ARGTRACE_RETURN_NUMBERS_MAX <= BITS_PER_LONG);

static struct page_of_numbers {
	struct argtrace_return **entries;	/* PER_PAGE; NULL while none has a number of this page */
	u32 nr_used;
} pages[NR_PAGES];

static DEFINE_IDA(numbers);

/* Counts one more in the page. False: there is no memory for it. */
static bool use_page(struct page_of_numbers *page)
{
	if (!page->entries) {
		if (argtrace_memory_charge(PAGE_SIZE))
			return false;
		page->entries = (void *)__get_free_page(ARGTRACE_GFP | __GFP_ZERO);
		if (!page->entries) {
			argtrace_memory_uncharge(PAGE_SIZE);
			return false;
		}
	}
	page->nr_used++;
	return true;
}

static void unuse_page(struct page_of_numbers *page)
{
	if (--page->nr_used)
		return;
	free_page((unsigned long)page->entries);
	argtrace_memory_uncharge(PAGE_SIZE);
	page->entries = NULL;
}

u32 argtrace_return_number_get(struct argtrace_return *returns)
{
	const int number = ida_alloc_range(&numbers, 1, (1 << ARGTRACE_RETURN_NUMBER_BITS) - 1, ARGTRACE_GFP);

	if (number < 0)
		return 0;
	if (!use_page(&pages[number / PER_PAGE])) {
		ida_free(&numbers, number);
		return 0;
	}
	pages[number / PER_PAGE].entries[number % PER_PAGE] = returns;
	return number;
}

void argtrace_return_number_put(u32 number)
{
	if (!number)
		return;
	unuse_page(&pages[number / PER_PAGE]);
	ida_free(&numbers, number);
}

struct argtrace_return *argtrace_return_numbered(unsigned long these)
{
	const u32 number = these & (BIT(ARGTRACE_RETURN_NUMBER_BITS) - 1);

	return pages[number / PER_PAGE].entries[number % PER_PAGE];
}
