// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "btf/external.h"
#include "btf/kernel_types.h"
#include "modules/module_file.h"

namespace argtrace {

/// The types that a module's file has; null if it has none. Throws Error, which names the file,
/// when they do not fit `kernel`.
BtfPtr types_of(const ModuleFile &module, btf *kernel);

/// What --btf names: a module's file, packed or not, or another one. Throws Error, which names it,
/// when it cannot be read, has no types, or types that do not fit `kernel`.
BtfPtr types_of(const ExternalBtf &external, btf *kernel);

} // namespace argtrace
