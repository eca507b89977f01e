/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The need-resched bit is in the same word (arch/x86/include/asm/preempt.h), which Linux 7.3 made
 * 64 bits wide, and which lies in struct pcpu_hot from Linux 6.2 to 6.14.
 */
#ifndef ARGTRACE_ARCH_X86_PREEMPT_H
#define ARGTRACE_ARCH_X86_PREEMPT_H

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/types.h>

#ifdef CONFIG_HAS_SEPARATE_PREEMPT_RESCHED_BITS
typedef u64 argtrace_preempt_word;
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_8(__preempt_count))
#else
typedef u32 argtrace_preempt_word;
#ifdef ARGTRACE_PREEMPT_COUNT_IS_HOT
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_4(pcpu_hot.preempt_count))
#else
#define argtrace_read_preempt_word() ((argtrace_preempt_word)raw_cpu_read_4(__preempt_count))
#endif
#endif

#endif
