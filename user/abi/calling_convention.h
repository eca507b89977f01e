// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>
#include <vector>

#include "btf/prototype.h"
#include "uapi/probe.h"

namespace argtrace {

/// Where the parameters of a function lie when it is entered, and what the module is to
/// record of them: one Argument for each named parameter, in order. What this version
/// cannot record has ARGTRACE_LOC_NONE; the places of all others are right all the same.
using CallingConvention = std::vector<Argument>(const Prototype &prototype);

/// System V Application Binary Interface, AMD64 supplement, 3.2.3 (x86-64).
CallingConvention sysv_x86_64;

/// Where sysv_x86_64() found that argument: "rdi"; "not recorded".
std::string_view sysv_x86_64_location(const Argument &argument);

} // namespace argtrace
