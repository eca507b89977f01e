// SPDX-License-Identifier: GPL-2.0-only
#include "elf/source_lines.h"

#include <algorithm>
#include <map>
#include <optional>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "elf/dwarf_file.h"

namespace argtrace::elf {

namespace {

bool is_that_file(const char *path, std::string_view file) {
    const std::string_view text = path ? path : "";
    return text.ends_with(file) && (text.size() == file.size() || text[text.size() - file.size() - 1] == '/');
}

/// The innermost function, inlined or not, that has the address in a unit; 0: none.
std::uint64_t function_at(Dwarf_Die &unit, std::uint64_t address) {
    std::uint64_t found = 0, passed = dwarf_dieoffset(&unit);
    visit_below(unit, passed, 0, [&](Dwarf_Die &die) {
        const int tag = dwarf_tag(&die);
        const bool is_function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        // A namespace has no code of its own, but functions in it.
        if (!is_function && tag != DW_TAG_lexical_block)
            return tag == DW_TAG_namespace;
        if (dwarf_haspc(&die, address) <= 0)
            return false;
        if (is_function)
            found = dwarf_dieoffset(&die);
        return true;
    });
    return found;
}

bool has_file(Dwarf_Die &unit, std::string_view file) {
    Dwarf_Files *files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) != 0)
        return false;
    for (std::size_t i = 0; i < count; ++i)
        if (is_that_file(dwarf_filesrc(files, i, nullptr, nullptr), file))
            return true;
    return false;
}

} // namespace

SourceLine find_source_line(const Object &object, const DebugFiles &debug_files, std::string_view file, int wanted) {
    SourceLine found;
    const std::optional<DwarfFile> dwarf = DwarfFile::open(object, debug_files);
    found.has_dwarf = dwarf.has_value();
    if (!dwarf)
        return found;
    for (Dwarf_Die unit : dwarf->units()) {
        Dwarf_Lines *lines = nullptr;
        std::size_t count = 0;
        if (!has_file(unit, file) || dwarf_getsrclines(&unit, &lines, &count) != 0)
            continue;
        std::map<std::uint64_t, std::uint64_t> lowest; // by function
        for (std::size_t i = 0; i < count; ++i) {
            Dwarf_Line *line = dwarf_onesrcline(lines, i);
            int number = 0;
            Dwarf_Addr address = 0;
            bool begins = false, ends = false;
            if (!line || dwarf_lineno(line, &number) != 0 || dwarf_lineaddr(line, &address) != 0 || dwarf_linebeginstatement(line, &begins) != 0 ||
                dwarf_lineendsequence(line, &ends) != 0 || !begins || ends || number <= 0 || !is_that_file(dwarf_linesrc(line, nullptr, nullptr), file))
                continue;
            found.has_file = true;
            if (number < wanted)
                found.before = std::max(found.before, number);
            else if (number > wanted)
                found.behind = found.behind == 0 ? number : std::min(found.behind, number);
            else if (const auto [known, is_new] = lowest.try_emplace(function_at(unit, address), address); !is_new)
                known->second = std::min(known->second, address);
        }
        for (const auto &[function, address] : lowest)
            if (const auto offset = object.offset_of(address + dwarf->bias()))
                found.offsets.push_back(*offset);
    }
    std::sort(found.offsets.begin(), found.offsets.end());
    found.offsets.erase(std::unique(found.offsets.begin(), found.offsets.end()), found.offsets.end());
    return found;
}

} // namespace argtrace::elf
