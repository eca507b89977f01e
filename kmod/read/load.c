// SPDX-License-Identifier: GPL-2.0-only
#include <linux/uaccess.h>

#include "read/absent.h"
#include "read/load.h"

DEFINE_PER_CPU(struct argtrace_absent, argtrace_absent);

bool argtrace_load_user(u64 addr, unsigned int width, u64 *value)
{
	*value = 0;
	if (!argtrace_is_user_address(addr))
		return false;
	if (likely(!copy_from_user_nofault(value, (const void __user *)addr, width)))
		return true;
	argtrace_absent_note(addr, width);
	return false;
}
