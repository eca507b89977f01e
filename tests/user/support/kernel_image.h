// SPDX-License-Identifier: GPL-2.0-only
// The memory of a kernel in small, as /proc/kcore shows it, and the files beside it.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "symbols/kernel_memory.h"

namespace argtrace {

/// Tests change its parts, and write() makes files of them.
class KernelImage {
public:
    /// How the kernel keeps addresses: relative to a base, with data of each CPU as it is (x86 until Linux 6.14) or not, or to their own place.
    enum class Form { absolute_percpu, base, place };

    struct Symbol {
        std::uint64_t addr;
        char type;
        std::string name;
    };

    struct Module {
        std::string name;
        std::uint64_t text;
        std::vector<Symbol> symbols;
        std::string state = "Live";
        std::uint64_t size = 0x1000;
    };

    static constexpr std::uint64_t begin = 0xffffffff81000000, module_begin = 0xffffffffc0000000;
    static constexpr KernelLayout layout{{8, 24, 128}, {0, 8, 16, 24}, {0, 8, 16}, {0, 16}};

    explicit KernelImage(Form form = Form::absolute_percpu) : form(form) {
        if (form == Form::absolute_percpu)
            symbols = {{0, 'A', "fixed_percpu_data"}, {0x1000, 'A', "cpu_debug_store"}};
        symbols.push_back({begin, 'T', "_stext"});
        for (unsigned i = 0; i < 100; i++)
            symbols.push_back({begin + 0x100 + 0x40 * i, i % 3 ? 't' : 'T', fmt::format("f{}_of_the_kernel", i)});
        symbols.push_back({begin + 0x4000, 'T', "vfs_read"});
        symbols.push_back({begin + 0x4040, 't', "align_show"});
        symbols.push_back({begin + 0x4080, 't', "align_show"});
        symbols.push_back({begin + 0x40c0, 'W', "alias_one"});
        symbols.push_back({begin + 0x40c0, 'T', "alias_two"});
        symbols.push_back({begin + 0x5000, 'D', "modules"});
        symbols.push_back({begin + 0x5010, 'd', "ftrace_mod_maps"});
        symbols.push_back({begin + 0x5020, 'b', "ftrace_pages_start"});
        symbols.push_back({begin + 0x5028, 'D', "vmemmap_base"});
        symbols.push_back({begin + 0x5030, 'D', "init_uts_ns"});
        symbols.push_back({begin + 0x5040, 'b', std::string(300, 'n')});
        modules = {{"ext4", module_begin, {{module_begin + 0x100, 't', "ext4_open"}, {module_begin + 0x40, 't', "init_once"}}},
                   {"xfs", module_begin + 0x1000, {{module_begin + 0x1000, 't', "init_once"}, {module_begin + 0x1800, 'd', "xfs_data"}}}};
        calls = {{begin + 0x4004, begin + 0x4044, begin + 0x4084, begin + 0x40c4}, {module_begin + 0x40}};
    }

    ~KernelImage() { std::filesystem::remove_all(folder_); }
    KernelImage(const KernelImage &) = delete;
    KernelImage &operator=(const KernelImage &) = delete;

    Form form;
    std::vector<Symbol> symbols; // of the kernel
    std::vector<Module> modules; // those in memory
    std::vector<std::vector<std::uint64_t>> calls; // of ftrace, a page of records each
    std::uint64_t freed_functions = begin + 0x5010; // what that list has first: itself if it is empty
    std::map<std::string, std::uint64_t> noted;     // what VMCOREINFO has otherwise; 0: it has it not
    int counted_too_many = 0;                       // symbols

    /// The text of /proc/kallsyms.
    std::string kallsyms() const {
        std::string text;
        for (const Symbol &symbol : symbols)
            text += fmt::format("{:016x} {} {}\n", symbol.addr, symbol.type, symbol.name);
        for (const Module &module : modules)
            for (const Symbol &symbol : module.symbols)
                text += fmt::format("{:016x} {} {}\t[{}]\n", symbol.addr, symbol.type, symbol.name, module.name);
        return text;
    }

    std::string modules_text() const {
        std::string text;
        for (const Module &module : modules)
            text += fmt::format("{} {} 0 - {} 0x{:x}\n", module.name, module.size, module.state, module.text);
        return text;
    }

