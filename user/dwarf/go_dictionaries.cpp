// SPDX-License-Identifier: GPL-2.0-only
#include "dwarf/go_dictionaries.h"

#include <utility>

#include "elf/section_entries.h"
#include "elf/symbol_tables.h"

namespace argtrace::dwarf {

namespace {

// Go's cmd/compile/internal/noder: "main..dict.choose[int]" is a dictionary of main.choose.
constexpr std::string_view dictionary_mark = "..dict.";

struct GenericName {
    std::string without_types; ///< "main.(*list[]).add"
    std::string types;         ///< "[int]"
};

/// Types may themselves have types in brackets.
GenericName split(std::string_view name) {
    const std::size_t begin = name.find('[');
    std::size_t end = begin, depth = 0;
    for (; end < name.size(); end++) {
        depth += name[end] == '[';
        if (name[end] == ']' && --depth == 0)
            break;
    }
    if (end >= name.size())
        return {};
    return {std::string(name.substr(0, begin + 1)) + std::string(name.substr(end)), std::string(name.substr(begin, end + 1 - begin))};
}

/// "main.list[]" of "main.(*list[]).add": since Go 1.20 methods have the dictionary of their receiver's type. Empty: it is no method, but may be a
/// function within one, "main.f[].func1", which finds its dictionary otherwise.
std::string receiver_of(std::string_view name) {
    constexpr std::string_view closure = "func";
    const std::size_t end = name.find(']') + 1;
    std::string receiver(name.substr(0, end));
    std::string_view method = name.substr(end);
    if (const std::size_t pointer = receiver.find("(*"); pointer != receiver.npos && method.starts_with(')')) {
        receiver.erase(pointer, 2);
        method.remove_prefix(1);
    }
    if (!method.starts_with('.') || method.find('.', 1) != method.npos)
        return {};
    method.remove_prefix(1);
    const bool is_closure = method.starts_with(closure) && method.find_first_not_of("0123456789", closure.size()) == method.npos;
    return is_closure ? std::string() : receiver;
}

} // namespace

GoDictionaries::GoDictionaries(const elf::Object &object) {
    const elf::Object::Section *symbols = object.section(".symtab");
    if (!symbols || !object.section(".go.buildinfo") || symbols->header.sh_link >= object.sections().size() || object.is_movable())
        return;
    const Text names = object.content(object.sections()[symbols->header.sh_link]);
    for (const Elf64_Sym &symbol : elf::entries_of<Elf64_Sym>(object, *symbols)) {
        const std::string_view name = elf::string_at(names, symbol.st_name);
        const std::size_t mark = name.find(dictionary_mark);
        if (mark == name.npos)
            continue;
        GenericName generic = split(std::string(name.substr(0, mark + 1)) + std::string(name.substr(mark + dictionary_mark.size())));
        if (!generic.types.empty())
            by_function_[std::move(generic.without_types)].push_back({std::move(generic.types), symbol.st_value});
    }
}

std::vector<MadeType::Enumerator> GoDictionaries::of(std::string_view function) const {
    const std::string name = split(function).without_types;
    auto found = by_function_.find(name);
    if (found == by_function_.end())
        found = by_function_.find(receiver_of(name));
    return found == by_function_.end() ? Instances() : found->second;
}

std::size_t GoDictionaries::place_in(std::string_view function) const {
    return by_function_.contains(split(function).without_types) ? 0 : 1;
}

} // namespace argtrace::dwarf
