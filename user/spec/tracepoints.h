// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "spec/functions.h"
#include "spec/kernel.h"
#include "spec/spec.h"

namespace argtrace {

struct FoundTracepoints {
    std::vector<Function> tracepoints;    ///< by name
    std::vector<std::string> undescribed; ///< titles of those whose arguments BTF does not describe
};

/// The tracepoints that `spec` means, with their prototypes. A kernel has a function __traceiter_NAME() for each tracepoint,
/// which passes its arguments on, and by which the module knows it.
///
/// Throws Error, which says why, if there is none.
FoundTracepoints find_tracepoints(Kernel &kernel, const Spec &spec);

} // namespace argtrace
