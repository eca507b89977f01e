/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of x86-64, for usdt_probes.c. */
#ifndef USDT_X86_64_H
#define USDT_X86_64_H

#include "usdt_note.h"

#define REGISTERS	15

#define SAVE	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
#define RESTORE	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"

FUNCTION("pass_registers", SAVE
	 "mov 0(%rdi), %rax\nmov 8(%rdi), %rbx\nmov 16(%rdi), %rcx\nmov 24(%rdi), %rdx\nmov 32(%rdi), %rsi\nmov 48(%rdi), %rbp\n"
	 "mov 56(%rdi), %r8\nmov 64(%rdi), %r9\nmov 72(%rdi), %r10\nmov 80(%rdi), %r11\nmov 88(%rdi), %r12\nmov 96(%rdi), %r13\n"
	 "mov 104(%rdi), %r14\nmov 112(%rdi), %r15\nmov 40(%rdi), %rdi\n"
	 PROBE("registers", "8@%rax 8@%rbx 8@%rcx 8@%rdx 8@%rsi 8@%rdi 8@%rbp 8@%r8 8@%r9 8@%r10 8@%r11 8@%r12 8@%r13 8@%r14 8@%r15")
	 RESTORE);

/* Parts of rax and of r12, which have the same value, and of rdi. */
FUNCTION("pass_widths", SAVE
	 "mov %rdi, %rax\nmov %rdi, %r12\n"
	 PROBE("widths", "4@%eax -4@%eax 2@%ax -2@%ax 1@%al -1@%al 4@%r12d -2@%r12w -1@%r12b -8@%rdi 8@%eax -8@%eax 1@%r12")
	 RESTORE);

/* Registers that are a byte of rax, rdi and rbp, which have the same value. */
FUNCTION("pass_bytes", SAVE
	 "mov %rdi, %rax\nmov %rdi, %rbp\n"
	 PROBE("bytes", "1@%ah -1@%ah 1@%dil -1@%bpl -4@%ah")
	 RESTORE);

FUNCTION("pass_constants",
	 PROBE("constants", "1@$-1 -1@$-1 2@$65535 -4@$-7 4@$0x7fffffff 8@$-1 -8@$-9223372036854775808 4@$3000000000 -2@$-0x8000"));

FUNCTION("pass_memory", "push $77\npush $-78\nmov %rdi, %r10\nshr $3, %r10\n"
	 PROBE("memory", "8@(%rdi) 4@8(%rdi) -4@-8(%rdi) 2@(%rdi,%rsi) 8@8(%rdi,%rsi,8) -1@-3(%rdi,%rsi,2) 8@(,%r10,8) -8@0x10(,%r10,8) "
			 "-8@(%rsp) 4@8(%rsp) 1@(%rdi, %rsi, 4)")
	 "add $16, %rsp\n");

FUNCTION("pass_symbols",
	 PROBE("symbols", "8@usdt_numbers(%rip) 4@usdt_numbers+8(%rip) -4@12+usdt_numbers(%rip) 8@usdt_numbers -4@usdt_numbers+16-4(%rip)"));

/* The first is the number as a double. */
FUNCTION("pass_unread",
	 "cvtsi2sd %edi, %xmm0\n"
	 PROBE("unread", "8f@%xmm0 -4@%edi 8@%fs:16 8@no_such_symbol(%rip) 8@$usdt_numbers 3@%rax -4@%edi"));

FUNCTION("pass_text", PROBE("text", "8@%rdi"));

FUNCTION("pass_sites",
	 PROBE("sites", "-4@%edi")
	 "mov %esi, %r11d\n"
	 PROBE("sites", "-4@%r11d")
	 "push %rdi\n"
	 PROBE("sites", "-2@(%rsp)")
	 "pop %rdi\n");

FUNCTION("pass_guarded", "mov %rdi, %rax\n"
	 PROBE_WITH("guarded", "8@%rax 2@usdt_probes_guarded_semaphore(%rip)", "usdt_probes_guarded_semaphore"));

#endif
