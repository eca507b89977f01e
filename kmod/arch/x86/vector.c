// SPDX-License-Identifier: GPL-2.0-only
#include <linux/align.h>
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/thread_info.h>
#include <asm/cpufeature.h>
#include <asm/fpu/types.h>

#include "arch/vector.h"
#include "base/compat.h"

#define READ_REGISTER(n) \
	case n: \
		asm volatile("movq %%xmm" #n ", %0" : "=r"(word)); \
		break

/*
 * Where it is in what FXSAVE writes, which is the legacy area of all formats: Intel SDM, volume 1,
 * 10.5.1 and 13.4.1. Each register has 16 bytes.
 */
static unsigned int place_in_image(unsigned int number)
{
	const unsigned int st = offsetof(struct fxregs_state, st_space);
	const unsigned int xmm = offsetof(struct fxregs_state, xmm_space);
	unsigned int place;

	if (number >= ARGTRACE_VECTOR_X87)
		place = st + 8 * (number - ARGTRACE_VECTOR_X87);
	else if (number >= ARGTRACE_VECTOR_UPPER)
		place = xmm + 16 * (number - ARGTRACE_VECTOR_UPPER) + 8;
	else
		place = xmm + 16 * number;
	return array_index_nospec(place, sizeof(struct fxregs_state) - sizeof(u64));
}

static u64 image_word(const struct fxregs_state *image, unsigned int number)
{
	const u64 word = *(const u64 *)((const u8 *)image + place_in_image(number));

	/* Sign and exponent have 16 bits, what is behind them is reserved. */
	return number >= ARGTRACE_VECTOR_X87 && number % 2 ? (u16)word : word;
}

/* What no instruction reads by itself without a change of the unit's state. */
static noinline u64 live_image_word(unsigned int number)
{
	u8 room[sizeof(struct fxregs_state) + 15];
	struct fxregs_state *image = PTR_ALIGN((void *)room, 16);

	asm volatile("fxsaveq %0" : "=m"(*image));
	return image_word(image, number);
}

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
	default:
		return live_image_word(number);
	}
	return word;
}

/*
 * XSAVES and XSAVEOPT leave out what is in its initial state, in which all of these registers are 0
 * or, those of the x87 unit, empty.
 */
u64 argtrace_vector_saved(unsigned int number)
{
	const union fpregs_state *saved = &argtrace_fpu_of(current)->fpstate->regs;
	const u64 part = number >= ARGTRACE_VECTOR_X87 ? XFEATURE_MASK_FP : XFEATURE_MASK_SSE;

	if (boot_cpu_has(X86_FEATURE_XSAVE) && !(saved->xsave.header.xfeatures & part))
		return 0;
	return image_word(&saved->fxsave, number);
}
