/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * argtrace: timers. A probe of ARGTRACE_KIND_TIMER is called so many times a second on each CPU that is online, including CPUs that come
 * online later: a tick. It records the code that the tick has interrupted.
 *
 * Its `addr` encodes the frequency, the event, and the treatment of idle CPUs; see ARGTRACE_TIMER(). A session has at most one (-E2BIG).
 * Its only arguments are those of a program, which may not use SOURCE_REG and SOURCE_STACK; it has no RETURN.
 * -EOPNOTSUPP this machine does not count such events, or cannot interrupt for them: use another event.
 *
 * SOURCE_CALLER, and the caller in a record, is the interrupted address in the kernel, or 0 if user space was interrupted. The stack
 * of a tick (ARGTRACE_SOURCE_STACK_ID) begins with that address and continues as stack_trace_save_regs() reports it; or its number is
 * one of these, which are in no table:
 */
#ifndef _UAPI_ARGTRACE_TIMER_H
#define _UAPI_ARGTRACE_TIMER_H

#include <linux/types.h>

#define ARGTRACE_STACK_ID_USER	2	/* user space was interrupted */
#define ARGTRACE_STACK_ID_IDLE	3	/* an idle CPU was; not with ARGTRACE_TIMER_IDLE */

/* The number of a user stack, for any kind of probe, in a task of the kernel's, which has none. */
#define ARGTRACE_STACK_ID_NO_USER	4

enum argtrace_timer_event {
	ARGTRACE_TIMER_CYCLES		= 1,	/* processor cycles; interrupts by NMI, even if interrupts are disabled; a CPU that sleeps
						 * counts none */
	ARGTRACE_TIMER_CPU_CLOCK	= 2,	/* time, by a kernel timer: while interrupts are disabled, the tick is delayed until they
						 * are enabled */
};

#define ARGTRACE_TIMER_IDLE		(1u << 0) /* idle CPUs have stacks as well */

#define ARGTRACE_TIMER_FREQUENCY_MAX	10000u	/* ticks per second; at least 1 */

/* `addr`; all other bits are 0. */
#define ARGTRACE_TIMER(event, frequency, flags) \
	((__u64)(frequency) | (__u64)(event) << 32 | (__u64)(flags) << 40)

#endif
