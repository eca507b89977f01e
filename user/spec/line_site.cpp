// SPDX-License-Identifier: GPL-2.0-only
#include "spec/line_site.h"

#include <optional>
#include <utility>

#include "abi/placement.h"
#include "abi/user_registers.h"

namespace argtrace {

namespace {

using VariableKind = VariablePlace::Kind;

constexpr std::size_t variables_shown_max = 16;
constexpr std::uint32_t variable_shown_bytes_max = 64;

const UserRegisters &registers() {
    return native_user_registers();
}

bool is_variable_word(const Shape &shape) {
    return shape.kind == Shape::Kind::pointer || ((shape.kind == Shape::Kind::integer || shape.kind == Shape::Kind::enumeration) && shape.bytes <= 8);
}

bool is_variable_number(const Shape &shape) {
    return shape.kind == Shape::Kind::floating && is_read_by_program(shape);
}

std::optional<RegisterPart> variable_part(const VariablePlace::Piece &piece, std::uint32_t offset, std::uint32_t bytes) {
    if (const auto number = registers().by_dwarf(piece.number))
        return RegisterPart{offset, bytes, false, number->index};
    if (const auto number = registers().vector_by_dwarf(piece.number))
        return RegisterPart{offset, bytes, true, *number};
    return std::nullopt;
}

// A struct in registers, each of which has a number or a pointer of it.
std::optional<UserOperand> variable_object(const VariablePlace &place, std::uint32_t size) {
    UserOperand operand{.kind = UserOperand::Kind::parts};
    std::uint32_t offset = 0;
    for (const VariablePlace::Piece &piece : place.pieces) {
        const std::uint32_t bytes = piece.bytes != 0 ? piece.bytes : size;
        const auto part = variable_part(piece, offset, bytes);
        if (!part || bytes > 8)
            return std::nullopt;
        operand.parts.push_back(*part);
        offset += bytes;
    }
    return offset == size ? std::optional(std::move(operand)) : std::nullopt;
}

std::optional<UserOperand> variable_in_registers(const VariablePlace &place, const Shape &shape) {
    if (shape.kind == Shape::Kind::aggregate)
        return variable_object(place, shape.bytes);
    if (place.pieces.size() != 1)
        return std::nullopt;
    const unsigned number = place.pieces.front().number;
    if (const auto vector = registers().vector_by_dwarf(number); vector && is_variable_number(shape))
        return UserOperand{.kind = UserOperand::Kind::in_vector, .number = *vector};
    if (const auto known = registers().by_dwarf(number); known && is_variable_word(shape))
        return UserOperand{.kind = UserOperand::Kind::in_register, .base = *known};
    return std::nullopt;
}

std::optional<UserOperand> variable_operand(const VariablePlace &place, const Shape &shape) {
    const bool is_object = place.is_array || shape.kind == Shape::Kind::aggregate;
    const auto from = [&](UserOperand::Kind kind, std::optional<NamedRegister> base) -> std::optional<UserOperand> {
        return base ? std::optional(UserOperand{.kind = kind, .number = place.number, .base = base}) : std::nullopt;
    };
    switch (place.kind) {
    case VariableKind::registers:
        return place.is_array ? std::nullopt : variable_in_registers(place, shape);
    case VariableKind::constant:
        return is_variable_word(shape) && !is_object ? std::optional(UserOperand{.number = place.number}) : std::nullopt;
    case VariableKind::sum:
        return is_variable_word(shape) && !is_object ? from(UserOperand::Kind::sum, registers().by_dwarf(place.base)) : std::nullopt;
    case VariableKind::memory:
    case VariableKind::from_here:
        if (!is_object && !is_variable_word(shape) && !is_variable_number(shape))
            return std::nullopt;
        return from(UserOperand::Kind::memory, place.kind == VariableKind::memory ? registers().by_dwarf(place.base) : registers().instruction_pointer);
    case VariableKind::nowhere:
        break;
    }
    return std::nullopt;
}

} // namespace

UsdtSite line_site(Prototype &prototype) {
    UsdtSite site;
    std::size_t shown = 0;
    for (Parameter &parameter : prototype.parameters) {
        const VariablePlace place = parameter.variable.value_or(VariablePlace());
        site.places.push_back({.name = parameter.name, .type_name = parameter.type});
        site.operands.push_back(variable_operand(place, parameter.shape));
        const bool is_large = place.is_array || (parameter.shape.kind == Shape::Kind::aggregate && parameter.shape.bytes > variable_shown_bytes_max);
        parameter.is_unasked = is_large || shown == variables_shown_max;
        shown += !parameter.is_unasked;
    }
    // It returns nothing.
    prototype.text.erase(0, prototype.text.find(prototype.function));
    return site;
}

} // namespace argtrace
