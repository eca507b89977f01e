// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/user_registers.h"

namespace argtrace {

/// An argument of a USDT probe, as its note has it: "-4@112(%rsp)".
struct UsdtArgument {
    std::string text;
    std::uint8_t bytes = 8; ///< 1, 2, 4, 8; with is_floating 4, 8, 16
    bool is_signed = false;
    bool is_floating = false;
    std::optional<UserOperand> operand = {}; ///< nothing: where it is cannot be read, or is written in a way that is not known

    /// "unsigned char", "long", "double"
    std::string_view type() const;

    bool operator==(const UsdtArgument &) const = default;
};

/// Where a symbol is, as the place of the probe calls it; nothing if it is not known.
using FindSymbol = std::function<std::optional<std::uint64_t>(std::string_view name)>;

/// A probe whose note is read.
struct UsdtPlace {
    int machine; ///< EM_X86_64 or EM_AARCH64; of another no operand is known
    std::uint64_t address;
    FindSymbol find_symbol; ///< asked where an operand of x86-64 names a symbol
};

/// The arguments of a note, in the syntax of GNU as for the machine.
std::vector<UsdtArgument> parse_usdt_arguments(std::string_view note, const UsdtPlace &place);

} // namespace argtrace
