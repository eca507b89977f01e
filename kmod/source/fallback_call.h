/* SPDX-License-Identifier: GPL-2.0-only */
/* One call that the kernel follows for us: what is kept of it from its entry to its return. */
#ifndef ARGTRACE_FALLBACK_CALL_H
#define ARGTRACE_FALLBACK_CALL_H

#include <linux/types.h>
#include <uapi/argtrace.h>

#include "arch/regs.h"
#include "source/fallback.h"

struct argtrace_fallback_call {
	u64 cookie;			/* struct argtrace_fallback */
	u64 clock;			/* these as in struct argtrace_frame */
	u64 state;
	unsigned long caller;
	unsigned long result;		/* its address, where it is returned in memory */
	unsigned long args[ARGTRACE_REG_COUNT];
	/* the words that arguments take on the stack, then the values that are kept */
	u64 data[];
};

/*
 * What we have the kernel keep of a call: a kretprobe has room for KRETPROBE_MAX_DATA_SIZE (4,096),
 * an fprobe is not limited.
 */
#define ARGTRACE_FALLBACK_CALL_MAX	512

/*
 * How many levels of preempt_disable() are the kernel's own when it calls us, by fprobe and by
 * kretprobe.
 */
extern u8 argtrace_fallback_levels[2];

/*
 * At the entry, with the registers of the function; its caller's address may be on the stack no
 * more. False: nothing is to be done when the call returns.
 */
bool argtrace_fallback_enter(struct argtrace_fallback *fallback,
			     struct argtrace_fallback_call *call, const argtrace_full_regs *regs,
			     unsigned long caller);

/* When it returns, with what it returned. */
void argtrace_fallback_leave(struct argtrace_fallback *fallback,
			     const struct argtrace_fallback_call *call, unsigned long value,
			     unsigned long high);

/* Bytes of each call of the plan at most. */
size_t argtrace_fallback_call_size(const struct argtrace_plan *plan);

#endif
