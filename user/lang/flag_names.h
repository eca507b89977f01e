// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <string_view>
#include <vector>

#include "btf/display_types.h"
#include "lang/types.h"

namespace argtrace::lang {

/// The constants whose names match the glob, as flags: enumerators of BTF, well-known macros and the
/// flags of GFP, by name. Numbers of bits (___GFP_IO_BIT) are none. Of enumerators that are 0 there may
/// be any number of unrelated ones: they are left out unless `zero`.
std::vector<FlagName> flag_names(const Types &types, std::string_view glob, bool zero);

} // namespace argtrace::lang
