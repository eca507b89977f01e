// SPDX-License-Identifier: GPL-2.0-only
#include "elf/stack_effect.h"

#include <algorithm>

#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::int64_t stack_word = 8;

/// By a part of a register the whole is meant.
std::optional<std::uint8_t> number_of(ZydisRegister reg) {
    return dwarf_number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg));
}

// As long as it has what the caller had in it.
void save(StackState &state, std::size_t reg, std::int64_t at) {
    if (!state.is_overwritten[reg] && state.saved[reg] == 0)
        state.saved[reg] = at;
}

bool lose_height(StackState &state) {
    state.is_height_known = false;
    state.height = 0;
    return state.frame.has_value();
}

} // namespace

bool StackState::merge(StackState other) {
    if (frame && frame == other.frame && (height != other.height || is_height_known != other.is_height_known)) {
        lose_height(*this);
        lose_height(other);
    }
    for (std::size_t reg = 0; reg < is_overwritten.size(); reg++)
        is_overwritten[reg] = other.is_overwritten[reg] = is_overwritten[reg] || other.is_overwritten[reg];
    return other == *this;
}

StackEffect::StackEffect(const FrameRegisters &registers)
    : registers_(registers),
      frame_index_(static_cast<std::size_t>(std::ranges::find(registers.saved, registers.frame_pointer) - registers.saved.begin())) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

bool StackEffect::decode(std::string_view code) {
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &is_, operands_.data()));
}

StackEffect::Flow StackEffect::flow() const {
    switch (is_.meta.category) {
    case ZYDIS_CATEGORY_RET:
        return Flow::returns;
    case ZYDIS_CATEGORY_CALL:
        return Flow::calls;
    case ZYDIS_CATEGORY_COND_BR:
        return Flow::branches;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return Flow::jumps;
    default:
        break;
    }
    const bool is_end = is_.mnemonic == ZYDIS_MNEMONIC_UD2 || is_.mnemonic == ZYDIS_MNEMONIC_HLT || is_.mnemonic == ZYDIS_MNEMONIC_INT3;
    return is_end ? Flow::ends : Flow::on;
}

std::optional<std::int64_t> StackEffect::distance() const {
    return branch_distance(is_, operands_.data());
}

bool StackEffect::is_register(const ZydisDecodedOperand &operand, std::uint64_t number) const {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.size == 64 && number_of(operand.reg.value) == number;
}

// Its place in StackState::saved.
std::optional<std::size_t> StackEffect::preserved(const ZydisDecodedOperand &operand) const {
    const auto number = operand.type == ZYDIS_OPERAND_TYPE_REGISTER ? number_of(operand.reg.value) : std::nullopt;
    const auto found = number ? std::ranges::find(registers_.saved, *number) : registers_.saved.end();
    return found == registers_.saved.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - registers_.saved.begin()));
}

// From CFA on, of an operand in the frame.
std::optional<std::int64_t> StackEffect::slot(const ZydisDecodedOperand &operand, const StackState &state) const {
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY || operand.mem.index != ZYDIS_REGISTER_NONE || operand.mem.segment == ZYDIS_REGISTER_FS ||
        operand.mem.segment == ZYDIS_REGISTER_GS)
        return std::nullopt;
    const auto base = number_of(operand.mem.base);
    if (base == registers_.stack_pointer && state.is_height_known)
        return operand.mem.disp.value - state.height;
    if (base == registers_.frame_pointer && state.frame)
        return operand.mem.disp.value - *state.frame;
    return std::nullopt;
}

