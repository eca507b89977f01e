// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/display_types.h"
#include "lang/types.h"

namespace argtrace::lang {

/// The constants whose names match the glob, as flags: enumerators of BTF, well-known macros and the
/// flags whose bits BTF numbers, by name. Numbers of bits (___GFP_IO_BIT) are none. Of enumerators that are 0 there may
/// be any number of unrelated ones: they are left out unless `zero`. "A_*|B_*" are those that match either glob.
std::vector<FlagName> flag_names(const Types &types, std::string_view glob, bool zero);

/// Those of the enum that has this enumerator, in its order; none if there is no such enumerator.
std::vector<FlagName> enumerators_beside(const Types &types, std::string_view enumerator);

/// Leaves out those that a value of so many bytes cannot have.
void drop_too_large(std::vector<FlagName> &flags, std::uint64_t bytes);

/// Two of them that have one value and nothing to do with each other: they are of different enums, or are macros of different
/// families. A value could not be told by them.
std::optional<std::pair<FlagName, FlagName>> find_ambiguous(const Types &types, std::span<const FlagName> flags);

} // namespace argtrace::lang
