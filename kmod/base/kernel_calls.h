/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of the kernel's own functions, of which ftrace tells us: for what we have to hear of,
 * whether or not a session traces these functions.
 */
#ifndef ARGTRACE_KERNEL_CALLS_H
#define ARGTRACE_KERNEL_CALLS_H

#include <linux/container_of.h>
#include <linux/ftrace.h>
#include <linux/types.h>

#include "arch/regs.h"
#include "arch/text.h"

#define ARGTRACE_KERNEL_CALLS_MAX	4

struct argtrace_kernel_call {
	const char *name;
	/*
	 * At the function's first instruction, in the context of its caller. It must not sleep: a
	 * task that sleeps is not seen to be in a trampoline (synchronize_rcu_tasks()).
	 */
	void (*called)(struct ftrace_regs *fregs);
};

/* Static, as ftrace may go on calling us for ever. */
struct argtrace_kernel_calls {
	struct ftrace_ops ops;
	u32 count;
	const struct argtrace_kernel_call *calls;
	unsigned long addresses[ARGTRACE_KERNEL_CALLS_MAX];	/* once they have begun */
	ftrace_func_t callback;
};

/*
 * Defines them from a constant array, which has the most frequent first. The callback calls its
 * functions directly, which takes half as many instructions as through pointers.
 */
#define DEFINE_KERNEL_CALLS(name, table)							\
static void name##_callback(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,	\
			    struct ftrace_regs *fregs)						\
{												\
	const struct argtrace_kernel_calls *calls =						\
		container_of(ops, struct argtrace_kernel_calls, ops);				\
	u32 i;											\
												\
	_Pragma("GCC unroll 4")									\
	for (i = 0; i < ARRAY_SIZE(table); i++) {						\
		if (ip - calls->addresses[i] <= ARGTRACE_FENTRY_SKEW)				\
			return table[i].called(fregs);						\
	}											\
}												\
												\
static struct argtrace_kernel_calls name = { .count = ARRAY_SIZE(table), .calls = (table),	\
					     .callback = name##_callback }

/* 0, -EOPNOTSUPP if ftrace cannot tell of one of them, -EBUSY if it is switched off, -ENOMEM. */
int argtrace_kernel_calls_begin(struct argtrace_kernel_calls *calls);
/* Afterwards nobody is in `called`. */
void argtrace_kernel_calls_end(struct argtrace_kernel_calls *calls);

/*
 * The address of kernel text with that name, or 0 if there is none, or several. It need not be a
 * function that a kprobe may be set in: its address is noted before that is found out.
 */
unsigned long argtrace_kernel_address(const char *name);

static inline void *argtrace_called_with(struct ftrace_regs *fregs, unsigned int index)
{
	return (void *)argtrace_regs_argument(argtrace_regs_of_ftrace(fregs), index);
}

#endif
