// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace argtrace::elf {

/// Where a caller's register is, in the words of DWARF (5, section 6.4.1).
struct RegisterRule {
    enum class How : std::uint8_t { unspecified, undefined, same, offset, val_offset, in_register, expression, val_expression };

    How how = How::unspecified;
    std::int64_t value = 0;      ///< the offset, or the register
    std::string_view expression; ///< DW_OP_...
};

/// The registers that rules are kept of: those that psABI numbers 0 to 15, and the return address.
constexpr std::size_t register_count = 17;
constexpr std::size_t rsp = 7, return_address = 16;

/// One row of the table that call frame information describes.
struct FrameState {
    bool cfa_is_expression = false;
    std::uint64_t cfa_register = 0;
    std::int64_t cfa_offset = 0;
    std::string_view cfa_expression;
    std::array<RegisterRule, register_count> registers;
};

/// A section of call frame information.
struct FrameSection {
    std::string_view bytes;
    std::uint64_t address = 0; ///< where it is loaded: pointers may be relative to themselves
    bool is_eh_frame = true;   ///< otherwise .debug_frame
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
