// SPDX-License-Identifier: GPL-2.0-only
#include <linux/irqflags.h>

#include "arch/vector.h"

/*
 * A softirq that uses the registers saves them first, and says so by a flag; with interrupts off
 * there is none between the look at the flag and the read.
 */
u64 argtrace_vector_word(unsigned int number)
{
	unsigned long flags;
	u64 word;

	local_irq_save(flags);
	if (argtrace_vectors_are_saved())
		word = argtrace_vector_saved(number);
	else
		word = argtrace_vector_live(number);
	local_irq_restore(flags);
	return word;
}
