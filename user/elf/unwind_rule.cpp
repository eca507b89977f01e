// SPDX-License-Identifier: GPL-2.0-only
#include "elf/unwind_rule.h"

#include <array>
#include <cstddef>
#include <type_traits>

#include <dwarf.h>

#include "elf/byte_reader.h"

namespace argtrace::elf {

namespace {

using How = RegisterRule::How;

/// A register and what is added to it.
struct Place {
    std::uint8_t reg;
    std::int32_t offset;
};

std::optional<Place> place(std::uint64_t reg, std::int64_t offset) {
    if (!fits<std::uint8_t>(static_cast<std::int64_t>(reg)) || !fits<std::int32_t>(offset))
        return std::nullopt;
    return Place{static_cast<std::uint8_t>(reg), static_cast<std::int32_t>(offset)};
}

/// DW_OP_bregN OFFSET, and plus_uconst behind it.
std::optional<Place> read_place(ByteReader &reader) {
    const auto code = reader.number<std::uint8_t>();
    std::uint64_t reg = 0;
    if (code >= DW_OP_breg0 && code <= DW_OP_breg31)
        reg = code - DW_OP_breg0;
    else if (code == DW_OP_bregx)
        reg = reader.uleb();
    else
        return std::nullopt;
    const std::int64_t offset = reader.sleb();
    return reader.failed() ? std::nullopt : place(reg, offset);
}

/// What is added to the number on the stack up to the expression's end: nothing, or a constant.
std::optional<std::int64_t> read_addend(ByteReader &reader) {
    if (reader.at_end())
        return 0;
    const auto code = reader.number<std::uint8_t>();
    std::int64_t number = 0;
    if (code == DW_OP_plus_uconst) {
        const std::uint64_t constant = reader.uleb();
        if (reader.failed() || !reader.at_end() || constant > INT32_MAX)
            return std::nullopt;
        return static_cast<std::int64_t>(constant);
    }
    if (code >= DW_OP_lit0 && code <= DW_OP_lit31)
        number = code - DW_OP_lit0;
    else if (code == DW_OP_const1u)
        number = reader.number<std::uint8_t>();
    else if (code == DW_OP_const1s)
        number = reader.number<std::int8_t>();
    else if (code == DW_OP_const2u)
        number = reader.number<std::uint16_t>();
    else if (code == DW_OP_const2s)
        number = reader.number<std::int16_t>();
    else if (code == DW_OP_const4u)
        number = reader.number<std::uint32_t>();
    else if (code == DW_OP_const4s)
        number = reader.number<std::int32_t>();
    else
        return std::nullopt;
    const auto operation = reader.number<std::uint8_t>();
    if (reader.failed() || !reader.at_end() || !fits<std::int32_t>(number))
        return std::nullopt;
    if (operation == DW_OP_plus)
        return number;
    if (operation == DW_OP_minus)
        return -number;
    return std::nullopt;
}

/// An expression that is a place and no more.
std::optional<Place> as_place(std::string_view expression) {
    ByteReader reader(expression);
    const auto base = read_place(reader);
    const auto more = base ? read_addend(reader) : std::nullopt;
    return more ? place(base->reg, base->offset + *more) : std::nullopt;
}

/// What linkers write for entries of a procedure linkage table: behind `breg7 8`, this with a number
/// in the place of the gap. An entry has 16 bytes, in the first `add` of which nothing is pushed yet.
constexpr std::string_view plt_before("\x80\x00\x3f\x1a", 4); // breg16 0; lit15; and
constexpr std::string_view plt_behind("\x2a\x33\x24\x22", 4); // ge; lit3; shl; plus

std::optional<std::int32_t> plt_threshold(ByteReader reader) {
    if (reader.take(plt_before.size()) != plt_before)
        return std::nullopt;
    const auto literal = reader.number<std::uint8_t>();
    if (literal < DW_OP_lit0 || literal > DW_OP_lit15 || reader.rest() != plt_behind)
        return std::nullopt;
    return literal - DW_OP_lit0;
}

bool set_cfa(const FrameRegisters &registers, argtrace_unwind_rule &rule, std::uint8_t kind, std::optional<Place> place, std::int64_t add = 0) {
    if (!place || place->reg >= registers.limit || !fits<std::int32_t>(add))
        return false;
    rule.cfa = kind;
    rule.reg = place->reg;
    rule.offset = place->offset;
    rule.add = static_cast<std::int32_t>(add);
    return true;
}

bool set_cfa(const FrameRegisters &registers, argtrace_unwind_rule &rule, const FrameState &state) {
    if (!state.cfa_is_expression)
        return set_cfa(registers, rule, ARGTRACE_CFA_REGISTER, place(state.cfa_register, state.cfa_offset));
    if (const auto plain = as_place(state.cfa_expression))
        return set_cfa(registers, rule, ARGTRACE_CFA_REGISTER, plain);
    ByteReader reader(state.cfa_expression);
    const auto base = read_place(reader);
    if (!base)
        return false;
    if (const auto threshold = plt_threshold(reader))
        return set_cfa(registers, rule, ARGTRACE_CFA_PLT, base, *threshold);
    if (reader.number<std::uint8_t>() != DW_OP_deref)
        return false;
    const auto add = read_addend(reader);
    return add && set_cfa(registers, rule, ARGTRACE_CFA_MEMORY, base, *add);
}

/// In words of 8 bytes, as a rule has it.
std::optional<std::int16_t> words(std::int64_t offset) {
    if (offset % 8 != 0 || !fits<std::int16_t>(offset / 8))
        return std::nullopt;
    return static_cast<std::int16_t>(offset / 8);
}

/// Where the rule has something saved that lies at this place, from CFA.
std::optional<std::int16_t> from_cfa(const argtrace_unwind_rule &rule, const Place &place) {
    if (rule.cfa != ARGTRACE_CFA_REGISTER || rule.reg != place.reg)
        return std::nullopt;
    return words(std::int64_t(place.offset) - rule.offset);
}

bool set_return_address(const FrameRegisters &registers, argtrace_unwind_rule &rule, const RegisterRule &found) {
    std::optional<std::int16_t> at;
    rule.ra = ARGTRACE_RA_MEMORY;
    if (found.how == How::offset) {
        at = words(found.value);
    } else if (found.how == How::expression) {
        if (const auto place = as_place(found.expression))
            at = from_cfa(rule, *place);
    } else if (found.how == How::in_register && found.value >= 0 && found.value < std::int64_t(registers.limit)) {
        rule.ra = ARGTRACE_RA_REGISTER;
        at = static_cast<std::int16_t>(found.value);
    } else if (registers.is_linked && (found.how == How::unspecified || found.how == How::same)) {
        rule.ra = ARGTRACE_RA_REGISTER;
        at = static_cast<std::int16_t>(registers.return_address);
    }
    rule.ra_at = at.value_or(0);
    return at.has_value();
}

bool set_saved(const FrameRegisters &registers, argtrace_unwind_rule &rule, std::size_t n, const RegisterRule &found) {
    std::optional<std::int16_t> at;
    switch (found.how) {
    case How::unspecified:
    case How::same:
    case How::undefined: // a caller that relied on the register would have seen it saved
        return true;
    case How::offset:
        at = words(found.value);
        break;
    case How::expression:
        if (const auto place = as_place(found.expression)) {
            at = from_cfa(rule, *place);
            if (!at && place->reg == registers.frame_pointer) {
                at = words(place->offset);
                rule.by_frame |= static_cast<std::uint16_t>(1u << n);
            }
        }
        break;
    default:
        break;
    }
    if (!at)
        return false;
    rule.saved |= static_cast<std::uint16_t>(1u << n);
    rule.at[n] = *at;
    return true;
}

// Where x86-64 has a register in the ucontext of a signal, in words: arch/x86/include/uapi/asm/{ucontext,sigcontext}.h.
constexpr std::int64_t in_ucontext(int word) {
    return 8 * (5 + word); // behind uc_flags, uc_link and uc_stack
}

constexpr int word_of_rsp = 15;

/// By the number of DWARF: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
constexpr std::size_t rsp = 7, rip = 16;
constexpr std::array<int, register_count> signal_registers = {13, 12, 14, 11, 9, 8, 10, word_of_rsp, 0, 1, 2, 3, 4, 5, 6, 7, 16};

/// A signal frame says where in the ucontext each register is; the base is what all of them agree in. On arm64 nothing describes
/// them: the code that they return to is found by its bytes.
std::optional<argtrace_unwind_rule> signal_rule(const FrameRegisters &registers, const FrameState &state) {
    if (registers.is_linked)
        return std::nullopt;
    ByteReader reader(state.cfa_expression);
    const auto sp = state.cfa_is_expression ? read_place(reader) : std::nullopt;
    if (!sp || reader.number<std::uint8_t>() != DW_OP_deref || !reader.at_end())
        return std::nullopt;
    const std::int64_t base = sp->offset - in_ucontext(word_of_rsp);
    if (state.registers[rip].how != How::expression)
        return std::nullopt;
    for (std::size_t i = 0; i < register_count; i++) {
        const RegisterRule &found = state.registers[i];
        if (i == rsp || found.how == How::unspecified || found.how == How::same)
            continue;
        const auto at = found.how == How::expression ? as_place(found.expression) : std::nullopt;
        if (!at || at->reg != sp->reg || at->offset != base + in_ucontext(signal_registers[i]))
            return std::nullopt;
    }
    argtrace_unwind_rule rule = {};
    if (!set_cfa(registers, rule, ARGTRACE_CFA_SIGNAL, place(sp->reg, base)))
        return std::nullopt;
    rule.ra = ARGTRACE_RA_MEMORY;
    return rule;
}

bool stack_pointer_is_cfa(const RegisterRule &found) {
    return found.how == How::unspecified || (found.how == How::val_offset && found.value == 0);
}

} // namespace

argtrace_unwind_rule end_rule(const FrameRegisters &registers) {
    argtrace_unwind_rule rule = {};
    rule.cfa = ARGTRACE_CFA_REGISTER;
    rule.reg = static_cast<std::uint8_t>(registers.stack_pointer);
    rule.ra = ARGTRACE_RA_END;
    return rule;
}

argtrace_unwind_rule sigreturn_rule(const FrameRegisters &registers, std::int32_t distance) {
    argtrace_unwind_rule rule = {};
    rule.cfa = ARGTRACE_CFA_SIGNAL;
    rule.reg = static_cast<std::uint8_t>(registers.stack_pointer);
    rule.offset = distance;
    rule.ra = ARGTRACE_RA_MEMORY;
    return rule;
}

argtrace_unwind_rule stack_rule(const FrameRegisters &registers, std::int32_t size, std::int16_t ra_at) {
    argtrace_unwind_rule rule = {};
    rule.cfa = ARGTRACE_CFA_REGISTER;
    rule.reg = static_cast<std::uint8_t>(registers.stack_pointer);
    rule.offset = size;
    rule.ra = ARGTRACE_RA_MEMORY;
    rule.ra_at = ra_at;
    return rule;
}

argtrace_unwind_rule link_rule(const FrameRegisters &registers, std::int32_t size) {
    argtrace_unwind_rule rule = stack_rule(registers, size, static_cast<std::int16_t>(registers.return_address));
    rule.ra = ARGTRACE_RA_REGISTER;
    return rule;
}

std::optional<argtrace_unwind_rule> unwind_rule(const FrameRegisters &registers, const FrameState &state, bool is_signal_frame) {
    const auto rule_of = [&](std::uint64_t number) -> const RegisterRule & { return state.registers[registers.index(number)]; };
    if (rule_of(registers.return_address).how == How::undefined)
        return end_rule(registers);
    if (is_signal_frame)
        return signal_rule(registers, state);
    argtrace_unwind_rule rule = {};
    if (!stack_pointer_is_cfa(rule_of(registers.stack_pointer)) || !set_cfa(registers, rule, state) ||
        !set_return_address(registers, rule, rule_of(registers.return_address)))
        return std::nullopt;
    for (std::size_t n = 0; n < registers.saved.size(); n++)
        if (!set_saved(registers, rule, n, rule_of(registers.saved[n])))
            return std::nullopt;
    return rule;
}

} // namespace argtrace::elf
