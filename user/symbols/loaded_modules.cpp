// SPDX-License-Identifier: GPL-2.0-only
#include "symbols/loaded_modules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include <elf.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/hex.h"
#include "util/lines.h"

namespace argtrace {

namespace {

constexpr std::uint32_t module_symbols_max = 1 << 20;
constexpr std::uint32_t strings_size_max = 64 << 20;
constexpr std::size_t module_name_max = 64;

// "ext4 1130496 2 jbd2,mbcache, Live 0xffffffffc0a5c000", and taints.
std::optional<LoadedModule> parse_module(std::string_view line) {
    LoadedModule module;
    module.name = next_word(line);
    const std::string_view size = next_word(line);
    if (std::from_chars(size.data(), size.data() + size.size(), module.size).ec != std::errc())
        return std::nullopt;
    next_word(line); // how often it is used,
    next_word(line); // and by whom
    if (next_word(line) != "Live")
        return std::nullopt;
    const std::string_view text = next_word(line);
    const auto address = text.starts_with("0x") ? parse_hex(text.substr(2)) : std::nullopt;
    if (!address)
        return std::nullopt;
    module.text = *address;
    return module;
}

/// The symbols of a module, as struct mod_kallsyms leads to them.
class ModuleSymbols {
public:
    bool read(const Kcore &core, const KernelLayout::ModuleSymbols &layout, std::uint64_t address) {
        const auto symtab = core.load<std::uint64_t>(address + layout.symtab);
        const auto count = core.load<std::uint32_t>(address + layout.num_symtab);
        const auto strtab = core.load<std::uint64_t>(address + layout.strtab);
        const auto typetab = core.load<std::uint64_t>(address + layout.typetab);
        if (!symtab || !count || !strtab || !typetab || *count > module_symbols_max)
            return false;
        symbols_.resize(*count);
        types_.resize(*count);
        if (!core.read(*symtab, std::as_writable_bytes(std::span(symbols_))) || !core.read(*typetab, std::as_writable_bytes(std::span(types_))))
            return false;
        std::uint32_t last_name = 0;
        for (const Elf64_Sym &symbol : symbols_)
            last_name = std::max(last_name, symbol.st_name);
        if (last_name > strings_size_max)
            return false;
        // The kernel does not say where the strings end.
        auto strings = core.bytes(*strtab, last_name + symbol_name_max);
        if (!strings)
            return false;
        strings_ = std::move(*strings);
        return true;
    }

    /// False if a name does not end, or a function does not lie in the module.
    bool visit(const LoadedModule &module, const std::function<void(const ListedSymbol &)> &visit) const {
        const std::string_view strings(reinterpret_cast<const char *>(strings_.data()), strings_.size());
        for (std::size_t i = 0; i < symbols_.size(); i++) {
            const Elf64_Sym &symbol = symbols_[i];
            const std::size_t end = strings.find('\0', symbol.st_name);
            if (end == strings.npos || end - symbol.st_name >= symbol_name_max)
                return false;
            if (types_[i] == 't' && (symbol.st_value < module.text || symbol.st_value - module.text >= module.size))
                return false;
            // The kernel leaves out those without a name.
            if (end > symbol.st_name)
                visit({symbol.st_value, types_[i], strings.substr(symbol.st_name, end - symbol.st_name), module.name});
        }
        return true;
    }

private:
    std::vector<Elf64_Sym, UninitializedAllocator<Elf64_Sym>> symbols_;
    std::vector<char, UninitializedAllocator<char>> types_;
    RawBytes strings_;
};

// A module may go and come back to the same place while its symbols are read, which the line of /proc/modules does not tell.
bool find_load(LoadedModule &module, const std::string &directories) {
    struct stat directory {};
    if (stat((directories + '/' + module.name).c_str(), &directory) != 0)
        return false;
    module.load = directory.st_ino;
    return true;
}

bool has_name(const Kcore &core, std::uint64_t address, std::string_view name) {
    const auto chars = core.load<std::array<char, module_name_max>>(address);
    return chars && name.size() < chars->size() && std::string_view(chars->data(), strnlen(chars->data(), chars->size())) == name;
}

} // namespace

std::optional<std::vector<LoadedModule>> loaded_modules(const std::string &path, const std::string &directories) {
    std::vector<LoadedModule> modules;
    bool all = true;
    try {
        read_lines(path, [&](std::string_view line) {
            if (auto module = parse_module(line); module && find_load(*module, directories))
                modules.push_back(std::move(*module));
            else
                all = false;
        });
    } catch (const std::system_error &) {
        return std::nullopt;
    }
    return all ? std::optional(std::move(modules)) : std::nullopt;
}

bool visit_module_symbols(const Kcore &core, const KernelLayout &layout, std::uint64_t list, const std::vector<LoadedModule> &modules,
                          const std::function<void(const ListedSymbol &)> &visit) {
    ModuleSymbols symbols;
    std::optional<std::uint64_t> entry = core.load<std::uint64_t>(list); // list_head::next
    for (const LoadedModule &module : modules) {
        if (!entry || *entry == list)
            return false;
        const std::uint64_t address = *entry - layout.module.list;
        const auto found = core.load<std::uint64_t>(address + layout.module.kallsyms);
        if (!has_name(core, address + layout.module.name, module.name) || !found || !symbols.read(core, layout.module_symbols, *found) ||
            !symbols.visit(module, visit))
            return false;
        entry = core.load<std::uint64_t>(*entry);
    }
    return entry == list;
}

} // namespace argtrace
