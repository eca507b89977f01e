// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "spec/kernel.h"
#include "util/error.h"

namespace argtrace {

/// Why ftrace does not take that function.
Error why_untraceable(Kernel &kernel, const Symbol &symbol);

} // namespace argtrace
