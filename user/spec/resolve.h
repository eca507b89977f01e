// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <vector>

#include "model/probe.h"
#include "spec/functions.h"
#include "spec/kernel.h"
#include "util/error.h"

namespace argtrace {

struct Resolved {
    std::vector<Probe> probes;
    std::vector<std::string> left; ///< a sentence for what has been left out, and why
};

/// The probes that the user's words stand for, see find_functions(), in their order, each
/// address once. A name does not need tracefs: whether ftrace takes its address is for the
/// module to say, see explain_refusal().
///
/// Throws Error, which names the spec and says why.
Resolved resolve(Kernel &kernel, const Request &request);

/// Throws Error when there is nothing to trace.
void check_any(const Resolved &resolved);

/// The probe of one function as far as it does not depend on what becomes of its calls: without
/// arguments, types and program.
Probe begin_probe(const Function &function);

/// The probe of one function, which records all values that are wanted and can be recorded.
/// Arguments that are not wanted are not in it.
Probe make_probe(const Function &function);

/// The values that are wanted, and where they are.
std::vector<Argument> wanted_arguments(const Function &function);

/// Why the module refused this probe's address (-EINVAL).
Error explain_refusal(Kernel &kernel, const Probe &probe);

} // namespace argtrace
