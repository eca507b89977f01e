// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "abi/go_convention.h"
#include "btf/prototype.h"
#include "spec/functions.h"

namespace argtrace {

/// Where a function of Go has its arguments when it is entered, and what it returns, where argtrace reads that. Those that DWARF describes have
/// a GoValue; of others, each that is a number or a pointer is taken to be in the next register. `passed_bytes`: how many bytes above its return
/// address the program says are for both; where all of them are accounted for, what lies there is known.
UsdtSite go_site(const GoConvention &convention, const Prototype &prototype, std::optional<std::uint32_t> passed_bytes = {});

/// Gives parameters whose names mean something else in expressions, or are none there, other names: "arg1"; and writes the prototype as Go does.
void name_as_go(Prototype &prototype);

} // namespace argtrace
