// SPDX-License-Identifier: GPL-2.0-only
/* Tables that have been replaced are never freed. */
#include "memory.h"
#include "table.h"

void __wrap_argtrace_table_free(struct argtrace_table *table);

void __wrap_argtrace_table_free(struct argtrace_table *table)
{
	if (table)
		argtrace_memory_uncharge(table->charged);
}
