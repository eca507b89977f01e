// SPDX-License-Identifier: GPL-2.0-only
#include "abi/go_x86_64.h"

#include <algorithm>
#include <iterator>

#include "abi/calling_convention.h"
#include "abi/go_convention.h"
#include "uapi/argtrace.h"

namespace argtrace {

namespace {

struct GoRegister {
    std::uint8_t index;        // of ARGTRACE_SOURCE_REG
    std::uint8_t dwarf_number; // System V x86-64 psABI, figure 3.36
};

// RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11
constexpr GoRegister go_registers[] = {
    {ARGTRACE_X86_64_RAX, 0}, {ARGTRACE_X86_64_RBX, 3}, {3, 2}, {0, 5}, {1, 4}, {4, 8}, {5, 9}, {ARGTRACE_X86_64_R10, 10}, {ARGTRACE_X86_64_R11, 11},
};
constexpr std::size_t floating_registers = 15; // X0 to X14

} // namespace

std::vector<GoParts> go_x86_64(std::span<const GoParts> values) {
    std::uint8_t indexes[std::size(go_registers)];
    std::ranges::transform(go_registers, indexes, &GoRegister::index);
    return place_go(values, indexes, floating_registers);
}

std::optional<std::uint8_t> go_vector_x86_64(unsigned dwarf_number) {
    constexpr unsigned first = dwarf_registers_x86_64.first_vector;
    if (dwarf_number < first || dwarf_number >= first + floating_registers)
        return std::nullopt;
    return static_cast<std::uint8_t>(dwarf_number - first);
}

std::optional<std::uint8_t> go_register_x86_64(unsigned dwarf_number) {
    const auto found = std::ranges::find(go_registers, dwarf_number, &GoRegister::dwarf_number);
    if (found == std::end(go_registers))
        return std::nullopt;
    return found->index;
}

} // namespace argtrace
