/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for calls of user functions that have been entered (source/user_calls.h). Each CPU keeps
 * some of what is freed, as a call's memory is freed when it returns, and kmalloc() and what is
 * charged for it take more than all the rest that is done for a call. Charged as memory.h says,
 * also while it is spare.
 */
#ifndef ARGTRACE_USER_CALL_MEMORY_H
#define ARGTRACE_USER_CALL_MEMORY_H

#include <linux/types.h>

/* NULL: there is none. Not to be called with preemption off, as neither is the next one. */
void *argtrace_user_call_memory(u32 size);
void argtrace_user_call_memory_free(void *memory, u32 size);

/* For memory that is freed otherwise. */
void argtrace_user_call_memory_uncharge(u32 size);

/* Nobody has any of it, or asks for more meanwhile. */
void argtrace_user_call_memory_free_spares(void);

#endif
