// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elf/dwarf_file.h"

namespace argtrace::dwarf {

/// What DWARF says of types that Go's runtime has of its own.
struct GoTypes {
    std::optional<std::uint32_t> goroutine_id; ///< the offset of g.goid
    std::optional<std::uint32_t> beginning;    ///< that of g.gopc
    std::optional<std::uint32_t> m, g0, curg;  ///< those of g.m, m.g0 and m.curg
    std::vector<std::uint64_t> texts;          ///< see GoProgram

    bool operator==(const GoTypes &) const = default;
};

/// Goes through the types of the program, which takes some milliseconds for 10,000 of them.
GoTypes go_types(const elf::DwarfFile &file);

} // namespace argtrace::dwarf
