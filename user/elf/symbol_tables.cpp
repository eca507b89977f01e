// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_tables.h"

#include <algorithm>
#include <optional>
#include <span>

#include "elf/debug_file.h"
#include "util/error.h"
#include "util/unpack.h"

namespace argtrace::elf {

namespace {

std::uint64_t first_address(const Object &object) {
    for (const Elf64_Phdr &segment : object.segments())
        if (segment.p_type == PT_LOAD)
            return segment.p_vaddr;
    return 0;
}

std::optional<Object> debug_data_of(const Object &object) {
    const Object::Section *section = object.section(".gnu_debugdata");
    if (!section)
        return std::nullopt;
    try {
        const Text data = unpack(object.content(*section));
        return Object::from_memory(std::as_bytes(std::span(data)), object.path());
    } catch (const Error &) {
        return std::nullopt;
    }
}

bool has_symbols(const Object &object) {
    for (const Object::Section &section : object.sections())
        if (section.header.sh_type == SHT_SYMTAB && section.header.sh_size > 0)
            return true;
    return false;
}

} // namespace

void visit_symbol_tables(const Object &object, const DebugFiles &debug_files,
                         const std::function<void(const Object &file, std::uint32_t type, std::uint64_t bias)> &visit) {
    if (has_symbols(object)) {
        visit(object, SHT_SYMTAB, 0);
    } else if (auto file = find_debug_file(object, debug_files); file || (file = debug_data_of(object))) {
        visit(*file, SHT_SYMTAB, first_address(object) - first_address(*file));
    }
    visit(object, SHT_DYNSYM, 0);
}

bool is_function(const Elf64_Sym &symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF &&
           (symbol.st_shndx < SHN_LORESERVE || symbol.st_shndx == SHN_XINDEX) && symbol.st_name != 0;
}

std::string_view string_at(const Text &strings, std::size_t offset) {
    const std::string_view rest = view(strings).substr(std::min(offset, strings.size()));
    return rest.substr(0, rest.find('\0'));
}

std::string_view without_version(std::string_view name) {
    return name.substr(0, std::max<std::size_t>(name.find('@'), 1));
}

} // namespace argtrace::elf
