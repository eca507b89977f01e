// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/probe.h"
#include "spec/spec.h"

namespace argtrace {

/// The addresses of the probes that the specs (names, patterns, and with `!` those to keep)
/// mean, each once. Throws Error, with a near match, when one means none of them, and when
/// one names a module or arguments, which do not tell probes apart.
std::vector<ProbePlace> select_places(std::span<const Probe> probes,
                                            std::span<const Spec> specs);

} // namespace argtrace
