// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_sources.h"

#include <span>
#include <utility>

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

} // namespace

bool has_symbols(const Object &object) {
    for (const Object::Section &section : object.sections())
        if (section.header.sh_type == SHT_SYMTAB && section.header.sh_size > 0)
            return true;
    return false;
}

std::optional<SymbolSource> find_symbol_source(const Object &object, const DebugFiles &debug_files) {
    std::optional<Object> file = find_debug_file(object, debug_files);
    if (!file)
        file = debug_data_of(object);
    if (!file)
        return std::nullopt;
    const std::uint64_t bias = first_address(object) - first_address(*file);
    return SymbolSource{std::move(*file), bias};
}

} // namespace argtrace::elf
