// SPDX-License-Identifier: GPL-2.0-only
#include "arch/text.h"
#include "base/kernel_calls.h"

unsigned long argtrace_ftrace_caller = -1ul;
const u32 *argtrace_graph_call;

void argtrace_text_init(void)
{
	argtrace_ftrace_caller = argtrace_kernel_address("ftrace_caller") ?: -1ul;
	argtrace_graph_call = (const u32 *)argtrace_kernel_address("ftrace_graph_call");
}
