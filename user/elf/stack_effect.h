// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <Zydis/Zydis.h>

#include "elf/call_frames.h"
#include "uapi/argtrace_user.h"

namespace argtrace::elf {

/// What is known in a function of its frame: where the stack pointer is, and the registers that it must preserve. It begins as called.
struct StackState {
    std::int64_t height = 8; ///< CFA - stack pointer, in bytes
    bool is_height_known = true;
    std::optional<std::int64_t> frame = {}; ///< CFA - frame pointer, if that is a frame's
    std::array<std::int64_t, ARGTRACE_UNWIND_SAVED_X86_64> saved = {}; ///< at CFA + so much; 0: nowhere
    std::array<bool, ARGTRACE_UNWIND_SAVED_X86_64> is_overwritten = {};

    bool operator==(const StackState &) const = default;

    /// As when the function was called, and so as it has to return.
    bool is_as_called() const { return is_height_known && height == StackState().height && saved == StackState().saved; }

    /// Keeps what is so on another way to the same instruction as well: by a frame pointer, the stack pointer may be anywhere. False: that way has
    /// another frame.
    bool merge(StackState other);
};

/// One instruction of x86-64 after the other, and what each does to the stack.
class StackEffect {
public:
    explicit StackEffect(const FrameRegisters &registers);

    /// False: it is none.
    bool decode(std::string_view code);

    std::uint8_t size() const { return is_.length; }

    enum class Flow { on, branches, jumps, calls, ends, returns };
    Flow flow() const;

    /// Where a branch, a jump or a call leads, from the end of the instruction on; nothing if a register or memory says so.
    std::optional<std::int64_t> distance() const;

    /// What it does. False: where the stack pointer is, or what a register of the caller's had, is no longer known.
    bool apply(StackState &state) const;

    FrameState frame_state(const StackState &state) const;

private:
    bool is_register(const ZydisDecodedOperand &operand, std::uint64_t number) const;
    std::optional<std::size_t> preserved(const ZydisDecodedOperand &operand) const;
    std::optional<std::int64_t> slot(const ZydisDecodedOperand &operand, const StackState &state) const;
    bool move(StackState &state, const ZydisDecodedOperand &to, const ZydisDecodedOperand &from) const;
    bool load(StackState &state, const ZydisDecodedOperand &to, std::optional<std::int64_t> at) const;
    bool restore(StackState &state, std::size_t reg, std::int64_t at) const;
    bool write(StackState &state, std::size_t reg, std::optional<std::int64_t> frame) const;
    bool overwrite(StackState &state) const;

    const FrameRegisters &registers_;
    std::size_t frame_index_; ///< of the frame pointer in StackState::saved
    ZydisDecoder decoder_;
    ZydisDecodedInstruction is_ = {};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_ = {};
};

} // namespace argtrace::elf
