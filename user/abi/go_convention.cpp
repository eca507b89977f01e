// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_convention.h"

#include <algorithm>
#include <cstddef>

#include <elf.h>

#include "abi/calling_convention.h"
#include "uapi/argtrace.h"

namespace argtrace {

namespace {

// RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11; X0 to X14
constexpr GoRegister registers_x86_64[] = {
    {ARGTRACE_X86_64_RAX, 0}, {ARGTRACE_X86_64_RBX, 3}, {3, 2}, {0, 5}, {1, 4}, {4, 8}, {5, 9}, {ARGTRACE_X86_64_R10, 10}, {ARGTRACE_X86_64_R11, 11},
};

// R0 to R15; F0 to F15
constexpr GoRegister registers_arm64[] = {{0, 0}, {1, 1}, {2, 2},   {3, 3},   {4, 4},   {5, 5},   {6, 6},   {7, 7},
                                          {8, 8}, {9, 9}, {10, 10}, {11, 11}, {12, 12}, {13, 13}, {14, 14}, {15, 15}};

} // namespace

constexpr GoConvention go_convention_x86_64{registers_x86_64, 15, dwarf_registers_x86_64};
constexpr GoConvention go_convention_arm64{registers_arm64, 16, dwarf_registers_aapcs64};

const GoConvention &go_convention(int machine) {
    return machine == EM_AARCH64 ? go_convention_arm64 : go_convention_x86_64;
}

std::vector<GoParts> GoConvention::place(std::span<const GoParts> values) const {
    std::vector<GoParts> placed(values.begin(), values.end());
    std::size_t integers = 0, floatings = 0;
    for (GoParts &parts : placed) {
        if (!parts)
            continue;
        const auto wanted = static_cast<std::size_t>(std::ranges::count_if(*parts, &RegisterPart::is_floating));
        // All of it or nothing: what comes behind it may still fit.
        if (integers + parts->size() - wanted > registers.size() || floatings + wanted > vectors) {
            parts.reset();
            continue;
        }
        for (RegisterPart &part : *parts)
            part.index = part.is_floating ? static_cast<std::uint8_t>(floatings++) : registers[integers++].index;
    }
    return placed;
}

std::optional<std::uint8_t> GoConvention::register_by_dwarf(unsigned number) const {
    const auto found = std::ranges::find(registers, number, &GoRegister::dwarf_number);
    if (found == registers.end())
        return std::nullopt;
    return found->index;
}

std::optional<std::uint8_t> GoConvention::vector_by_dwarf(unsigned number) const {
    const auto vector = dwarf_registers.vector(number);
    return vector && *vector < vectors ? vector : std::nullopt;
}

} // namespace argtrace
