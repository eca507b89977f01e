// SPDX-License-Identifier: GPL-2.0-only
#include "elf/inlined.h"

#include <unordered_map>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "elf/demangle.h"
#include "elf/dwarf_file.h"

namespace argtrace::elf {

struct InlinedFrames::Info {
    std::optional<DwarfFile> file; ///< none: there is no DWARF

    /// The code of a function, or a part of it.
    struct FunctionRange {
        std::uint64_t start, end;
        std::uint64_t die; ///< where it is
    };
    std::unordered_map<std::uint64_t, std::vector<FunctionRange>> functions; ///< of units that were asked for; by beginning

    bool find_function(Dwarf_Die &unit, std::uint64_t address, Dwarf_Die &function);
};

namespace {

std::string text_or_empty(const char *text) {
    return text ? text : "";
}

std::string function_name(Dwarf_Die &die) {
    for (const unsigned name : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
        Dwarf_Attribute attribute;
        if (const char *text = dwarf_formstring(dwarf_attr_integrate(&die, name, &attribute)))
            return demangle(text);
    }
    return {};
}

std::uint64_t number_of(Dwarf_Die &die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    return dwarf_formudata(dwarf_attr(&die, name, &attribute), &number) == 0 ? number : 0;
}

/// Where an inlined function is called.
void set_call_site(SourceFrame &frame, Dwarf_Die &unit, Dwarf_Die &inlined) {
    Dwarf_Files *files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) == 0)
        frame.file = text_or_empty(dwarf_filesrc(files, number_of(inlined, DW_AT_call_file), nullptr, nullptr));
    frame.line = static_cast<int>(number_of(inlined, DW_AT_call_line));
}

void set_line(SourceFrame &frame, Dwarf_Die &unit, std::uint64_t address) {
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    if (!line)
        return;
    frame.file = text_or_empty(dwarf_linesrc(line, nullptr, nullptr));
    dwarf_lineno(line, &frame.line);
}

/// The inlined functions that have the address, the outermost first.
void find_inlined(Dwarf_Die &function, std::uint64_t address, std::vector<Dwarf_Die> &found) {
    std::uint64_t passed = dwarf_dieoffset(&function);
    visit_below(function, passed, 0, [&](Dwarf_Die &die) {
        const int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) || dwarf_haspc(&die, address) <= 0)
            return false;
        if (tag == DW_TAG_inlined_subroutine)
            found.push_back(die);
        return true;
    });
}

} // namespace

InlinedFrames::InlinedFrames(const Object &object, DebugFiles debug_files)
    : object_(&object), debug_files_(std::move(debug_files)) {}
InlinedFrames::InlinedFrames(InlinedFrames &&) noexcept = default;
InlinedFrames &InlinedFrames::operator=(InlinedFrames &&) noexcept = default;
InlinedFrames::~InlinedFrames() = default;

InlinedFrames::Info &InlinedFrames::info() {
    if (info_)
        return *info_;
    info_ = std::make_unique<Info>();
    info_->file = DwarfFile::open(*object_, debug_files_);
    return *info_;
}

/// The function of a unit that has the address. All of the unit's are looked for at the first question: dwarf_getscopes() would go
/// through the whole unit each time, which takes milliseconds where it is large.
bool InlinedFrames::Info::find_function(Dwarf_Die &unit, std::uint64_t address, Dwarf_Die &function) {
    const std::uint64_t number = dwarf_dieoffset(&unit);
    const auto [known, is_new] = functions.try_emplace(number);
    auto &ranges = known->second;
    if (is_new) {
        std::uint64_t passed = number;
        visit_below(unit, passed, 0, [&](Dwarf_Die &die) {
            if (dwarf_tag(&die) == DW_TAG_subprogram)
                for_each_range(die, [&](std::uint64_t start, std::uint64_t end) { ranges.push_back({start, end, dwarf_dieoffset(&die)}); });
            return true;
        });
        sort_ranges(ranges);
    }
    const auto *range = range_of(ranges, address);
    return range && dwarf_offdie(file->dwarf(), range->die, &function);
}

std::vector<SourceFrame> InlinedFrames::at(std::uint64_t file_offset, Lines lines) {
    const auto place = object_->address_of(file_offset);
    Info &all = info();
    if (!place || !all.file)
        return {};
    const std::uint64_t address = *place - all.file->bias();
    Dwarf_Die unit, function;
    if (!all.file->unit_at(address, unit))
        return {};
    std::vector<SourceFrame> frames;
    SourceFrame frame;
    if (lines == Lines::wanted)
        set_line(frame, unit, address);
    if (all.find_function(unit, address, function)) {
        std::vector<Dwarf_Die> inlined;
        find_inlined(function, address, inlined);
        for (auto die = inlined.rbegin(); die != inlined.rend(); ++die) {
            frame.function = function_name(*die);
            frames.push_back(std::exchange(frame, {}));
            if (lines == Lines::wanted)
                set_call_site(frame, unit, *die);
        }
        frame.function = function_name(function);
        frames.push_back(std::move(frame));
    } else if (frame.line != 0) {
        frames.push_back(std::move(frame));
    }
    return frames;
}

} // namespace argtrace::elf
