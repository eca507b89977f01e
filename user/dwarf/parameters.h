// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>
#include <vector>

#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// A parameter as the source has it.
struct SourceParameter {
    Dwarf_Die declared;           ///< which has its name and type
    std::optional<Dwarf_Die> own; ///< what this body of the function says of it; nothing: it is not passed any more
};

/// Those of a function, in the order in which the source has them. A body that the compiler made of another one may have them in another order, and
/// fewer. Parameters that the compiler adds are among them if they are passed, such as `this`.
std::vector<SourceParameter> source_parameters(Dwarf_Die &function);

/// "..." follows them.
bool is_variadic(Dwarf_Die &function);

} // namespace argtrace::dwarf
