// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bsearch.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "source/returns/returns.h"
#include "source/returns/refused.h"

struct refused {
	const char *name, *reason;
};

#define REFUSED(function, why)	{ #function, why },
static const struct refused refused[] = { ARGTRACE_RETURN_REFUSED(REFUSED) };

static int compare(const void *name, const void *entry)
{
	return strcmp(name, ((const struct refused *)entry)->name);
}

const char *argtrace_return_refusal_of(const char *name)
{
	const struct refused *found =
		bsearch(name, refused, ARRAY_SIZE(refused), sizeof(*refused), compare);

	return found ? found->reason : NULL;
}

/* By the symbol's name: the kernel exports no way from a name to its address. */
const char *argtrace_return_refusal(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, addr);
	/* A module's name follows the function's. */
	name[strcspn(name, " ")] = '\0';
	return argtrace_return_refusal_of(name);
}