    KernelFiles write() {
        std::filesystem::create_directories(folder_ + "/tracing");
        for (const Module &module : modules)
            std::filesystem::create_directories(folder_ + "/module/" + module.name);
        place();
        std::size_t total = 0;
        for (const std::vector<std::uint64_t> &page : calls)
            total += page.size();
        std::ofstream(folder_ + "/kcore", std::ios::binary) << core();
        write("kallsyms", kallsyms());
        write("modules", modules_text());
        write("tracing/dyn_ftrace_total_info", fmt::format("{} pages:1 groups: 1\n", total));
        write("tracing/available_filter_functions", "");
        tracefs_ = {folder_ + "/tracing"};
        return {folder_ + "/kcore", folder_ + "/kallsyms", folder_ + "/modules", folder_ + "/module", tracefs_};
    }

    /// Another text than the image's in one of the files.
    void write(const std::string &file, const std::string &text) const { std::ofstream(folder_ + '/' + file) << text; }
    void remove(const std::string &file) const { std::filesystem::remove(folder_ + '/' + file); }

    /// As if that module had been unloaded and loaded to the same place.
    void load_again(const std::string &module) const {
        const std::string directory = folder_ + "/module/" + module;
        std::filesystem::rename(directory, directory + ".before"); // its inode number must not be free
        std::filesystem::create_directory(directory);
    }

private:
    static constexpr std::uint64_t tables = begin + 0x20000, size = 0x40000, objects = module_begin + 0x8000, module_size = 0x10000;
    static constexpr std::string_view short_token = "vfs_", long_token = "_of_the_kernel", typed_token = "Dvm";

    void put(std::uint64_t addr, std::string_view bytes) {
        std::string &memory = addr >= module_begin ? module_memory_ : memory_;
        memory.replace(addr - (addr >= module_begin ? module_begin : begin), bytes.size(), bytes);
    }

    template<typename T> void put_value(std::uint64_t addr, T value) {
        put(addr, std::string_view(reinterpret_cast<const char *>(&value), sizeof(value)));
    }

    static std::string compressed(std::string text) {
        const std::pair<std::string_view, char> tokens[] = {{typed_token, 3}, {long_token, 2}, {short_token, 1}};
        for (const auto &[token, number] : tokens)
            if (const std::size_t at = text.find(token); at != text.npos)
                text.replace(at, token.size(), 1, number);
        std::string size(1, static_cast<char>(text.size()));
        if (text.size() > 0x7f)
            size = {static_cast<char>(0x80 | (text.size() & 0x7f)), static_cast<char>(text.size() >> 7)};
        return size + text;
    }

    // The order of the parts is that of Linux 6.12.
    void place() {
        memory_.assign(size, '\0');
        module_memory_.assign(module_size, '\0');
        info_ = {{"_stext", begin}, {"init_uts_ns", begin + 0x5030}, {"kallsyms_num_syms", tables}};
        put_value(tables, static_cast<std::uint32_t>(symbols.size() + counted_too_many));
        std::uint64_t at = info_["kallsyms_names"] = tables + 8;
        for (const Symbol &symbol : symbols) {
            const std::string name = compressed(symbol.type + symbol.name);
            put(at, name);
            at += name.size();
        }
        const std::uint64_t texts = info_["kallsyms_token_table"] = at, index = info_["kallsyms_token_index"] = texts + 1024;
        std::uint16_t offset = 0;
        for (unsigned i = 0; i < 256; i++) {
            std::string text = i == 1 ? std::string(short_token) : i == 2 ? std::string(long_token) : i == 3 ? std::string(typed_token) : std::string(1, static_cast<char>(i));
            if (i == 0)
                text = "?";
            put(texts + offset, text);
            put_value(index + 2 * i, offset);
            offset = static_cast<std::uint16_t>(offset + text.size() + 1);
        }
        const std::uint64_t offsets = info_["kallsyms_offsets"] = (index + 512 + 7) & ~7ull;
        for (std::size_t i = 0; i < symbols.size(); i++) {
            const std::uint64_t addr = symbols[i].addr, own = offsets + 4 * i;
            put_value(own, static_cast<std::int32_t>(form == Form::place  ? addr - own
                                                     : form == Form::base ? addr - begin
                                                     : addr < begin       ? addr
                                                                          : begin - 1 - addr));
        }
        if (form != Form::place)
            put_value(info_["kallsyms_relative_base"] = offsets + 4 * symbols.size() + 64, begin);
        for (const auto &[name, addr] : noted)
            info_[name] = addr;
        put_value(begin + 0x5010, freed_functions);
        place_modules();
        place_calls();
    }

