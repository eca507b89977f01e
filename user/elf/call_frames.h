// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace argtrace::elf {

/// Where a caller's register is, in the words of DWARF (5, section 6.4.1).
struct RegisterRule {
    enum class How : std::uint8_t { unspecified, undefined, same, offset, val_offset, in_register, expression, val_expression };

    How how = How::unspecified;
    std::int64_t value = 0;      ///< the offset, or the register
    std::string_view expression; ///< DW_OP_...
};

/// Rules are kept of that many registers.
constexpr std::size_t register_count = 17;

/// The registers of a machine, by the numbers that its call frame information has for them.
struct FrameRegisters {
    std::uint64_t first;          ///< of those that rules are kept of
    std::uint64_t limit;          ///< the module's rules name those below it
    std::uint64_t stack_pointer, frame_pointer;
    std::uint64_t return_address; ///< a column of its own, or the register that has it when a function is entered
    bool is_linked;               ///< which of these two: the latter
    /// What a function must preserve, in the order of argtrace_unwind_rule.
    std::span<const std::uint8_t> saved;

    constexpr bool keeps(std::uint64_t number) const { return number - first < register_count; }
    constexpr std::size_t index(std::uint64_t number) const { return static_cast<std::size_t>(number - first); }
};

/// Those of an e_machine; nullptr where its stacks are not unwound.
const FrameRegisters *frame_registers(int machine);

/// One row of the table that call frame information describes.
struct FrameState {
    bool cfa_is_expression = false;
    std::uint64_t cfa_register = 0;
    std::int64_t cfa_offset = 0;
    std::string_view cfa_expression;
    std::array<RegisterRule, register_count> registers; ///< from FrameRegisters::first on
};

/// A section of call frame information.
struct FrameSection {
    std::string_view bytes;
    std::uint64_t address = 0; ///< where it is loaded: pointers may be relative to themselves
    bool is_eh_frame = true;   ///< otherwise .debug_frame
    const FrameRegisters *registers = nullptr;
};

/// What the rows of a function are handed to.
struct FrameVisitor {
    /// A function begins. The visitor says whether it wants the rows.
    std::function<bool(std::uint64_t start, std::uint64_t end)> function;

    /// Its rows, ascending and without gaps; the state is nullptr where it is not known.
    std::function<void(std::uint64_t start, std::uint64_t end, const FrameState *state, bool is_signal_frame)> row;
};

/// Reads the functions of a section in its order. What is damaged is passed over.
void visit_frames(const FrameSection &section, const FrameVisitor &visitor);

} // namespace argtrace::elf
