// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_functions.h"

#include <algorithm>

#include "elf/byte_reader.h"
#include "elf/section_entries.h"

namespace argtrace::elf {

namespace {

// Go's runtime/symtab.go: pcHeader, functab, _func. Version 1.18 has no line of the function's beginning.
constexpr std::uint32_t magic_1_18 = 0xfffffff0, magic_1_20 = 0xfffffff1;
constexpr std::size_t flags_at_1_18 = 37, flags_at_1_20 = 41;
constexpr std::uint8_t top_frame = 1, assembly = 4;
constexpr std::uint64_t function_entry_size = 8, text_at_header = 24;

const Object::Section *table_of(const Object &object) {
    for (const char *name : {".gopclntab", ".data.rel.ro.gopclntab"})
        if (const Object::Section *section = object.section(name))
            return section;
    return nullptr;
}

/// What a relocation writes to an address, before the address that the program is loaded at is added.
std::optional<std::uint64_t> relocated(const Object &object, std::uint64_t address) {
    for (const Object::Section &section : object.sections()) {
        if (section.header.sh_type != SHT_RELA)
            continue;
        for (const Elf64_Rela &relocation : entries_of<Elf64_Rela>(object, section))
            if (relocation.r_offset == address && ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE)
                return relocation.r_addend;
    }
    return std::nullopt;
}

std::uint64_t text_address(const Object &object) {
    const Object::Section *text = object.section(".text");
    return text ? text->header.sh_addr : 0;
}

std::string_view behind(const Text &content, std::uint64_t offset) {
    return view(content).substr(std::min<std::uint64_t>(offset, content.size()));
}

std::string_view text_at(const Text &content, std::uint64_t offset) {
    const std::string_view rest = behind(content, offset);
    return rest.substr(0, rest.find('\0'));
}

/// The flag is right but for signals, whose handlers' caller we know, and for the scheduler's stack, to which mcall() changes for good.
GoFunctions::Caller caller_of(std::string_view name, bool is_top) {
    using Caller = GoFunctions::Caller;
    if (name == "runtime.mcall")
        return Caller::none;
    if (name == "runtime.systemstack" || name == "runtime.morestack" || name == "runtime.asmcgocall")
        return Caller::elsewhere;
    return is_top && name != "runtime.sigtramp" && name != "runtime.cgoSigtramp" ? Caller::none : Caller::on_stack;
}

} // namespace

std::optional<GoFunctions> GoFunctions::read(const Object &object) {
    const Object::Section *section = table_of(object);
    if (!section || object.machine() != EM_X86_64)
        return std::nullopt;
    GoFunctions found;
    found.content_ = object.content(*section);
    ByteReader header(view(found.content_));
    const auto magic = header.number<std::uint32_t>();
    header.take(3);
    const auto pointer_size = header.number<std::uint8_t>();
    const auto count = header.number<std::uint64_t>();
    header.number<std::uint64_t>(); // of files
    found.text_ = header.number<std::uint64_t>();
    const auto names_at = header.number<std::uint64_t>();
    const auto units_at = header.number<std::uint64_t>();
    header.number<std::uint64_t>(); // where files are
    found.sizes_at_ = header.number<std::uint64_t>();
    found.functions_at_ = header.number<std::uint64_t>();
    if (header.failed() || (magic != magic_1_18 && magic != magic_1_20) || pointer_size != 8)
        return std::nullopt;
    const std::size_t room = behind(found.content_, found.functions_at_).size() / function_entry_size;
    found.count_ = std::min<std::uint64_t>(count, room);
    found.flags_at_ = magic == magic_1_18 ? flags_at_1_18 : flags_at_1_20;
    const std::string_view names = behind(found.content_, names_at).substr(0, units_at > names_at ? units_at - names_at : 0);
    found.names_.assign(names.begin(), names.end());
    // A program that is loaded anywhere has a relocation there, and the newest ones have nothing.
    if (found.text_ == 0)
        found.text_ = relocated(object, section->header.sh_addr + text_at_header).value_or(text_address(object));
    return found;
}

std::optional<GoFunctions::Function> GoFunctions::at(std::size_t number) const {
    if (number >= count_)
        return std::nullopt;
    ByteReader entry(behind(content_, functions_at_ + number * function_entry_size));
    const auto start = entry.number<std::uint32_t>(), described_at = entry.number<std::uint32_t>(), end = entry.number<std::uint32_t>();
    ByteReader description(behind(content_, functions_at_ + described_at));
    description.number<std::uint32_t>(); // where it begins
    const auto name = description.number<std::uint32_t>();
    description.take(8);
    const auto sizes = description.number<std::uint32_t>();
    description.take(flags_at_ - 20);
    const auto flags = description.number<std::uint8_t>();
    if (entry.failed() || description.failed() || end <= start)
        return std::nullopt;
    return Function{text_ + start, text_ + end, name, caller_of(text_at(names_, name), flags & top_frame), (flags & assembly) != 0, sizes};
}

void GoFunctions::visit_sizes(const Function &function,
                              const std::function<void(std::uint64_t, std::uint64_t, std::int64_t)> &visit) const {
    if (function.sizes == 0)
        return;
    ByteReader table(behind(content_, sizes_at_ + function.sizes));
    std::uint64_t at = function.start;
    std::int64_t size = -1;
    while (at < function.end) {
        const std::uint64_t change = table.uleb();
        if (table.failed() || (change == 0 && at != function.start))
            return;
        size += static_cast<std::int64_t>(change >> 1) ^ -static_cast<std::int64_t>(change & 1);
        const std::uint64_t end = at + std::min(table.uleb(), function.end - at);
        if (table.failed() || end == at)
            return;
        visit(at, end, size);
        at = end;
    }
}

} // namespace argtrace::elf
