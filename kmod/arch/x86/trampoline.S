/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trampolines between a caller and a function whose return is followed. They are the same for
 * all functions. See followed.h for the frame.
 *
 * The body of a function begins behind ftrace's call and has no ENDBR: where indirect branch
 * tracking is on, it cannot be called or jumped to indirectly. A return can go there. It goes
 * through the RET macro like every other, for kernels with return thunks, and what it takes off the
 * processor's return stack has been pushed for it, so that the returns of all callers are predicted
 * as ever.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

#include "arch/x86/followed.h"

	.text
SYM_FUNC_START(argtrace_return_text)
	ANNOTATE_NOENDBR
	RET
SYM_FUNC_END(argtrace_return_text)

/*
 * Makes the frame of a call whose body and caller are on the stack, with the struct argtrace_return
 * in rax.
 */
.macro MAKE_FRAME
	push	%rbp
	mov	%rsp, %rbp
	sub	$ARGTRACE_FRAME_BELOW, %rsp
	mov	%rdi, ARGTRACE_FRAME_DI(%rbp)
	mov	%rsi, ARGTRACE_FRAME_SI(%rbp)
	mov	%rdx, ARGTRACE_FRAME_DX(%rbp)
	mov	%rcx, ARGTRACE_FRAME_CX(%rbp)
	mov	%r8, ARGTRACE_FRAME_R8(%rbp)
	mov	%r9, ARGTRACE_FRAME_R9(%rbp)
	mov	%rax, ARGTRACE_FRAME_RETURNS(%rbp)
.endm

.macro RESTORE_ARGUMENTS
	mov	ARGTRACE_FRAME_DI(%rbp), %rdi
	mov	ARGTRACE_FRAME_SI(%rbp), %rsi
	mov	ARGTRACE_FRAME_DX(%rbp), %rdx
	mov	ARGTRACE_FRAME_CX(%rbp), %rcx
	mov	ARGTRACE_FRAME_R8(%rbp), %r8
	mov	ARGTRACE_FRAME_R9(%rbp), %r9
.endm

/*
 * Whether to follow the call is in rax then. The first argument is kept where the frame will have
 * the upper half of the value: of a system call the frame gets those that user space has passed.
 * Values that are kept lie between the frame and the copies of stack arguments.
 */
.macro ENTER_SLOWLY by=argtrace_return_enter
	mov	%rdi, ARGTRACE_FRAME_HIGH(%rbp)
	lea	-ARGTRACE_FRAME_BELOW(%rbp), %rdi
	call	\by
	cmp	$ARGTRACE_ENTER_FOLLOW, %rax
	jbe	.Lentered_\@
	sub	%rax, %rsp
	lea	-ARGTRACE_FRAME_BELOW(%rbp), %rdi
	mov	%rax, %rsi
	call	argtrace_return_keep
	mov	$ARGTRACE_ENTER_FOLLOW, %eax
.Lentered_\@:
	RESTORE_ARGUMENTS
	mov	ARGTRACE_FRAME_HIGH(%rbp), %rdi
	test	%rax, %rax
.endm

/*
 * Calls the body by `how`, records that it has returned, and returns to the caller. Arguments on
 * the stack are copied: the body finds them above the return address that is about to be pushed.
 * rax, r10 and r11 are nobody's here.
 */
.macro FOLLOW how
	mov	ARGTRACE_FRAME_RETURNS(%rbp), %r11
	mov	ARGTRACE_RETURN_WORDS(%r11), %rax
	test	%rax, %rax
	jnz	.Lcopy_\@
.Lcall_\@:
	call	\how
	mov	%rax, ARGTRACE_FRAME_VALUE(%rbp)
	mov	%rdx, ARGTRACE_FRAME_HIGH(%rbp)
	lea	-ARGTRACE_FRAME_BELOW(%rbp), %rdi
	call	argtrace_return_leave
	mov	ARGTRACE_FRAME_VALUE(%rbp), %rax
	mov	ARGTRACE_FRAME_HIGH(%rbp), %rdx
	leave
	add	$8, %rsp
	UNWIND_HINT_FUNC
	RET
.Lcopy_\@:
	lea	0(,%rax,8), %r10
	sub	%r10, %rsp
.Lword_\@:
	mov	ARGTRACE_FRAME_STACK-8(%rbp,%rax,8), %r11
	mov	%r11, -8(%rsp,%rax,8)
	dec	%rax
	jnz	.Lword_\@
	jmp	.Lcall_\@
.endm

/*
 * The call that was gone to instead of the body has taken that off the return stack: push what the
 * return takes off.
 */
