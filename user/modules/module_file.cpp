// SPDX-License-Identifier: GPL-2.0-only
#include "modules/module_file.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <gelf.h>

#include "abi/architecture.h"
#include "symbols/traceable.h"
#include "util/error.h"
#include "util/unpack.h"

namespace argtrace {

namespace {

struct Section {
    Elf_Scn *scn;
    GElf_Shdr header;
    std::string_view bytes; ///< empty for one without
};

/// A place in a section that is yet to be loaded somewhere.
std::uint64_t place(std::size_t section, std::uint64_t offset) {
    return (static_cast<std::uint64_t>(section) << 32) + offset;
}

struct FunctionSymbol {
    std::uint64_t place;
    std::uint64_t size;
    std::string_view name;

    auto operator<=>(const FunctionSymbol &) const = default;
};

/// An object file in memory.
class Object {
public:
    explicit Object(Text &content) {
        elf_version(EV_CURRENT);
        elf_.reset(elf_memory(content.data(), content.size()));
        GElf_Ehdr header;
        if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || !gelf_getehdr(elf_.get(), &header) ||
            header.e_type != ET_REL)
            throw Error("is no kernel module");
        if (header.e_machine != native_architecture().elf_machine || gelf_getclass(elf_.get()) != ELFCLASS64)
            throw Error("is a module for another kind of machine");
        read_sections();
    }

    std::string_view bytes(std::string_view name) const {
        const Section *section = find(name);
        return section ? section->bytes : std::string_view();
    }

    std::vector<FunctionSymbol> functions() const {
        std::vector<FunctionSymbol> functions;
        for_each_symbol([&functions](const GElf_Sym &symbol, std::string_view name) {
            if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
                symbol.st_shndx < SHN_LORESERVE && is_word(name))
                functions.push_back(
                    {place(symbol.st_shndx, symbol.st_value), symbol.st_size, name});
        });
        std::sort(functions.begin(), functions.end());
        return functions;
    }

    /// Calls `each` with the name and the bytes of each variable.
    void for_each_variable(const std::function<void(std::string_view name, std::string_view bytes)> &each) const {
        for_each_symbol([&](const GElf_Sym &symbol, std::string_view name) {
            if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= SHN_LORESERVE)
                return;
            Elf_Scn *scn = elf_getscn(elf_.get(), symbol.st_shndx);
            Elf_Data *data = scn ? elf_rawdata(scn, nullptr) : nullptr;
            std::string_view bytes;
            if (data && data->d_buf && symbol.st_value <= data->d_size && symbol.st_size <= data->d_size - symbol.st_value)
                bytes = {static_cast<const char *>(data->d_buf) + symbol.st_value, symbol.st_size};
            each(name, bytes);
        });
    }

    /// Where the places lie that a section of relocations means, sorted.
    std::vector<std::uint64_t> targets(std::string_view relocations) const {
        std::vector<std::uint64_t> places;
        const Section *section = find(relocations);
        Elf_Data *data = section ? elf_getdata(section->scn, nullptr) : nullptr;
        if (!data || !symbols_ || section->header.sh_entsize == 0)
            return places;
        const std::size_t count = section->header.sh_size / section->header.sh_entsize;
        for (std::size_t i = 0; i < count; i++) {
            GElf_Rela rela;
            GElf_Sym symbol;
            if (gelf_getrela(data, static_cast<int>(i), &rela) &&
                gelf_getsym(symbols_, static_cast<int>(GELF_R_SYM(rela.r_info)), &symbol))
                places.push_back(place(
                    symbol.st_shndx, symbol.st_value + static_cast<std::uint64_t>(rela.r_addend)));
        }
        std::sort(places.begin(), places.end());
        return places;
    }

private:
    void read_sections() {
        std::size_t names = 0;
        if (elf_getshdrstrndx(elf_.get(), &names) != 0)
            throw Error("is damaged: it has no names of sections");
        for (Elf_Scn *scn = nullptr; (scn = elf_nextscn(elf_.get(), scn));) {
            Section section{scn, {}, {}};
            if (!gelf_getshdr(scn, &section.header))
                continue;
            const char *name = elf_strptr(elf_.get(), names, section.header.sh_name);
            Elf_Data *data =
                section.header.sh_type == SHT_NOBITS ? nullptr : elf_rawdata(scn, nullptr);
            if (data && data->d_buf)
                section.bytes = {static_cast<const char *>(data->d_buf), data->d_size};
            if (section.header.sh_type == SHT_SYMTAB) {
                symbols_ = elf_getdata(scn, nullptr);
                strings_ = section.header.sh_link;
                symbol_count_ = section.header.sh_entsize
                                    ? section.header.sh_size / section.header.sh_entsize
                                    : 0;
            }
            if (name)
                sections_.emplace_back(name, section);
        }
    }

    const Section *find(std::string_view name) const {
        for (const auto &[other, section] : sections_)
            if (other == name)
                return &section;
        return nullptr;
    }

    void for_each_symbol(
        const std::function<void(const GElf_Sym &, std::string_view name)> &each) const {
        for (std::size_t i = 0; symbols_ && i < symbol_count_; i++) {
            GElf_Sym symbol;
            if (!gelf_getsym(symbols_, static_cast<int>(i), &symbol))
                break;
            if (const char *name = elf_strptr(elf_.get(), strings_, symbol.st_name))
                each(symbol, name);
        }
    }

    static bool is_word(std::string_view name) {
        return !name.empty() &&
               std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
    }

    struct End {
        void operator()(Elf *elf) const { elf_end(elf); }
    };

    std::unique_ptr<Elf, End> elf_;
    std::vector<std::pair<std::string_view, Section>> sections_;
    Elf_Data *symbols_ = nullptr;
    std::size_t symbol_count_ = 0;
    std::size_t strings_ = 0; // the section of their names
};

