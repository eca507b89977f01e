// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include <elfutils/libdw.h>

#include "elf/object.h"
#include "model/code_naming.h"

namespace argtrace::elf {

/// The DWARF of an object, in its own file or in its separate debug file, read by libdw. Not for several threads at once.
class DwarfFile {
public:
    /// Nothing if there is no DWARF. The object may end before.
    static std::optional<DwarfFile> open(const Object &object, const DebugFiles &debug_files = {});

    Dwarf *dwarf() const { return dwarf_.get(); }

    /// How much larger the object's addresses are than those of DWARF.
    std::uint64_t bias() const { return bias_; }

    /// The compilation unit that has the code at an address of DWARF; false if there is none.
    bool unit_at(std::uint64_t address, Dwarf_Die &unit) const;

    /// The DIEs of all units, in the order of the file.
    std::vector<Dwarf_Die> units() const;

private:
    /// The code of a compilation unit, or a part of it.
    struct UnitRange {
        std::uint64_t start, end;
        std::uint64_t unit; ///< where its DIE is
    };

    DwarfFile() = default;

    Fd file_;    ///< of the object, or of the debug file
    Text image_; ///< of a file that is in memory
    std::unique_ptr<Elf, int (*)(Elf *)> elf_{nullptr, elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf *)> dwarf_{nullptr, dwarf_end};
    std::vector<UnitRange> unit_ranges_; ///< by beginning
    std::uint64_t bias_ = 0;
};

/// Calls `take` with each range of code that a DIE has.
template<typename Take>
void for_each_range(Dwarf_Die &die, const Take &take) {
    Dwarf_Addr base = 0, start = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
        if (start < end)
            take(start, end);
}

constexpr int nesting_max = 128;

/// Calls `visit` with the DIEs below a DIE in the order of the file, and goes below those for which it returns true. `passed` is where the
/// last one was: in a damaged file siblings may be said to be where others are.
template<typename Visit>
void visit_below(Dwarf_Die &parent, std::uint64_t &passed, int depth, const Visit &visit) {
    Dwarf_Die die;
    if (depth == nesting_max || dwarf_child(&parent, &die) != 0)
        return;
    do {
        if (dwarf_dieoffset(&die) <= passed)
            return;
        passed = dwarf_dieoffset(&die);
        if (visit(die))
            visit_below(die, passed, depth + 1, visit);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/// The last of the ranges, which are in order, that begins at or before the address, if it has it; else null.
template<typename Ranges>
auto *range_of(Ranges &ranges, std::uint64_t address) {
    const auto behind = std::upper_bound(ranges.begin(), ranges.end(), address, [](std::uint64_t at, const auto &range) { return at < range.start; });
    return behind == ranges.begin() || address >= std::prev(behind)->end ? nullptr : &*std::prev(behind);
}

template<typename Ranges>
void sort_ranges(Ranges &ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto &a, const auto &b) { return a.start < b.start; });
}

} // namespace argtrace::elf
