// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include "symbols/kernel_layout.h"

struct btf;

namespace argtrace {

/// As the kernel's BTF has it. Nothing if it describes one of these structures otherwise, or not at all.
std::optional<KernelLayout> layout_of(const btf *kernel);

} // namespace argtrace
