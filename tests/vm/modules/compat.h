/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels that concern the test modules. */
#ifndef ARGTRACE_TEST_COMPAT_H
#define ARGTRACE_TEST_COMPAT_H

#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/version.h>

/* Linux 6.13 put both steps into hrtimer_setup(). */
static inline void at_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*function)(struct hrtimer *),
				    clockid_t clock, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

/*
 * Linux 6.2 renamed it. On arm64 it is no macro then, and before that an ops with all registers
 * changes these.
 */
#if defined(CONFIG_ARM64) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define an_set_instruction_pointer(fregs, ip) ((fregs)->regs.pc = (ip))
#elif defined(ftrace_regs_set_instruction_pointer) || defined(CONFIG_ARM64)
#define an_set_instruction_pointer(fregs, ip) ftrace_regs_set_instruction_pointer(fregs, ip)
#else
#define an_set_instruction_pointer(fregs, ip) ftrace_instruction_pointer_set(fregs, ip)
#endif

#endif
