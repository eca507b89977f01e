// SPDX-License-Identifier: GPL-2.0-only
#include "elf/needed.h"

#include <string_view>

#include "elf/section_entries.h"
#include "elf/symbol_tables.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t interpreter_bytes_max = 4096; // Linux, PATH_MAX

} // namespace

std::vector<std::string> needed_libraries(const Object &object) {
    std::vector<std::string> libraries;
    const Object::Section *dynamic = object.section(".dynamic"), *names = object.section(".dynstr");
    if (!dynamic || !names)
        return libraries;
    const Text strings = object.content(*names);
    for (const Elf64_Dyn &entry : entries_of<Elf64_Dyn>(object, *dynamic)) {
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED)
            continue;
        if (const std::string_view name = string_at(strings, entry.d_un.d_val); !name.empty())
            libraries.emplace_back(name);
    }
    return libraries;
}

std::string interpreter(const Object &object) {
    for (const Elf64_Phdr &segment : object.segments())
        if (segment.p_type == PT_INTERP && segment.p_filesz < interpreter_bytes_max) {
            const Text text = object.read(segment.p_offset, segment.p_filesz);
            const std::string_view name = view(text);
            return std::string(name.substr(0, name.find('\0')));
        }
    return "";
}

} // namespace argtrace::elf