/// The value of `key` in .modinfo, which is "key=value" with a NUL behind each.
std::string modinfo(std::string_view section, std::string_view key) {
    while (!section.empty()) {
        const std::string_view entry = section.substr(0, section.find('\0'));
        if (entry.starts_with(key) && entry.substr(key.size()).starts_with('='))
            return std::string(entry.substr(key.size() + 1));
        section.remove_prefix(std::min(entry.size() + 1, section.size()));
    }
    return {};
}

bool has_call(const std::vector<FunctionSymbol> &functions, std::size_t i, const std::vector<std::uint64_t> &calls) {
    const FunctionSymbol &function = functions[i];
    const auto call = std::lower_bound(calls.begin(), calls.end(), function.place);
    if (call != calls.end() && *call - function.place < std::min(ftrace_call_within, function.size))
        return true;
    const std::uint64_t before = native_architecture().call_before;
    if (before == 0 || !std::binary_search(calls.begin(), calls.end(), function.place - before))
        return false;
    // It may be the call of a short function that ends there.
    while (i > 0 && functions[i - 1].place == function.place)
        i--;
    return i == 0 || functions[i - 1].place + functions[i - 1].size <= function.place - before;
}

/// What module_init() and module_exit() call the functions that they are given.
bool is_entry_alias(const std::vector<FunctionSymbol> &functions, std::size_t i) {
    const FunctionSymbol &function = functions[i];
    if (function.name != "init_module" && function.name != "cleanup_module")
        return false;
    const auto there = [&function](const FunctionSymbol &other) {
        return other.place == function.place && other.name != function.name;
    };
    return std::any_of(functions.begin(), functions.end(), there);
}

void read_functions(ModuleFile &module, const Object &object) {
    std::vector<std::uint64_t> calls;
    for (const std::string_view section : native_architecture().call_sections)
        if (calls.empty())
            calls = object.targets(section);
    const std::vector<FunctionSymbol> functions = object.functions();
    for (std::size_t i = 0; i < functions.size(); i++) {
        if (is_entry_alias(functions, i))
            continue;
        const FunctionSymbol &function = functions[i];
        fmt::format_to(std::back_inserter(module.symbols), "{:x} t {}\t[{}]\n", function.place,
                       function.name, module.name);
        if (has_call(functions, i, calls))
            fmt::format_to(std::back_inserter(module.traceable), "{} [{}]\n", function.name,
                           module.name);
    }
}

// include/trace/trace_events.h, and stages/init.h: a variable for each event, and one for each group that has the group's name.
constexpr std::string_view event_prefix = "event_";
constexpr std::string_view group_prefix = "str__", group_suffix = "__trace_system_name";

void read_groups(ModuleFile &module, const Object &object) {
    std::vector<std::string> events;
    std::set<std::string> groups;
    object.for_each_variable([&](std::string_view name, std::string_view bytes) {
        if (name.starts_with(event_prefix))
            events.emplace_back(name.substr(event_prefix.size()));
        else if (name.starts_with(group_prefix) && name.ends_with(group_suffix))
            groups.emplace(bytes.substr(0, bytes.find('\0')));
    });
    if (groups.size() != 1 || groups.begin()->empty())
        return;
    for (const std::string &event : events)
        module.tracepoint_groups.emplace(event, *groups.begin());
}

ModuleFile parse(Text content) {
    content = unpack(std::move(content));
    const Object object(content);
    ModuleFile module;
    const std::string_view info = object.bytes(".modinfo");
    module.name = modinfo(info, "name");
    if (module.name.empty())
        throw Error("is no kernel module: it does not say its name");
    module.srcversion = modinfo(info, "srcversion");
    const std::string_view types = object.bytes(".BTF"), base = object.bytes(".BTF.base");
    module.types.assign(types.begin(), types.end());
    module.base.assign(base.begin(), base.end());
    module.debug_info = !object.bytes(".debug_info").empty();
    read_functions(module, object);
    read_groups(module, object);
    return module;
}

} // namespace

ModuleFile ModuleFile::read(const std::string &path) {
    try {
        ModuleFile module = parse(read_file(path));
        module.path = path;
        return module;
    } catch (const std::system_error &e) {
        throw Error(fmt::format("{}: cannot be read: {}", path, e.code().message()));
    } catch (const Error &e) {
        throw Error(fmt::format("{}: {}", path, e.what()));
    }
}

} // namespace argtrace
