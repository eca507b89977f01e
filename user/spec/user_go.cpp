// SPDX-License-Identifier: GPL-2.0-only
#include "spec/user_go.h"

#include "elf/go_entry.h"
#include "elf/go_functions.h"

namespace argtrace {

std::optional<GoCode> GoCode::of(const elf::Object &object) {
    const bool is_go = object.section(".gopclntab") || object.section(".data.rel.ro.gopclntab") || object.section(".note.go.buildid");
    const auto functions = elf::GoFunctions::read(object);
    if (!is_go && !functions)
        return std::nullopt;
    GoCode code(object);
    for (std::size_t i = 0; functions && i < functions->count(); i++)
        if (const auto function = functions->at(i))
            code.functions_.emplace(function->start, function->is_assembly);
    return code;
}

std::uint32_t GoCode::entry(const elf::NamedFunction &function) const {
    return takes_registers(function) ? elf::go_entry(*object_, {function.address, function.size}) : 0;
}

std::string_view GoCode::why_not_followed(const elf::NamedFunction &function) const {
    const auto known = functions_.find(function.address);
    if (known == functions_.end())
        return "it is in a program that was made by Go before version 1.18, or whose functions are not known";
    if (known->second || function.symbol.ends_with(".abi0"))
        return "it is written in assembly, or called from there, and has no goroutine in the register that functions of Go have it in";
    return {};
}

} // namespace argtrace
