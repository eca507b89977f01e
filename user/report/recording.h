// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "util/fd.h"

namespace argtrace {

/// Opens a recording, "-" being stdin. Throws Error.
Fd open_recording(const std::string &path);

/// The size of a regular file.
std::optional<std::uint64_t> size_of(const Fd &file);

/// How many threads read it: `jobs`, or if that is 0 one for each CPU.
unsigned reading_threads(unsigned jobs);

} // namespace argtrace
