// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <optional>

#include <dwarf.h>
#include <elfutils/libdw.h>

namespace argtrace::dwarf {

/// The register that a value is in.
inline std::optional<unsigned> register_of(const Dwarf_Op &operation) {
    if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31)
        return operation.atom - DW_OP_reg0;
    if (operation.atom == DW_OP_regx)
        return static_cast<unsigned>(operation.number);
    return std::nullopt;
}

} // namespace argtrace::dwarf
