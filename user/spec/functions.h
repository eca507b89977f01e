// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <span>
#include <string>
#include <vector>

#include "spec/kernel.h"
#include "util/error.h"

namespace argtrace {

/// A function of the kernel: where it is and what it takes.
struct Function {
    Symbol symbol; ///< its strings are owned by Kernel::symbols()
    Prototype prototype;
};

/// The functions of exactly that name: one, or one in each of several modules. Does not
/// look whether ftrace can trace them. Throws Error, which says why there is none.
std::vector<Function> functions_named(Kernel &kernel, const std::string &name);

/// The functions that match, can be traced and are described by BTF, by name.
/// Throws Error when there are none.
std::vector<Function> functions_matching(Kernel &kernel, const std::string &glob);

/// What functions_matching() finds for each glob of `specs`, and functions_named() for each
/// name, which must be traceable; by name, each once. Throws Error when one of the specs
/// comes to nothing.
std::vector<Function> traceable_functions(Kernel &kernel, std::span<const std::string> specs);

/// Why ftrace does not take that function.
Error why_untraceable(Kernel &kernel, const Symbol &symbol);

} // namespace argtrace
