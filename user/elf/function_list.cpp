// SPDX-License-Identifier: GPL-2.0-only
#include "elf/function_list.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "elf/demangle.h"
#include "elf/go_functions.h"
#include "elf/section_entries.h"
#include "elf/symbol_tables.h"

namespace argtrace::elf {

namespace {

/// Collects the functions of several tables.
class Collector {
public:
    explicit Collector(const Object &object) : object_(object) {}

    void add_table(const Object &file, std::uint32_t type, std::uint64_t bias) {
        for (const Object::Section &section : file.sections()) {
            if (section.header.sh_type != type || section.header.sh_link >= file.sections().size())
                continue;
            const Text names = file.content(file.sections()[section.header.sh_link]);
            for (const Elf64_Sym &symbol : entries_of<Elf64_Sym>(file, section)) {
                if (is_function(symbol))
                    add(without_version(string_at(names, symbol.st_name)), symbol.st_value + bias, symbol.st_size,
                        ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC, ELF64_ST_BIND(symbol.st_info) == STB_LOCAL);
            }
            return; // there is one of each type
        }
    }

    void add_go_functions() {
        const auto functions = GoFunctions::read(object_);
        for (std::size_t i = 0; functions && i < functions->count(); i++)
            if (const auto function = functions->at(i))
                add(string_at(functions->names(), function->name), function->start, function->end - function->start, false, true);
    }

    std::vector<NamedFunction> take() {
        // Names that begin with '_' are the library's own: malloc is also __libc_malloc.
        const auto order = [](const NamedFunction &function) {
            // Go's runtime has a generic function without its types.
            return std::tuple(function.address, function.symbol.find("[...]") != std::string::npos, function.symbol.find_first_not_of('_'),
                              std::string_view(function.symbol));
        };
        std::sort(functions_.begin(), functions_.end(),
                  [order](const NamedFunction &a, const NamedFunction &b) { return order(a) < order(b); });
        const auto same = [](const NamedFunction &a, const NamedFunction &b) { return a.address == b.address && a.symbol == b.symbol; };
        functions_.erase(std::unique(functions_.begin(), functions_.end(), same), functions_.end());
        return std::move(functions_);
    }

private:
    void add(std::string_view name, std::uint64_t address, std::uint64_t size, bool is_resolver, bool is_local) {
        const auto offset = object_.offset_of(address);
        if (name.empty() || !offset)
            return;
        functions_.push_back({std::string(name), demangle(name), address, *offset, size, is_resolver, is_local});
    }

    const Object &object_;
    std::vector<NamedFunction> functions_;
};

/// Where the parameters begin: the first '(' that is in no template's arguments, and no part of a name such as "operator()" or
/// "(anonymous namespace)"; npos if there are none.
std::size_t parameters_of(std::string_view name) {
    constexpr std::string_view anonymous = "(anonymous namespace)", word = "operator";
    int templates = 0, parentheses = 0;
    for (std::size_t i = 0; i < name.size(); i++) {
        if (parentheses == 0 && name.substr(i).starts_with(word) && templates == 0) {
            // "operator<", "operator->", "operator()": no brackets of these open anything
            i += word.size();
            const std::size_t end = std::min(name.find_first_not_of("<>-=", i), name.size());
            i = end == i && name.substr(i).starts_with("()") ? i + 2 : end;
        }
        if (name.substr(i).starts_with(".(")) // "pkg.(*T).M" of Go
            return name.npos;
        if (name.substr(i).starts_with(anonymous)) {
            i += anonymous.size() - 1;
            continue;
        }
        if (i >= name.size())
            break;
        if (name[i] == '<' && parentheses == 0)
            templates++;
        else if (name[i] == '>' && parentheses == 0 && templates > 0)
            templates--;
        else if (name[i] == '(' && templates == 0 && parentheses++ == 0)
            return i;
    }
    return name.npos;
}

/// Where the name begins behind a template's result type: after the last blank that is in no brackets, unless that is part of an
/// operator's name.
std::size_t begin_of_name(std::string_view name) {
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < name.size(); i++) {
        if (name.substr(i).starts_with("operator"))
            return begin;
        if (name[i] == '<' || name[i] == '(' || name[i] == '[')
            depth++;
        else if ((name[i] == '>' || name[i] == ')' || name[i] == ']') && depth > 0)
            depth--;
        else if (name[i] == ' ' && depth == 0)
            begin = i + 1;
    }
    return begin;
}

} // namespace

std::vector<NamedFunction> list_functions(const Object &object, const DebugFiles &debug_files) {
    Collector collector(object);
    visit_symbol_tables(object, debug_files, [&collector](const Object &file, std::uint32_t type, std::uint64_t bias) {
        collector.add_table(file, type, bias);
    });
    collector.add_go_functions();
    return collector.take();
}

std::string_view plain_name(std::string_view demangled, std::string &room) {
    const std::size_t parameters = parameters_of(demangled);
    if (parameters == demangled.npos)
        return demangled;
    room = demangled.substr(0, parameters);
    room.erase(0, begin_of_name(room));
    for (std::size_t at; (at = room.find("[abi:")) != room.npos;)
        room.erase(at, std::min(room.find(']', at), room.size() - 1) - at + 1);
    return room;
}

std::optional<std::size_t> parameter_count(std::string_view demangled) {
    const std::size_t begin = parameters_of(demangled);
    if (begin == demangled.npos)
        return std::nullopt;
    std::size_t count = demangled.substr(begin).starts_with("()") ? 0 : 1;
    int depth = 0;
    for (const char c : demangled.substr(begin)) {
        if (c == '(' || c == '<' || c == '[' || c == '{')
            depth++;
        else if ((c == ')' || c == '>' || c == ']' || c == '}') && --depth == 0)
            break;
        else if (c == ',' && depth == 1)
            count++;
    }
    return count;
}

} // namespace argtrace::elf
