// SPDX-License-Identifier: GPL-2.0-only
/* Calls that a kretprobe of the kernel follows for us: the tests of return_test.c. */
#define FOLLOWED_BY	ARGTRACE_PROBE_BY_KRETPROBE
#define SUITE		"argtrace_kretprobe"
#include "return_test.c"
