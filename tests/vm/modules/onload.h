/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions of argtrace_onload.ko, what its init function calls them with, and what they return. */
#ifndef ARGTRACE_ONLOAD_TEST_H
#define ARGTRACE_ONLOAD_TEST_H

#define OL_FIRST_A	0xa7
#define OL_FIRST_B	(-123456789012345ll)
#define OL_PREPARE_STEP	7u
#define OL_PREPARE_MODE	2	/* OL_CAREFUL */
#define OL_PREPARE_RESULT	1234
#define OL_LATER_RESULT(number)	((number) * 3 - 1000)
#define OL_TWIN_ONE	111
#define OL_TWIN_TWO	222

#endif
