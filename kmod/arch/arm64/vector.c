// SPDX-License-Identifier: GPL-2.0-only
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <asm/fpsimd.h>
#include <asm/processor.h>

#include "arch/vector.h"

#define READ_REGISTER(n) \
	case n: \
		asm volatile(".arch_extension fp\n\tfmov %0, d" #n : "=r"(word)); \
		break; \
	case ARGTRACE_VECTOR_UPPER + n: \
		asm volatile(".arch_extension simd\n\tumov %0, v" #n ".d[1]" : "=r"(word)); \
		break

/* The compiler is not to use these registers in the kernel, but the assembler knows them. */
u64 argtrace_vector_live(unsigned int number)
{
	u64 word = 0;

	switch (number) {
	READ_REGISTER(0);
	READ_REGISTER(1);
	READ_REGISTER(2);
	READ_REGISTER(3);
	READ_REGISTER(4);
	READ_REGISTER(5);
	READ_REGISTER(6);
	READ_REGISTER(7);
	READ_REGISTER(8);
	READ_REGISTER(9);
	READ_REGISTER(10);
	READ_REGISTER(11);
	READ_REGISTER(12);
	READ_REGISTER(13);
	READ_REGISTER(14);
	READ_REGISTER(15);
	READ_REGISTER(16);
	READ_REGISTER(17);
	READ_REGISTER(18);
	READ_REGISTER(19);
	READ_REGISTER(20);
	READ_REGISTER(21);
	READ_REGISTER(22);
	READ_REGISTER(23);
	READ_REGISTER(24);
	READ_REGISTER(25);
	READ_REGISTER(26);
	READ_REGISTER(27);
	READ_REGISTER(28);
	READ_REGISTER(29);
	READ_REGISTER(30);
	READ_REGISTER(31);
	}
	return word;
}

/*
 * Where the task has used SVE, or is in streaming mode, its registers are saved as those of SVE,
 * the lower part of which they are: Z0 to Z31 without anything between, each as wide as its vectors
 * are (arch/arm64/include/uapi/asm/ptrace.h, SVE_PT_SVE_ZREG_OFFSET).
 */
u64 argtrace_vector_saved(unsigned int number)
{
	struct thread_struct *thread = &current->thread;
	const bool is_upper = number >= ARGTRACE_VECTOR_UPPER;
	const u8 *lower;

	number = array_index_nospec(number % ARGTRACE_VECTOR_UPPER, ARGTRACE_VECTORS);
	if (thread->fp_type == FP_STATE_SVE && thread->sve_state)
		lower = (const u8 *)thread->sve_state + number * thread_get_cur_vl(thread);
	else
		lower = (const u8 *)&thread->uw.fpsimd_state.vregs[number];
	return *(const u64 *)(lower + (is_upper ? sizeof(u64) : 0));
}
