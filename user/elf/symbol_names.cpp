// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_names.h"

#include <unordered_map>
#include <utility>

#include "elf/demangle.h"
#include "elf/symbol_index.h"
#include "elf/symbol_tables.h"

namespace argtrace::elf {

struct SymbolNames::Index {
    SymbolIndex functions;
    std::unordered_map<std::uint32_t, std::string> written; ///< those that were asked for, by number
};

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
    visit_symbol_tables(*object_, debug_files_, [&functions](const Object &file, std::uint32_t type, std::uint64_t bias) {
        functions.add_symbols(file, type, bias);
    });
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