bool StackEffect::apply(StackState &state) const {
    const ZydisDecodedOperand &to = operands_[0], &from = operands_[1];
    switch (is_.mnemonic) {
    case ZYDIS_MNEMONIC_PUSH:
    case ZYDIS_MNEMONIC_PUSHFQ:
        state.height += to.type == ZYDIS_OPERAND_TYPE_REGISTER && to.size == 16 ? 2 : stack_word;
        if (const auto reg = is_.mnemonic == ZYDIS_MNEMONIC_PUSH && state.is_height_known ? preserved(to) : std::nullopt)
            save(state, *reg, -state.height);
        return true;
    case ZYDIS_MNEMONIC_POPFQ:
        state.height -= stack_word;
        return true;
    case ZYDIS_MNEMONIC_POP: {
        const std::int64_t at = -state.height;
        state.height -= to.size == 16 ? 2 : stack_word;
        return is_register(to, registers_.stack_pointer) ? false : load(state, to, state.is_height_known ? std::optional(at) : std::nullopt);
    }
    case ZYDIS_MNEMONIC_LEAVE:
        if (!state.frame)
            return false;
        state.is_height_known = true;
        state.height = *state.frame - stack_word;
        return restore(state, frame_index_, -*state.frame);
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        if (!is_register(to, registers_.stack_pointer))
            break;
        if (from.type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
            return lose_height(state);
        state.height += is_.mnemonic == ZYDIS_MNEMONIC_SUB ? from.imm.value.s : -from.imm.value.s;
        return true;
    case ZYDIS_MNEMONIC_LEA:
    case ZYDIS_MNEMONIC_MOV:
        return move(state, to, from);
    default:
        break;
    }
    return overwrite(state);
}

bool StackEffect::move(StackState &state, const ZydisDecodedOperand &to, const ZydisDecodedOperand &from) const {
    const bool is_address = is_.mnemonic == ZYDIS_MNEMONIC_LEA;
    std::optional<std::int64_t> value; ///< a place on the stack, from CFA on
    if (is_address)
        value = slot(from, state);
    else if (is_register(from, registers_.stack_pointer) && state.is_height_known)
        value = -state.height;
    else if (is_register(from, registers_.frame_pointer) && state.frame)
        value = -*state.frame;
    if (is_register(to, registers_.stack_pointer)) {
        state.is_height_known = value.has_value();
        state.height = value ? -*value : 0;
        return value || state.frame;
    }
    if (is_register(to, registers_.frame_pointer) && value)
        return write(state, frame_index_, -*value);
    if (!is_address && to.type == ZYDIS_OPERAND_TYPE_MEMORY) {
        const auto reg = to.size == 64 ? preserved(from) : std::nullopt;
        const auto at = slot(to, state);
        if (reg && at && *at < 0)
            save(state, *reg, *at);
        return true;
    }
    return load(state, to, is_address ? std::nullopt : slot(from, state));
}

// A register gets what is in the frame there.
bool StackEffect::load(StackState &state, const ZydisDecodedOperand &to, std::optional<std::int64_t> at) const {
    const auto reg = preserved(to);
    if (!reg)
        return !(to.type == ZYDIS_OPERAND_TYPE_REGISTER && number_of(to.reg.value) == registers_.stack_pointer);
    return at && to.size == 64 && state.saved[*reg] == *at ? restore(state, *reg, *at) : write(state, *reg, std::nullopt);
}

bool StackEffect::restore(StackState &state, std::size_t reg, std::int64_t at) const {
    if (state.saved[reg] != at)
        return write(state, reg, std::nullopt);
    state.saved[reg] = 0;
    state.is_overwritten[reg] = false;
    if (reg == frame_index_)
        state.frame.reset();
    return state.is_height_known;
}

// What the caller had in it must be somewhere else by then.
bool StackEffect::write(StackState &state, std::size_t reg, std::optional<std::int64_t> frame) const {
    state.is_overwritten[reg] = true;
    if (reg == frame_index_)
        state.frame = frame;
    return state.saved[reg] != 0 && (state.is_height_known || state.frame);
}

bool StackEffect::overwrite(StackState &state) const {
    for (std::size_t i = 0; i < is_.operand_count; i++) {
        const ZydisDecodedOperand &operand = operands_[i];
        if (!(operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) || operand.type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        if (const auto reg = preserved(operand); reg && !write(state, *reg, std::nullopt))
            return false;
        if (number_of(operand.reg.value) == registers_.stack_pointer && !lose_height(state))
            return false;
    }
    return true;
}

FrameState StackEffect::frame_state(const StackState &state) const {
    FrameState frame;
    frame.cfa_register = state.is_height_known ? registers_.stack_pointer : registers_.frame_pointer;
    frame.cfa_offset = state.is_height_known ? state.height : *state.frame;
    frame.registers[registers_.index(registers_.return_address)] = {RegisterRule::How::offset, -stack_word, {}};
    for (std::size_t i = 0; i < state.saved.size(); i++)
        if (state.saved[i] != 0)
            frame.registers[registers_.index(registers_.saved[i])] = {RegisterRule::How::offset, state.saved[i], {}};
    return frame;
}

} // namespace argtrace::elf
