/* SPDX-License-Identifier: GPL-2.0-only */
/* The notes of USDT probes, as <sys/sdt.h> would write them, so that each says what a test wants. */
#ifndef USDT_NOTE_H
#define USDT_NOTE_H

#define PROBE_WITH(name, arguments, semaphore)				\
	"990:	nop\n"							\
	"	.pushsection .note.stapsdt, \"\", \"note\"\n"		\
	"	.balign 4\n"						\
	"	.4byte 992f - 991f, 994f - 993f, 3\n"			\
	"991:	.asciz \"stapsdt\"\n"					\
	"992:	.balign 4\n"						\
	"993:	.8byte 990b, _.stapsdt.base, " semaphore "\n"		\
	"	.asciz \"usdt_probes\"\n"				\
	"	.asciz \"" name "\"\n"					\
	"	.asciz \"" arguments "\"\n"				\
	"994:	.balign 4\n"						\
	"	.popsection\n"

#define PROBE(name, arguments) PROBE_WITH(name, arguments, "0")

#define FUNCTION(name, code)						\
	asm(".text\n.globl " name "\n.type " name ", %function\n" name ":\n" code "	ret\n.size " name ", . - " name "\n")

asm(".pushsection .stapsdt.base, \"a\", \"progbits\"\n"
    "_.stapsdt.base: .space 1\n"
    ".popsection\n");

#endif
