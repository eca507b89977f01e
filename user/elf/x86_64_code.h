// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <Zydis/Zydis.h>

namespace argtrace::elf {

/// DWARF's number of a whole register for integers (x86-64 psABI, figure 3.36), whose order in instructions is another; nothing of any other register.
inline std::optional<std::uint8_t> dwarf_number_of(ZydisRegister reg) {
    constexpr std::array<std::uint8_t, 16> numbers = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    if (reg < ZYDIS_REGISTER_RAX || reg > ZYDIS_REGISTER_R15)
        return std::nullopt;
    return numbers[static_cast<std::size_t>(reg - ZYDIS_REGISTER_RAX)];
}

/// How far a branch, a jump or a call leads from its own end; nothing if a register or memory says so.
inline std::optional<std::int64_t> branch_distance(const ZydisDecodedInstruction &instruction, const ZydisDecodedOperand *operands) {
    if (instruction.operand_count_visible == 0 || operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operands[0].imm.is_relative)
        return std::nullopt;
    return operands[0].imm.value.s;
}

} // namespace argtrace::elf
