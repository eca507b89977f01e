// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

#include <algorithm>

#include "abi/placement.h"

namespace argtrace {

namespace {

void take_away(Argument &argument) {
    Argument unplaced;
    unplaced.name = std::move(argument.name);
    unplaced.type_name = std::move(argument.type_name);
    argument = std::move(unplaced);
}

// Puts it where the parameter is known to be.
void put(Argument &argument, const Parameter &parameter, unsigned registers) {
    take_away(argument);
    const std::uint32_t words = words_of(parameter.shape);
    const std::optional<std::uint8_t> index = parameter.place->index;
    if (!index || words == 0 || words > 2 || *index + words > registers || type_code(parameter.shape) == ARGTRACE_TYPE_END)
        return;
    argument.loc = words == 1 ? ARGTRACE_LOC_REG : ARGTRACE_LOC_REG_PAIR;
    argument.index = *index;
    set_value(argument, parameter.shape);
}

template<typename Place>
std::vector<Place> without_hidden(std::vector<Place> (*places)(const Prototype &), const Prototype &prototype) {
    if (prototype.hidden == 0)
        return places(prototype);
    Prototype passed = prototype;
    passed.parameters.insert(passed.parameters.begin(), prototype.hidden,
                             {"", "void *", {.kind = Shape::Kind::pointer, .bytes = 8}});
    std::vector<Place> all = places(passed);
    all.erase(all.begin(), all.begin() + prototype.hidden);
    return all;
}

// Whether registers that follow each other have as many bytes, and a program can write them.
bool make_up(const std::vector<RegisterPart> &parts, std::uint32_t bytes) {
    std::uint32_t end = 0;
    for (const RegisterPart &part : parts) {
        if (part.offset != end || part.offset / word_size != (part.offset + part.bytes - 1) / word_size)
            return false;
        end += part.bytes;
    }
    return end >= bytes && bytes <= ARGTRACE_WORDS_MAX;
}

// Where a parameter is known to be.
std::optional<UserOperand> operand_at(const Parameter &parameter) {
    if (!is_read_by_program(parameter.shape))
        return std::nullopt;
    const std::uint32_t bytes = parameter.shape.bytes;
    if (parameter.shape.kind == Shape::Kind::floating && parameter.place->vector && bytes <= word_size)
        return UserOperand{.kind = UserOperand::Kind::in_vector, .number = *parameter.place->vector};
    if (parameter.place->vector && bytes <= 2 * word_size) {
        UserOperand operand{.kind = UserOperand::Kind::parts};
        add_vector(operand.parts, 0, bytes, *parameter.place->vector);
        return operand;
    }
    if (parameter.shape.kind == Shape::Kind::aggregate && make_up(parameter.place->parts, parameter.shape.bytes))
        return UserOperand{.kind = UserOperand::Kind::parts, .parts = parameter.place->parts};
    if (parameter.place->address)
        return UserOperand{.kind = UserOperand::Kind::memory, .base = NamedRegister{.index = *parameter.place->address}};
    if (parameter.place->stack)
        return UserOperand{.kind = UserOperand::Kind::on_stack, .number = *parameter.place->stack};
    return std::nullopt;
}

} // namespace

std::vector<Argument> CallingConvention::places(const Prototype &prototype) const {
    std::vector<Argument> all = without_hidden(arguments, prototype);
    for (std::size_t i = 0; i < all.size(); i++) {
        if (prototype.parameters[i].place)
            put(all[i], prototype.parameters[i], registers);
        else if (program_operands && (all[i].loc == ARGTRACE_LOC_STACK || (all[i].loc == ARGTRACE_LOC_REF && all[i].index != ref_on_stack)))
            take_away(all[i]);
    }
    return all;
}

std::vector<std::optional<UserOperand>> CallingConvention::operands(const Prototype &prototype) const {
    if (!program_operands)
        return std::vector<std::optional<UserOperand>>(prototype.parameters.size());
    std::vector<std::optional<UserOperand>> all = without_hidden(program_operands, prototype);
    for (std::size_t i = 0; i < all.size(); i++)
        if (prototype.parameters[i].place)
            all[i] = operand_at(prototype.parameters[i]);
    return all;
}

} // namespace argtrace
