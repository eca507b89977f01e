// SPDX-License-Identifier: GPL-2.0-only
/* Calls that an fprobe of the kernel follows for us: the tests of return_test.c. */
#define FOLLOWED_BY	ARGTRACE_PROBE_BY_FPROBE
#define SUITE		"argtrace_fprobe"
#include "return_test.c"
