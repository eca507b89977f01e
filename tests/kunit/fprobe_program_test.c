// SPDX-License-Identifier: GPL-2.0-only
/* Programs of calls that an fprobe of the kernel follows for us. */
#define FOLLOWED_BY	ARGTRACE_PROBE_BY_FPROBE
#define SUITE		"argtrace_fprobe_program"
#include "return_program_test.c"
