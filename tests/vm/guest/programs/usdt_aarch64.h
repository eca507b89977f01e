/* SPDX-License-Identifier: GPL-2.0-only */
/* Operands of arm64, for usdt_probes.c: as the compiler writes them, with # before numbers and without. */
#ifndef USDT_AARCH64_H
#define USDT_AARCH64_H

#include "usdt_note.h"

#define REGISTERS	31

#define SAVE	"stp x29, x30, [sp, #-96]!\nstp x19, x20, [sp, #16]\nstp x21, x22, [sp, #32]\nstp x23, x24, [sp, #48]\nstp x25, x26, [sp, #64]\nstp x27, x28, [sp, #80]\n"
#define RESTORE	"ldp x19, x20, [sp, #16]\nldp x21, x22, [sp, #32]\nldp x23, x24, [sp, #48]\nldp x25, x26, [sp, #64]\nldp x27, x28, [sp, #80]\nldp x29, x30, [sp], #96\n"

FUNCTION("pass_registers", SAVE
	 "ldp x1, x2, [x0, #8]\nldp x3, x4, [x0, #24]\nldp x5, x6, [x0, #40]\nldp x7, x8, [x0, #56]\n"
	 "ldp x9, x10, [x0, #72]\nldp x11, x12, [x0, #88]\nldp x13, x14, [x0, #104]\nldp x15, x16, [x0, #120]\n"
	 "ldp x17, x18, [x0, #136]\nldp x19, x20, [x0, #152]\nldp x21, x22, [x0, #168]\nldp x23, x24, [x0, #184]\n"
	 "ldp x25, x26, [x0, #200]\nldp x27, x28, [x0, #216]\nldp x29, x30, [x0, #232]\nldr x0, [x0]\n"
	 PROBE("registers",
	       "8@x0 8@x1 8@x2 8@x3 8@x4 8@x5 8@x6 8@x7 8@x8 8@x9 8@x10 8@x11 8@x12 8@x13 8@x14 8@x15 "
	       "8@x16 8@x17 8@x18 8@x19 8@x20 8@x21 8@x22 8@x23 8@x24 8@x25 8@x26 8@x27 8@x28 8@x29 8@x30")
	 RESTORE);

/* Parts of x0 and of x12, which have the same value. */
FUNCTION("pass_widths",
	 "mov x12, x0\n"
	 PROBE("widths", "4@w0 -4@w0 2@w0 -2@w0 1@w0 -1@x0 4@w12 -2@x12 -1@w12 -8@x12 8@w12 -8@w12 1@x12"));

FUNCTION("pass_constants",
	 PROBE("constants", "1@-1 -1@#-1 2@65535 -4@-7 4@0x7fffffff 8@-1 -8@-9223372036854775808 4@#3000000000 -2@-0x8000"));

FUNCTION("pass_memory", "mov x10, #-78\nmov x11, #77\nstp x10, x11, [sp, #-16]!\n"
	 "add x2, x0, #8\nsub x3, x0, #3\nmov x4, #0\n"
	 PROBE("memory", "8@[x0] 4@[x0, 8] -4@[x0, #-8] 2@[x0, x1] 8@[x2, x1, lsl 3] -1@[x3,x1,lsl #1] 8@[x4, x0] -8@[x0, 0x10] "
			 "-8@[sp] 4@[sp, 8] 1@[x0, x1, lsl #2]")
	 "add sp, sp, #16\n");

/* The first is the number as a double. */
FUNCTION("pass_unread",
	 "scvtf d0, w0\n"
	 PROBE("unread", "8f@d0 -4@w0 8@[x0, w1, sxtw 2] 8@no_such_symbol 8@[x0, 8]! 3@x0 -4@w0"));

FUNCTION("pass_text", PROBE("text", "8@x0"));

FUNCTION("pass_sites",
	 PROBE("sites", "-4@w0")
	 "mov w11, w1\n"
	 PROBE("sites", "-4@w11")
	 "str x0, [sp, #-16]!\n"
	 PROBE("sites", "-2@[sp]")
	 "add sp, sp, #16\n");

FUNCTION("pass_guarded", "adrp x10, usdt_probes_guarded_semaphore\nadd x10, x10, :lo12:usdt_probes_guarded_semaphore\n"
	 PROBE_WITH("guarded", "8@x0 2@[x10]", "usdt_probes_guarded_semaphore"));

#endif