SYM_FUNC_START_LOCAL(argtrace_return_body)
	ANNOTATE_INTRA_FUNCTION_CALL
	call	1f
	int3
1:	mov	ARGTRACE_FRAME_BODY(%rbp), %r11
	mov	%r11, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_body)

/* The body is on the return stack, from ftrace's call. */
SYM_FUNC_START_LOCAL(argtrace_return_body_direct)
	pushq	ARGTRACE_FRAME_BODY(%rbp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_body_direct)

/*
 * In place of the body another direct caller, as if the function, called by us, had called it. Bit
 * 0 of its address says that it is to be jumped to (Linux 7).
 */
SYM_FUNC_START_LOCAL(argtrace_return_body_chain)
	mov	ARGTRACE_FRAME_SP(%rbp), %r11
	btr	$0, %r11
	jc	1f
	pushq	ARGTRACE_FRAME_BODY(%rbp)
	push	%r11
	UNWIND_HINT_FUNC
	RET
1:	push	%r11
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_body_chain)

/*
 * In plain context, with the TSC as the clock. The context has been looked at, and the call has
 * been counted.
 */
SYM_FUNC_START(argtrace_return_quick)
	ANNOTATE_NOENDBR
	pushq	ARGTRACE_RETURN_BODY(%rax)
	MAKE_FRAME
	movq	$0, ARGTRACE_FRAME_STATE(%rbp)
	mov	%rdx, %r10
	rdtsc
	mov	%eax, ARGTRACE_FRAME_CLOCK(%rbp)
	mov	%edx, ARGTRACE_FRAME_CLOCK+4(%rbp)
	mov	%r10, %rdx
	FOLLOW argtrace_return_body
SYM_FUNC_END(argtrace_return_quick)

/* The same where values are kept, as many bytes of them as is known beforehand. */
SYM_FUNC_START(argtrace_return_keeping)
	ANNOTATE_NOENDBR
	pushq	ARGTRACE_RETURN_BODY(%rax)
	MAKE_FRAME
	sub	ARGTRACE_RETURN_KEPT(%rax), %rsp
	lea	-ARGTRACE_FRAME_BELOW(%rbp), %rdi
	call	argtrace_return_gather
	RESTORE_ARGUMENTS
	test	%rax, %rax
	jz	1f
	FOLLOW argtrace_return_body
1:	leave
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_keeping)

SYM_FUNC_START(argtrace_return_slow)
	ANNOTATE_NOENDBR
	pushq	ARGTRACE_RETURN_BODY(%rax)
	MAKE_FRAME
	ENTER_SLOWLY
	jz	1f
	FOLLOW argtrace_return_body
1:	leave
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_slow)

/* The same for a call that has to wait before its filter can decide whether it is followed. */
SYM_FUNC_START(argtrace_return_undecided)
	ANNOTATE_NOENDBR
	pushq	ARGTRACE_RETURN_BODY(%rax)
	MAKE_FRAME
	ENTER_SLOWLY by=argtrace_return_enter_undecided
	jz	1f
	FOLLOW argtrace_return_body
1:	leave
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_undecided)

/* For a call that waits, and is not followed. */
SYM_FUNC_START(argtrace_return_waiting)
	ANNOTATE_NOENDBR
	pushq	ARGTRACE_RETURN_BODY(%rax)
	MAKE_FRAME
	mov	%rdi, ARGTRACE_FRAME_HIGH(%rbp)
	lea	-ARGTRACE_FRAME_BELOW(%rbp), %rdi
	call	argtrace_syscall_wait
	RESTORE_ARGUMENTS
	mov	ARGTRACE_FRAME_HIGH(%rbp), %rdi
	leave
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_waiting)

SYM_FUNC_START(argtrace_return_direct)
	ANNOTATE_NOENDBR
	MAKE_FRAME
	ENTER_SLOWLY
	jz	1f
	FOLLOW argtrace_return_body_direct
1:	leave
	RET
SYM_FUNC_END(argtrace_return_direct)

/*
 * The other direct caller is kept where the stack pointer will be: nobody has asked for that before
 * the body returns.
 */
SYM_FUNC_START(argtrace_return_chain)
	ANNOTATE_NOENDBR
	MAKE_FRAME
	mov	%r10, ARGTRACE_FRAME_SP(%rbp)
	ENTER_SLOWLY
	jz	1f
	FOLLOW argtrace_return_body_chain
1:	mov	ARGTRACE_FRAME_SP(%rbp), %r11
	leave
	btr	$0, %r11
	jc	2f
	push	%r11
	UNWIND_HINT_FUNC
	RET
2:	mov	%r11, (%rsp)
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(argtrace_return_chain)

	.globl argtrace_return_text_end
argtrace_return_text_end:
