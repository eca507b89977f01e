// SPDX-License-Identifier: GPL-2.0-only
#pragma once

namespace argtrace {

/// How many CPUs this machine may ever have: one more than the highest number of one.
unsigned possible_cpus();

} // namespace argtrace
