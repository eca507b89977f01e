/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The task's thread_info has both, the need-resched bit above the count
 * (arch/arm64/include/asm/preempt.h). Kernels without CONFIG_PREEMPT_COUNT count interrupts in it
 * all the same.
 */
#ifndef ARGTRACE_ARCH_ARM64_PREEMPT_H
#define ARGTRACE_ARCH_ARM64_PREEMPT_H

#include <linux/compiler.h>
#include <linux/preempt.h>
#include <linux/thread_info.h>
#include <linux/types.h>

typedef u64 argtrace_preempt_word;
#define argtrace_read_preempt_word() \
	((argtrace_preempt_word)READ_ONCE(current_thread_info()->preempt_count))

#endif
