/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ARGTRACE_BRING_IN_H
#define ARGTRACE_BRING_IN_H

#include <linux/types.h>

/* How often it is brought in for one call: each time, more of what that needs is present. */
#define ARGTRACE_BRING_IN_MAX	8

/*
 * Brings user memory of the current task into its page table, of which there are at most so many
 * bytes as a page has, where no process can make that wait for ever. False if it is not there
 * afterwards. Sleeps.
 */
bool argtrace_bring_in(u64 addr, u32 bytes);

#endif