    void place_modules() {
        std::uint64_t link = begin + 0x5000, at = objects; // each has 1 KiB
        for (const Module &module : modules) {
            put_value(link, at + layout.module.list);
            link = at + layout.module.list;
            put(at + layout.module.name, module.name);
            const std::uint64_t table = at + 192, symtab = table + 64, types = symtab + 512, strings = types + 16;
            put_value(at + layout.module.kallsyms, table);
            put_value(table + layout.module_symbols.symtab, symtab);
            put_value(table + layout.module_symbols.num_symtab, static_cast<std::uint32_t>(module.symbols.size() + 1));
            put_value(table + layout.module_symbols.strtab, strings);
            put_value(table + layout.module_symbols.typetab, types);
            std::uint32_t name = 1;
            for (std::size_t i = 0; i < module.symbols.size(); i++) {
                Elf64_Sym symbol{};
                symbol.st_name = name;
                symbol.st_value = module.symbols[i].addr;
                put_value(symtab + sizeof(symbol) * (i + 1), symbol); // the first one is empty
                put(types + i + 1, std::string(1, module.symbols[i].type));
                put(strings + name, module.symbols[i].name);
                name += static_cast<std::uint32_t>(module.symbols[i].name.size()) + 1;
            }
            at += 1024;
        }
        put_value(link, begin + 0x5000);
    }

    void place_calls() {
        std::uint64_t link = begin + 0x5020, at = begin + 0x10000;
        for (const std::vector<std::uint64_t> &page : calls) {
            put_value(link, at);
            put_value(at + layout.ftrace_page.records, at + 64);
            put_value(at + layout.ftrace_page.index, static_cast<std::uint32_t>(page.size()));
            for (std::size_t i = 0; i < page.size(); i++)
                put_value(at + 64 + layout.ftrace_call.size * i, page[i]);
            link = at + layout.ftrace_page.next;
            at += 64 + layout.ftrace_call.size * page.size();
        }
        put_value(link, std::uint64_t{0});
    }

    std::string note(std::string_view owner, std::string content) const {
        Elf64_Nhdr header{};
        header.n_namesz = static_cast<Elf64_Word>(owner.size() + 1);
        header.n_descsz = static_cast<Elf64_Word>(content.size());
        std::string name(owner);
        name.resize((owner.size() + 1 + 3) & ~std::size_t{3});
        content.resize((content.size() + 3) & ~std::size_t{3});
        return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + name + content;
    }

    std::string core() const {
        std::string info = "OSRELEASE=6.12\n";
        for (const auto &[name, addr] : info_)
            if (addr)
                info += fmt::format("SYMBOL({})={:x}\n", name, addr);
        const std::string notes = note("CORE", "12345") + note("VMCOREINFO", info);
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_type = ET_CORE;
        header.e_phoff = sizeof(header);
        header.e_phentsize = sizeof(Elf64_Phdr);
        header.e_phnum = 3;
        Elf64_Phdr parts[3]{};
        const std::uint64_t first = sizeof(header) + sizeof(parts);
        parts[0] = {.p_type = PT_NOTE, .p_flags = 0, .p_offset = first, .p_vaddr = 0, .p_paddr = 0, .p_filesz = notes.size(), .p_memsz = 0, .p_align = 0};
        parts[1] = {.p_type = PT_LOAD, .p_flags = 0, .p_offset = first + notes.size(), .p_vaddr = begin, .p_paddr = 0, .p_filesz = size, .p_memsz = size, .p_align = 0};
        parts[2] = {.p_type = PT_LOAD, .p_flags = 0, .p_offset = first + notes.size() + size, .p_vaddr = module_begin, .p_paddr = 0, .p_filesz = module_size, .p_memsz = module_size, .p_align = 0};
        return std::string(reinterpret_cast<const char *>(&header), sizeof(header)) + std::string(reinterpret_cast<const char *>(parts), sizeof(parts)) + notes + memory_ + module_memory_;
    }

    std::string folder_ = testing::TempDir() + "argtrace_kernel_image_" + std::to_string(getpid());
    std::vector<std::string> tracefs_;
    std::map<std::string, std::uint64_t> info_;
    std::string memory_, module_memory_;
};

} // namespace argtrace
