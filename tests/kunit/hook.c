// SPDX-License-Identifier: GPL-2.0-only
#include <linux/compiler.h>

#include "base/hook.h"

void (*argtrace_kunit_hook)(enum argtrace_hook at);
