// SPDX-License-Identifier: GPL-2.0-only
#include "base/recursion.h"

/* One bit for each level of interrupt_context_level(). */
DEFINE_PER_CPU(u8, argtrace_recursion);
