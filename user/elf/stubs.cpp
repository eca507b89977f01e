// SPDX-License-Identifier: GPL-2.0-only
#include "elf/debug_file.h"
#include "elf/demangle.h"
#include "elf/object.h"
#include "elf/perf_map.h"
#include "elf/symbol_names.h"
#include "elf/unwind_table.h"

namespace argtrace::elf {
std::optional<Object> Object::open(Fd, std::string) { return std::nullopt; }
std::optional<Object> Object::from_memory(std::span<const std::byte>, std::string) { return std::nullopt; }
std::optional<std::uint64_t> Object::address_of(std::uint64_t) const { return std::nullopt; }
std::optional<std::uint64_t> Object::offset_of(std::uint64_t) const { return std::nullopt; }
const Object::Section *Object::section(std::string_view) const { return nullptr; }
Text Object::content(const Section &) const { return {}; }
Text Object::read(std::uint64_t, std::uint64_t) const { return {}; }
int Object::fd() const { return -1; }
std::optional<Object> find_debug_file(const Object &, const std::vector<std::string> &) { return std::nullopt; }
UnwindTable unwind_table(const Object &, const std::vector<std::string> &) { return {}; }
struct SymbolNames::Index {};
SymbolNames::SymbolNames(const Object &object, std::vector<std::string> folders) : object_(&object), debug_folders_(std::move(folders)) {}
SymbolNames::SymbolNames(SymbolNames &&) noexcept = default;
SymbolNames &SymbolNames::operator=(SymbolNames &&) noexcept = default;
SymbolNames::~SymbolNames() = default;
std::optional<SymbolNames::Name> SymbolNames::at(std::uint64_t) { return std::nullopt; }
std::string demangle(std::string_view symbol) { return std::string(symbol); }
PerfMap::PerfMap(std::string_view) {}
PerfMap PerfMap::read(const std::string &) { return PerfMap(""); }
std::optional<PerfMap::Name> PerfMap::at(std::uint64_t) const { return std::nullopt; }
} // namespace argtrace::elf
