// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one function of the module that is compiled to be traced, so that it can be tried whether
 * returns can be followed.
 */
#include <linux/compiler.h>

#include "source/returns/returns.h"

__attribute__((__noipa__)) unsigned long argtrace_return_trial(void)
{
	return (unsigned long)__builtin_return_address(0);
}
