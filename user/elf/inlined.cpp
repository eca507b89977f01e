// SPDX-License-Identifier: GPL-2.0-only
#include "elf/inlined.h"

#include <algorithm>
#include <cstdlib>
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
};

namespace {

using Dies = std::unique_ptr<Dwarf_Die, void (*)(void *)>;

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
void set_call_site(InlinedFrames::Frame &frame, Dwarf_Die &unit, Dwarf_Die &inlined) {
    Dwarf_Files *files = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrcfiles(&unit, &files, &count) == 0)
        frame.file = text_or_empty(dwarf_filesrc(files, number_of(inlined, DW_AT_call_file), nullptr, nullptr));
    frame.line = static_cast<int>(number_of(inlined, DW_AT_call_line));
}

void set_line(InlinedFrames::Frame &frame, Dwarf_Die &unit, std::uint64_t address) {
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    if (!line)
        return;
    frame.file = text_or_empty(dwarf_linesrc(line, nullptr, nullptr));
    dwarf_lineno(line, &frame.line);
}

/// The DIEs around the innermost one that has the address, outwards as they are nested. (dwarf_getscopes() alone goes on where an
/// inlined function was written, not where it is called.)
std::pair<Dies, int> scopes_at(Dwarf_Die &unit, std::uint64_t address) {
    Dwarf_Die *scopes = nullptr, *nested = nullptr;
    const int count = dwarf_getscopes(&unit, address, &scopes);
    const Dies innermost(scopes, std::free);
    const int nested_count = count > 0 ? dwarf_getscopes_die(innermost.get(), &nested) : 0;
    return {Dies(nested, std::free), std::max(nested_count, 0)};
}

} // namespace

InlinedFrames::InlinedFrames(const Object &object, std::vector<std::string> debug_folders)
    : object_(&object), debug_folders_(std::move(debug_folders)) {}
InlinedFrames::InlinedFrames(InlinedFrames &&) noexcept = default;
InlinedFrames &InlinedFrames::operator=(InlinedFrames &&) noexcept = default;
InlinedFrames::~InlinedFrames() = default;

const InlinedFrames::Info &InlinedFrames::info() {
    if (info_)
        return *info_;
    info_ = std::make_unique<Info>();
    const Object *file = object_;
    if (!has_debug_info(*file)) {
        info_->debug_file = find_debug_file(*object_, debug_folders_);
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
        Dwarf_Addr base = 0, start = 0, end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;)
            if (start < end)
                info_->units.push_back({start, end, dwarf_dieoffset(&die)});
    }
    std::sort(info_->units.begin(), info_->units.end(), [](const auto &a, const auto &b) { return a.start < b.start; });
    return *info_;
}

std::vector<InlinedFrames::Frame> InlinedFrames::at(std::uint64_t file_offset) {
    const auto place = object_->address_of(file_offset);
    const Info &all = info();
    if (!place || all.units.empty())
        return {};
    const std::uint64_t address = *place - all.bias;
    const auto behind =
        std::upper_bound(all.units.begin(), all.units.end(), address, [](std::uint64_t at, const auto &range) { return at < range.start; });
    Dwarf_Die unit;
    if (behind == all.units.begin() || address >= std::prev(behind)->end ||
        !dwarf_offdie(all.dwarf.get(), std::prev(behind)->unit, &unit))
        return {};
    std::vector<Frame> frames;
    Frame frame;
    set_line(frame, unit, address);
    const auto [scopes, count] = scopes_at(unit, address);
    for (int i = 0; i < count; i++) {
        Dwarf_Die &die = scopes.get()[i];
        const int tag = dwarf_tag(&die);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        frame.function = function_name(die);
        frames.push_back(std::exchange(frame, {}));
        if (tag == DW_TAG_subprogram)
            break;
        set_call_site(frame, unit, die);
    }
    if (frames.empty() && frame.line != 0)
        frames.push_back(std::move(frame));
    return frames;
}

} // namespace argtrace::elf
