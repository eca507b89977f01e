// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/probe.h"

namespace argtrace {

/// Appends `probe` to `out` in the layout of struct argtrace_probe, id and flags as they are passed in.
/// Throws Error when the strings or the program are too long for the layout.
void append_probe(std::vector<std::byte> &out, const Probe &probe);

/// The same at another address, with those of its flags that `flags` has.
void append_probe(std::vector<std::byte> &out, const Probe &probe, std::uint64_t addr, std::uint32_t flags);

/// The same with id and flags, as the module lists them.
void append_schema(std::vector<std::byte> &out, const Probe &probe);

/// Reads the `count` probes that lie behind each other in `bytes`.
/// Throws Error when they are malformed: nothing outside `bytes` is read.
std::vector<Probe> parse_probes(std::span<const std::byte> bytes, std::size_t count);

} // namespace argtrace
