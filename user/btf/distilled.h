// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string>
#include <string_view>

#include "btf/kernel_types.h"

namespace argtrace {

/// Reads the BTF of a module that was built outside the kernel's tree: it builds on `base` (the
/// module's .BTF.base), which names those types of the kernel that it needs. As the kernel does
/// when it loads the module (lib/bpf/btf_relocate.c), they are found in `kernel`, and what `types`
/// refers to is what was found. Throws Error, which names `path`, when either is damaged, or when
/// one of the types is not there, or in several forms of which none can be told to be the right
/// one.
BtfPtr load_distilled(std::string_view types, std::string_view base, const std::string &path,
                      btf *kernel);

} // namespace argtrace
