// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_names.h"

#include <span>
#include <unordered_map>
#include <utility>

#include "elf/debug_file.h"
#include "elf/demangle.h"
#include "elf/symbol_index.h"
#include "util/error.h"
#include "util/unpack.h"

namespace argtrace::elf {

struct SymbolNames::Index {
    SymbolIndex functions;
    std::unordered_map<std::uint32_t, std::string> written; ///< those that were asked for, by number
};

namespace {

bool has_symbols(const Object &object) {
    for (const Object::Section &section : object.sections())
        if (section.header.sh_type == SHT_SYMTAB && section.header.sh_size > 0)
            return true;
    return false;
}

std::uint64_t first_address(const Object &object) {
    for (const Elf64_Phdr &segment : object.segments())
        if (segment.p_type == PT_LOAD)
            return segment.p_vaddr;
    return 0;
}

/// .gnu_debugdata: the symbol table that Fedora leaves in stripped files, packed by xz.
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

SymbolNames::SymbolNames(const Object &object, DebugFiles debug_files)
    : object_(&object), debug_files_(std::move(debug_files)) {}
SymbolNames::SymbolNames(SymbolNames &&) noexcept = default;
SymbolNames &SymbolNames::operator=(SymbolNames &&) noexcept = default;
SymbolNames::~SymbolNames() = default;

const SymbolNames::Index &SymbolNames::index() {
    if (index_)
        return *index_;
    index_ = std::make_unique<Index>();
    SymbolIndex &functions = index_->functions;
    if (has_symbols(*object_)) {
        functions.add_symbols(*object_, SHT_SYMTAB, 0);
    } else if (auto debug_file = find_debug_file(*object_, debug_files_); debug_file || (debug_file = debug_data_of(*object_))) {
        functions.add_symbols(*debug_file, SHT_SYMTAB, first_address(*object_) - first_address(*debug_file));
    }
    functions.add_symbols(*object_, SHT_DYNSYM, 0);
    functions.add_linkage_tables(*object_);
    functions.add_go_functions(*object_);
    functions.finish();
    return *index_;
}

std::optional<SymbolNames::Name> SymbolNames::at(std::uint64_t file_offset) {
    const auto address = object_->address_of(file_offset);
    const auto number = address ? index().functions.at(*address) : std::nullopt;
    if (!number)
        return std::nullopt;
    const SymbolIndex::Function &function = index_->functions.function(*number);
    Name name{index_->functions.name_of(function), *address - function.start, function.size != 0};
    const auto [written, is_new] = index_->written.try_emplace(*number);
    if (is_new)
        written->second = demangle(name.name) + (function.is_plt ? "@plt" : "");
    name.name = written->second;
    return name;
}

} // namespace argtrace::elf
