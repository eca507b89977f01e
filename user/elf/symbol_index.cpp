// SPDX-License-Identifier: GPL-2.0-only
#include "elf/symbol_index.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_map>

#include "elf/go_functions.h"
#include "elf/section_entries.h"
#include "elf/symbol_tables.h"

namespace argtrace::elf {

namespace {

constexpr std::uint32_t nobody = UINT32_MAX;

/// Tables of one file have few of them.
constexpr std::size_t string_tables_max = 16;

std::uint8_t rank_of(const Elf64_Sym &symbol) {
    switch (ELF64_ST_BIND(symbol.st_info)) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
        return 0;
    case STB_WEAK:
        return 1;
    default:
        return 2;
    }
}

/// Where the section ends that has this address.
std::uint64_t end_of_section(const Object &file, std::size_t number, std::uint64_t address) {
    if (number >= file.sections().size())
        return UINT64_MAX;
    const Elf64_Shdr &header = file.sections()[number].header;
    return address >= header.sh_addr && address - header.sh_addr < header.sh_size ? header.sh_addr + header.sh_size : UINT64_MAX;
}

/// What an entry of a linkage table jumps to: the number of a relocation, or the address of a slot.
struct LinkageTarget {
    std::optional<std::uint32_t> relocation;
    std::optional<std::uint64_t> slot;
};

/// An entry as linkers for x86-64 write it: a jump through the slot, or with branch protection and
/// lazy binding a push of the relocation's number.
LinkageTarget linkage_target(std::string_view code, std::uint64_t address) {
    constexpr std::string_view endbr64("\xf3\x0f\x1e\xfa", 4), jump("\xff\x25", 2), bound_jump("\xf2\xff\x25", 3), push("\x68", 1);
    std::size_t at = code.starts_with(endbr64) ? endbr64.size() : 0;
    const auto follows = [&](std::string_view prefix) {
        if (!code.substr(at).starts_with(prefix) || code.size() - at < prefix.size() + 4)
            return false;
        at += prefix.size();
        return true;
    };
    LinkageTarget target;
    const bool pushes = follows(push);
    if (!pushes && !follows(jump) && !follows(bound_jump))
        return target;
    std::int32_t number;
    std::memcpy(&number, code.data() + at, sizeof(number));
    if (pushes)
        target.relocation = static_cast<std::uint32_t>(number);
    else
        target.slot = address + at + 4 + static_cast<std::uint64_t>(std::int64_t(number));
    return target;
}

} // namespace

std::optional<std::uint8_t> SymbolIndex::keep_strings(const Object &file, std::uint32_t section) {
    const std::pair key(&file, section);
    if (const auto found = std::find(kept_.begin(), kept_.end(), key); found != kept_.end())
        return static_cast<std::uint8_t>(found - kept_.begin());
    if (section >= file.sections().size() || strings_.size() == string_tables_max)
        return std::nullopt;
    kept_.push_back(key);
    strings_.push_back(file.content(file.sections()[section]));
    return static_cast<std::uint8_t>(strings_.size() - 1);
}

void SymbolIndex::add_symbols(const Object &file, std::uint32_t table_type, std::uint64_t bias) {
    for (const Object::Section &section : file.sections()) {
        if (section.header.sh_type != table_type)
            continue;
        const auto table = keep_strings(file, section.header.sh_link);
        if (!table)
            return;
        for (const Elf64_Sym &symbol : entries_of<Elf64_Sym>(file, section)) {
            if (!is_function(symbol) || symbol.st_name >= strings_[*table].size() || functions_.size() == nobody)
                continue;
            const std::uint64_t limit = end_of_section(file, symbol.st_shndx, symbol.st_value);
            functions_.push_back({symbol.st_value + bias, symbol.st_size, limit == UINT64_MAX ? limit : limit + bias, symbol.st_name, *table,
                                  rank_of(symbol), false});
        }
        return; // there is one of each type
    }
}

