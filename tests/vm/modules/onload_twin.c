// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>

#include "onload.h"
#include "onload_twin.h"

static noinline __attribute__((__noipa__)) void ol_twin(u32 number)
{
	barrier();
}

void ol_call_other_twin(void)
{
	ol_twin(OL_TWIN_TWO);
}
