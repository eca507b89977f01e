// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_names.h"
namespace argtrace::elf {
struct SymbolNames::Index {};
SymbolNames::SymbolNames(const Object &object, std::vector<std::string> folders) : object_(&object), debug_folders_(std::move(folders)) {}
SymbolNames::SymbolNames(SymbolNames &&) noexcept = default;
SymbolNames &SymbolNames::operator=(SymbolNames &&) noexcept = default;
SymbolNames::~SymbolNames() = default;
std::optional<SymbolNames::Name> SymbolNames::at(std::uint64_t) { return std::nullopt; }
} // namespace argtrace::elf
