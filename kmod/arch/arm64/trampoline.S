/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trampolines between a caller and a function whose return is followed. They are the same for
 * all functions. See followed.h for the frame.
 *
 * They are entered by ftrace's RET X9, and the body by a RET of theirs, which need no landing pad.
 * The body finds in x30 a place of the trampoline: the BL that has led there is what the return
 * takes off the processor's return stack. x30 is signed as in every function, so that what lies in
 * the frame's record is of no use to whoever overwrites it.
 */
#include <linux/linkage.h>
#include <asm/assembler.h>

#include "arch/arm64/clock.h"
#include "arch/arm64/followed.h"

#define PACIASP	hint #25
#define AUTIASP	hint #29

	.text
SYM_FUNC_START(argtrace_return_text)
	ret
SYM_FUNC_END(argtrace_return_text)

/* Makes the frame of a call, with the struct argtrace_return in x8. */
.macro MAKE_FRAME
	mov	x17, x30
	PACIASP
	sub	sp, sp, #ARGTRACE_FRAME_SIZE
	stp	x29, x30, [sp, #ARGTRACE_FRAME_RECORD]
	stp	x29, x17, [sp, #ARGTRACE_FRAME_FP]
	add	x29, sp, #ARGTRACE_FRAME_RECORD
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	ldr	x16, [x8, #ARGTRACE_RETURN_BODY]
	str	x8, [sp, #ARGTRACE_FRAME_RETURNS]
	str	x16, [sp, #ARGTRACE_FRAME_BODY]
.endm

/* The frame's address; sp may be below it. */
.macro FRAME to
	sub	\to, x29, #ARGTRACE_FRAME_RECORD
.endm

.macro RESTORE_ARGUMENTS
	FRAME	x16
	ldp	x0, x1, [x16]
	ldp	x2, x3, [x16, #16]
	ldp	x4, x5, [x16, #32]
	ldp	x6, x7, [x16, #48]
.endm

.macro DROP_FRAME
	FRAME	x16
	mov	sp, x16
	ldp	x29, x30, [sp, #ARGTRACE_FRAME_RECORD]
	add	sp, sp, #ARGTRACE_FRAME_SIZE
	AUTIASP
.endm

/*
 * Calls the body, records that it has returned, and returns to the caller. Arguments on the stack
 * are copied: the body finds them where the stack pointer is. x9 to x17 are nobody's here. Where
 * the result is in memory, its address is the value.
 */
.macro FOLLOW in_memory=0
	FRAME	x17
	.if	\in_memory
	ldr	x8, [x17, #ARGTRACE_FRAME_RESULT]
	.endif
	ldr	x16, [x17, #ARGTRACE_FRAME_RETURNS]
	ldr	x9, [x16, #ARGTRACE_RETURN_WORDS]
	cbnz	x9, .Lcopy_\@
.Lcall_\@:
	bl	argtrace_return_body
	FRAME	x16
	.if	\in_memory
	ldr	x9, [x16, #ARGTRACE_FRAME_RESULT]
	str	x0, [x16, #ARGTRACE_FRAME_RESULT]
	mov	x0, x9
	.endif
	stp	x0, x1, [x16, #ARGTRACE_FRAME_VALUE]
	mov	x0, x16
	bl	argtrace_return_leave
	FRAME	x16
	ldp	x0, x1, [x16, #ARGTRACE_FRAME_VALUE]
	.if	\in_memory
	ldr	x0, [x16, #ARGTRACE_FRAME_RESULT]
	.endif
	DROP_FRAME
	ret
.Lcopy_\@:
	/* The stack pointer stays a multiple of 16. */
	add	x10, x9, #1
	and	x10, x10, #~1
	sub	sp, sp, x10, lsl #3
	add	x11, x17, #ARGTRACE_FRAME_SIZE
	mov	x12, sp
.Lword_\@:
	ldr	x10, [x11], #8
	str	x10, [x12], #8
	subs	x9, x9, #1
	b.ne	.Lword_\@
	b	.Lcall_\@
.endm

/* Where the body goes on, behind ftrace's call, is nothing that is called or jumped to. */
SYM_FUNC_START_LOCAL(argtrace_return_body)
	ldr	x16, [x29, #(ARGTRACE_FRAME_BODY - ARGTRACE_FRAME_RECORD)]
	ret	x16
SYM_FUNC_END(argtrace_return_body)

/* The call is let pass: as if it had not been diverted. */
.macro LET_PASS in_memory=0
	FRAME	x16
	ldr	x17, [x16, #ARGTRACE_FRAME_BODY]
	.if	\in_memory
	ldr	x8, [x16, #ARGTRACE_FRAME_RESULT]
	.endif
	DROP_FRAME
	ret	x17
.endm

/*
 * In plain context, with the counter as the clock. The context has been looked at, and the call has
 * been counted.
 */
SYM_FUNC_START(argtrace_return_quick)
	MAKE_FRAME
	mrs	x9, cntvct_el0
	lsl	x9, x9, #ARGTRACE_CYCLES_SHIFT
	stp	x9, xzr, [sp, #ARGTRACE_FRAME_CLOCK]
	FOLLOW
SYM_FUNC_END(argtrace_return_quick)

/* The same where values are kept, as many bytes of them as is known beforehand. */
SYM_FUNC_START(argtrace_return_keeping)
	MAKE_FRAME
	mov	x0, sp
	ldr	x9, [x8, #ARGTRACE_RETURN_KEPT]
	add	x9, x9, #15
	and	x9, x9, #~15
	sub	sp, sp, x9
	bl	argtrace_return_gather
	mov	x9, x0
	RESTORE_ARGUMENTS
	cbz	x9, 1f
	FOLLOW
1:	LET_PASS
SYM_FUNC_END(argtrace_return_keeping)

/*
 * The first argument is kept where the frame will have the upper half of the value: of a system
 * call the frame gets those that user space has passed.
 */
.macro ENTER_SLOWLY by, in_memory=0
	MAKE_FRAME
	.if	\in_memory
	str	x10, [sp, #ARGTRACE_FRAME_RESULT]
	.endif
	str	x0, [sp, #ARGTRACE_FRAME_HIGH]
	mov	x0, sp
	bl	\by
	cmp	x0, #ARGTRACE_ENTER_FOLLOW
	b.ls	.Lentered_\@
	add	x9, x0, #15
	and	x9, x9, #~15
	sub	sp, sp, x9
	mov	x1, x0
	FRAME	x0
	bl	argtrace_return_keep
	mov	x0, #ARGTRACE_ENTER_FOLLOW
.Lentered_\@:
	mov	x9, x0
	RESTORE_ARGUMENTS
	ldr	x0, [x16, #ARGTRACE_FRAME_HIGH]
	cbz	x9, .Lpass_\@
	FOLLOW	\in_memory
.Lpass_\@:
	LET_PASS \in_memory
.endm

SYM_FUNC_START(argtrace_return_slow)
	ENTER_SLOWLY argtrace_return_enter
SYM_FUNC_END(argtrace_return_slow)

/* The same for a call that has to wait before its filter can decide whether it is followed. */
SYM_FUNC_START(argtrace_return_undecided)
	ENTER_SLOWLY argtrace_return_enter_undecided
SYM_FUNC_END(argtrace_return_undecided)

/* The same of a function that returns a value in memory: see argtrace_divert_in_memory(). */
SYM_FUNC_START(argtrace_return_in_memory)
	mov	x10, x8
	mov	x8, x30
	mov	x30, x9
	ENTER_SLOWLY argtrace_return_enter, 1
SYM_FUNC_END(argtrace_return_in_memory)

/* For a call that waits, and is not followed. */
SYM_FUNC_START(argtrace_return_waiting)
	MAKE_FRAME
	str	x0, [sp, #ARGTRACE_FRAME_HIGH]
	mov	x0, sp
	bl	argtrace_syscall_wait
	RESTORE_ARGUMENTS
	ldr	x0, [x16, #ARGTRACE_FRAME_HIGH]
	LET_PASS
SYM_FUNC_END(argtrace_return_waiting)

	.globl argtrace_return_text_end
argtrace_return_text_end:
