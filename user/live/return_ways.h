// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <vector>

#include "model/probe.h"

namespace argtrace {

/// Where this kernel has no fprobes that argtrace can use, kretprobes follow the calls that it is to follow. Throws Error where
/// what was asked for by --return-by is not there.
void choose_return_ways(const argtrace_info &info, std::vector<Probe> &probes);

/// Says on stderr which of them the kernel follows, and why, unless that was asked for.
void tell_return_ways(const std::vector<Probe> &probes);

} // namespace argtrace
