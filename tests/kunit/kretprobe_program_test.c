// SPDX-License-Identifier: GPL-2.0-only
/* Programs of calls that a kretprobe of the kernel follows for us. */
#define FOLLOWED_BY	ARGTRACE_PROBE_BY_KRETPROBE
#define SUITE		"argtrace_kretprobe_program"
#include "return_program_test.c"
