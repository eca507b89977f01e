// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "modules/module_file.h"
#include "spec/kernel.h"
#include "spec/resolve.h"

namespace argtrace {

/// What is known of a module that is yet to be loaded, from its file. Its types are those in the
/// file, unless use_btf() names another one.
Kernel kernel_of(ModuleFile module);

/// Probes for functions of that module, see resolve(). Their addresses are 0; a name is there
/// as often as functions share it.
///
/// Throws Error as resolve() does, and when one that is named cannot be traced.
Resolved resolve_on_load(Kernel &module, const Request &request);

/// The functions of that module, see list_functions(). They have no address.
Found list_on_load(Kernel &module, const Request &request);

} // namespace argtrace
