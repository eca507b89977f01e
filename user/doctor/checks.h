// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "doctor/finding.h"
#include "doctor/machine.h"

namespace argtrace {

// Each adds what it finds.

/// Version, faults that it has had, types, lockdown, clock: checks of the kernel itself.
void check_kernel(const Machine &machine, std::vector<Finding> &findings);

/// What it can trace: functions, tracepoints, returns, stacks, processors; and who else does.
void check_tracing(const Machine &machine, std::vector<Finding> &findings);

/// argtrace's module, and what this process may do with it.
void check_module(const Machine &machine, std::vector<Finding> &findings);

/// All of them.
std::vector<Finding> examine(const Machine &machine);

} // namespace argtrace
