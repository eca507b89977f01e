// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "uapi/probe.h"

namespace argtrace {

/// The addresses of the probes that the user's words (names, or globs) mean, each once.
/// Throws Error, with a near match, when a word means none of them.
std::vector<std::uint64_t> select_addresses(std::span<const Probe> probes,
                                            std::span<const std::string> words);

} // namespace argtrace
