// SPDX-License-Identifier: GPL-2.0-only
#include "abi/calling_convention.h"

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

std::vector<Argument> without_hidden(const CallingConvention &convention, const Prototype &prototype) {
    if (prototype.hidden == 0)
        return convention.arguments(prototype);
    Prototype passed = prototype;
    passed.parameters.insert(passed.parameters.begin(), prototype.hidden,
                             {"", "void *", {.kind = Shape::Kind::pointer, .bytes = 8}});
    std::vector<Argument> all = convention.arguments(passed);
    all.erase(all.begin(), all.begin() + prototype.hidden);
    return all;
}

} // namespace

std::vector<Argument> CallingConvention::places(const Prototype &prototype) const {
    std::vector<Argument> all = without_hidden(*this, prototype);
    for (std::size_t i = 0; i < all.size(); i++) {
        if (prototype.parameters[i].place)
            put(all[i], prototype.parameters[i], registers);
        else if (!reads_stack && all[i].loc == ARGTRACE_LOC_STACK)
            take_away(all[i]);
    }
    return all;
}

} // namespace argtrace
