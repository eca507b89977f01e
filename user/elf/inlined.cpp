// SPDX-License-Identifier: GPL-2.0-only
#include "elf/inlined.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "elf/debug_file.h"
#include "elf/demangle.h"

namespace argtrace::elf {

struct InlinedFrames::Info {
    /// The code of a compilation unit, or a part of it.
    struct UnitRange {
        std::uint64_t start, end;
        std::uint64_t unit; ///< where its DIE is
    };

    std::optional<Object> debug_file;
    Text image; ///< of a file that is in memory
    std::unique_ptr<Elf, int (*)(Elf *)> elf{nullptr, elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf *)> dwarf{nullptr, dwarf_end};
    std::vector<UnitRange> units; ///< by beginning
    std::uint64_t bias = 0;       ///< what the object's addresses are more than those of DWARF

    /// The code of a function, or a part of it.
    struct FunctionRange {
        std::uint64_t start, end;
        std::uint64_t die; ///< where it is
    };
    std::unordered_map<std::uint64_t, std::vector<FunctionRange>> functions; ///< of units that were asked for; by beginning

    bool find_function(Dwarf_Die &unit, std::uint64_t address, Dwarf_Die &function);
};

namespace {

bool has_debug_info(const Object &object) {
    return object.section(".debug_info") || object.section(".zdebug_info");
}

std::uint64_t first_load(const Object &object) {
    for (const Elf64_Phdr &segment : object.segments())
        if (segment.p_type == PT_LOAD)
            return segment.p_vaddr;
    return 0;
}

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

/// Calls `take` with each range of code that a DIE has.
template<typename Take>
void for_each_range(Dwarf_Die &die, const Take &take) {
    Dwarf_Addr base = 0, start = 0, end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
        if (start < end)
            take(start, end);
}

constexpr int nesting_max = 128;

/// Calls `visit` with the DIEs below a DIE in the order of the file, and goes below those for which it returns true. `passed` is where the
/// last one was: in a damaged file siblings may be said to be where others are.
template<typename Visit>
void visit_below(Dwarf_Die &parent, std::uint64_t &passed, int depth, const Visit &visit) {
    Dwarf_Die die;
    if (depth == nesting_max || dwarf_child(&parent, &die) != 0)
        return;
    do {
        if (dwarf_dieoffset(&die) <= passed)
            return;
        passed = dwarf_dieoffset(&die);
        if (visit(die))
            visit_below(die, passed, depth + 1, visit);
    } while (dwarf_siblingof(&die, &die) == 0);
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

template<typename Ranges>
auto *range_of(Ranges &ranges, std::uint64_t address) {
    const auto behind = std::upper_bound(ranges.begin(), ranges.end(), address, [](std::uint64_t at, const auto &range) { return at < range.start; });
    return behind == ranges.begin() || address >= std::prev(behind)->end ? nullptr : &*std::prev(behind);
}

template<typename Ranges>
void sort_ranges(Ranges &ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto &a, const auto &b) { return a.start < b.start; });
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
    const Object *file = object_;
    if (!has_debug_info(*file)) {
        info_->debug_file = find_debug_file(*object_, debug_files_);
        if (!info_->debug_file)
            return *info_;
        file = &*info_->debug_file;
        info_->bias = first_load(*object_) - first_load(*file);
    }
    elf_version(EV_CURRENT);
    if (file->fd() < 0) {
        info_->image = file->read(0, file->size());
        info_->elf.reset(elf_memory(info_->image.data(), info_->image.size()));
    } else {
        // Read, not mapped, as everything else of the file.
        info_->elf.reset(elf_begin(file->fd(), ELF_C_READ, nullptr));
    }
    info_->dwarf.reset(info_->elf ? dwarf_begin_elf(info_->elf.get(), DWARF_C_READ, nullptr) : nullptr);
    // .debug_aranges would say the same, but clang leaves it out.
    Dwarf_CU *unit = nullptr;
    while (info_->dwarf && dwarf_get_units(info_->dwarf.get(), unit, &unit, nullptr, nullptr, nullptr, nullptr) == 0) {
        Dwarf_Die die;
        if (!dwarf_cu_die(unit, &die, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
            continue;
        for_each_range(die, [&](std::uint64_t start, std::uint64_t end) { info_->units.push_back({start, end, dwarf_dieoffset(&die)}); });
    }
    sort_ranges(info_->units);
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
    return range && dwarf_offdie(dwarf.get(), range->die, &function);
}

std::vector<SourceFrame> InlinedFrames::at(std::uint64_t file_offset, Lines lines) {
    const auto place = object_->address_of(file_offset);
    Info &all = info();
    if (!place || all.units.empty())
        return {};
    const std::uint64_t address = *place - all.bias;
    const auto *range = range_of(all.units, address);
    Dwarf_Die unit, function;
    if (!range || !dwarf_offdie(all.dwarf.get(), range->unit, &unit))
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
