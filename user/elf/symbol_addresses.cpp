// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_addresses.h"

#include <vector>

#include "elf/section_entries.h"
#include "elf/symbol_tables.h"

namespace argtrace::elf {

namespace {

bool has_address(const Elf64_Sym &symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    return symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS && symbol.st_shndx != SHN_COMMON &&
           (type == STT_NOTYPE || type == STT_OBJECT || type == STT_FUNC);
}

} // namespace

SymbolAddresses::Known SymbolAddresses::read() const {
    Known known;
    visit_symbol_tables(*object_, debug_files_, [&](const Object &file, std::uint32_t type, std::uint64_t bias) {
        for (const Object::Section &section : file.sections()) {
            if (section.header.sh_type != type || section.header.sh_link >= file.sections().size())
                continue;
            const Text names = file.content(file.sections()[section.header.sh_link]);
            for (const Elf64_Sym &symbol : entries_of<Elf64_Sym>(file, section)) {
                const std::string_view name = without_version(string_at(names, symbol.st_name));
                if (name.empty() || !has_address(symbol))
                    continue;
                const std::uint64_t address = symbol.st_value + bias;
                const auto [same, added] = known.try_emplace(std::string(name), address);
                if (!added && same->second != address)
                    same->second = std::nullopt;
            }
        }
    });
    return known;
}

std::optional<std::uint64_t> SymbolAddresses::find(std::string_view name) const {
    if (!known_)
        known_ = read();
    const auto found = known_->find(name);
    return found == known_->end() ? std::nullopt : found->second;
}

} // namespace argtrace::elf