void SymbolIndex::add_linkage_tables(const Object &object) {
    if (object.machine() != EM_X86_64)
        return;
    std::unordered_map<std::uint64_t, std::uint32_t> names; // of slots
    std::vector<std::uint32_t> jump_slots; // names, by number
    std::optional<std::uint8_t> table;
    for (const char *name : {".rela.plt", ".rela.dyn"}) {
        const Object::Section *relocations = object.section(name);
        if (!relocations || relocations->header.sh_link >= object.sections().size())
            continue;
        const Object::Section &symbol_section = object.sections()[relocations->header.sh_link];
        const auto symbols = entries_of<Elf64_Sym>(object, symbol_section);
        if (!table)
            table = keep_strings(object, symbol_section.header.sh_link);
        for (const Elf64_Rela &relocation : entries_of<Elf64_Rela>(object, *relocations)) {
            const std::size_t number = ELF64_R_SYM(relocation.r_info);
            const std::uint32_t symbol_name = number > 0 && number < symbols.size() ? symbols[number].st_name : 0;
            if (std::string_view(name) == ".rela.plt")
                jump_slots.push_back(symbol_name);
            const auto type = ELF64_R_TYPE(relocation.r_info);
            if (symbol_name != 0 && (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT))
                names.emplace(relocation.r_offset, symbol_name);
        }
    }
    if (!table)
        return;
    for (const Object::Section &section : object.sections()) {
        if (section.name != ".plt" && section.name != ".plt.sec" && section.name != ".plt.got")
            continue;
        const std::uint64_t size = section.header.sh_entsize == 8 ? 8 : 16;
        const Text code = object.content(section);
        for (std::uint64_t at = 0; at + size <= code.size(); at += size) {
            const std::uint64_t address = section.header.sh_addr + at;
            const LinkageTarget target = linkage_target(view(code).substr(at, size), address);
            std::uint32_t name = 0;
            if (target.relocation && *target.relocation < jump_slots.size())
                name = jump_slots[*target.relocation];
            else if (const auto found = target.slot ? names.find(*target.slot) : names.end(); found != names.end())
                name = found->second;
            if (name != 0 && name < strings_[*table].size())
                functions_.push_back({address, size, UINT64_MAX, name, *table, 3, true});
        }
    }
}

void SymbolIndex::add_go_functions(const Object &object) {
    const auto functions = GoFunctions::read(object);
    if (!functions || strings_.size() == string_tables_max)
        return;
    const auto table = static_cast<std::uint8_t>(strings_.size());
    kept_.emplace_back(nullptr, 0);
    strings_.push_back(functions->names());
    for (std::size_t i = 0; i < functions->count(); i++)
        if (const auto function = functions->at(i); function && function->name < strings_[table].size())
            functions_.push_back({function->start, function->end - function->start, UINT64_MAX, function->name, table, 3, false});
}

std::string_view SymbolIndex::name_of(const Function &function) const {
    return without_version(string_at(strings_[function.table], function.name));
}

void SymbolIndex::put(std::uint64_t at, std::uint32_t function) {
    if (!pieces_.empty() && pieces_.back().start == at)
        pieces_.pop_back();
    if ((pieces_.empty() ? nobody : pieces_.back().function) != function)
        pieces_.push_back({at, function});
}

void SymbolIndex::finish() {
    // Names are compared where they have to be: most functions have one.
    std::sort(functions_.begin(), functions_.end(), [this](const Function &a, const Function &b) {
        if (std::tie(a.start, a.rank) != std::tie(b.start, b.rank))
            return std::tie(a.start, a.rank) < std::tie(b.start, b.rank);
        const std::string_view one = name_of(a), other = name_of(b);
        return one.size() != other.size() ? one.size() < other.size() : one < other;
    });
    std::size_t kept = 0;
    for (const Function &function : functions_) {
        if (kept > 0 && functions_[kept - 1].start == function.start)
            functions_[kept - 1].size = std::max(functions_[kept - 1].size, function.size);
        else
            functions_[kept++] = function;
    }
    functions_.resize(kept);
    functions_.shrink_to_fit();

    struct Open {
        std::uint64_t end;
        std::uint32_t function;
    };
    std::vector<Open> open; // functions that contain each other
    const auto close_until = [this, &open](std::uint64_t at) {
        while (!open.empty() && open.back().end <= at) {
            const std::uint64_t end = open.back().end;
            while (!open.empty() && open.back().end <= end)
                open.pop_back();
            put(end, open.empty() ? nobody : open.back().function);
        }
    };
    for (std::uint32_t i = 0; i < functions_.size(); i++) {
        const Function &function = functions_[i];
        close_until(function.start);
        std::uint64_t end = function.start + std::min(function.size, UINT64_MAX - function.start);
        if (function.size == 0) {
            end = i + 1 < functions_.size() ? functions_[i + 1].start : UINT64_MAX;
            end = std::min({end, function.limit, open.empty() ? UINT64_MAX : open.back().end});
        }
        open.push_back({end, i});
        put(function.start, i);
    }
    close_until(UINT64_MAX);
    pieces_.shrink_to_fit();
}

std::optional<std::uint32_t> SymbolIndex::at(std::uint64_t address) const {
    const auto behind =
        std::upper_bound(pieces_.begin(), pieces_.end(), address, [](std::uint64_t at, const Piece &piece) { return at < piece.start; });
    if (behind == pieces_.begin() || std::prev(behind)->function == nobody)
        return std::nullopt;
    return std::prev(behind)->function;
}

} // namespace argtrace::elf
