/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: timers. A probe of ARGTRACE_KIND_TIMER is called so many times a second on each CPU that is online, also on those that come
 * online later: a tick. What it is told about is what the tick has interrupted.
 *
 * Its `addr` says how often, counted in what, and what becomes of idle CPUs; see ARGTRACE_TIMER(). A session has one at most (-E2BIG).
 * It has no arguments but those of a program, which may not use SOURCE_REG and SOURCE_STACK; no RETURN; and is removed with all
 * probes of the session. -EOPNOTSUPP this machine does not count such events, or cannot interrupt for them: take another event.
 *
 * SOURCE_CALLER, and the caller in a record, is the address that was interrupted in the kernel, and 0 where that was user space. The stack
 * of a tick (ARGTRACE_SOURCE_STACK_ID) begins with that address and goes on as stack_trace_save_regs() tells it; or its number is
 * one of these, which no table has:
 */
#ifndef _UAPI_ARGTRACE_TIMER_H
#define _UAPI_ARGTRACE_TIMER_H

#include <linux/types.h>

#define ARGTRACE_STACK_ID_USER	2	/* user space was interrupted */
#define ARGTRACE_STACK_ID_IDLE	3	/* an idle CPU was; not with ARGTRACE_TIMER_IDLE */

enum argtrace_timer_event {
	ARGTRACE_TIMER_CYCLES		= 1,	/* cycles of the processor, which interrupts (by NMI) also where interrupts are off, and counts
						 * none while it sleeps */
	ARGTRACE_TIMER_CPU_CLOCK	= 2,	/* time, by a timer of the kernel's: where interrupts are off, the tick comes once they
						 * are on */
};

#define ARGTRACE_TIMER_IDLE		(1u << 0) /* idle CPUs have stacks as others have */

#define ARGTRACE_TIMER_FREQUENCY_MAX	10000u	/* ticks in a second; 1 at least */

/* `addr`; all other bits are 0. */
#define ARGTRACE_TIMER(event, frequency, flags) \
	((__u64)(frequency) | (__u64)(event) << 32 | (__u64)(flags) << 40)

#endif
