// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/functions.h"
#include "spec/kernel.h"
#include "uapi/probe.h"
#include "util/error.h"

namespace argtrace {

/// The probes that the user's words stand for, in their order, each address once.
///
/// A spec is a function's name, see functions_named(), or a glob of `*` and `?`, see
/// functions_matching(). A name does not need tracefs: whether ftrace takes its address is
/// for the module to say, see explain_refusal().
///
/// Throws Error, which names the spec and says why.
std::vector<Probe> resolve(Kernel &kernel, std::span<const std::string> specs);

/// The probe of one function, which records all arguments that can be recorded.
Probe make_probe(const Function &function);

/// Why the module refused this probe's address (-EINVAL).
Error explain_refusal(Kernel &kernel, const Probe &probe);

} // namespace argtrace
