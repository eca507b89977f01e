// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/thread_info.h>
#include <asm/cpufeature.h>
#include <asm/fpu/types.h>

#include "arch/vector.h"
#include "base/compat.h"

#define READ_REGISTER(n) \
	case n: \
		asm volatile("movq %%xmm" #n ", %0" : "=r"(word)); \
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
	}
	return word;
}

/*
 * XSAVES and XSAVEOPT leave out what is in its initial state, which is 0 in all of these registers.
 * The legacy area is the same in all formats: Intel SDM, volume 1, 13.4.1.
 */
u64 argtrace_vector_saved(unsigned int number)
{
	const union fpregs_state *saved = &argtrace_fpu_of(current)->fpstate->regs;

	if (boot_cpu_has(X86_FEATURE_XSAVE) && !(saved->xsave.header.xfeatures & XFEATURE_MASK_SSE))
		return 0;
	return *(const u64 *)&saved->fxsave.xmm_space[number * 4];
}
