// SPDX-License-Identifier: GPL-2.0-only
#include "elf/dwarf_file.h"

#include <unistd.h>

#include "elf/debug_file.h"

namespace argtrace::elf {

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

} // namespace

std::optional<DwarfFile> DwarfFile::open(const Object &object, const DebugFiles &debug_files) {
    DwarfFile opened;
    std::optional<Object> debug_file;
    const Object *file = &object;
    if (!has_debug_info(object)) {
        debug_file = find_debug_file(object, debug_files);
        if (!debug_file)
            return std::nullopt;
        file = &*debug_file;
        opened.bias_ = first_load(object) - first_load(*file);
    }
    elf_version(EV_CURRENT);
    if (file->fd() < 0) {
        opened.image_ = file->read(0, file->size());
        opened.elf_.reset(elf_memory(opened.image_.data(), opened.image_.size()));
    } else {
        // Read, not mapped, as everything else of the file.
        opened.file_ = Fd(::dup(file->fd()));
        opened.elf_.reset(elf_begin(opened.file_.get(), ELF_C_READ, nullptr));
    }
    opened.dwarf_.reset(opened.elf_ ? dwarf_begin_elf(opened.elf_.get(), DWARF_C_READ, nullptr) : nullptr);
    if (!opened.dwarf_)
        return std::nullopt;
    // .debug_aranges would say the same, but clang leaves it out.
    for (Dwarf_Die &unit : opened.units())
        for_each_range(unit, [&](std::uint64_t start, std::uint64_t end) { opened.unit_ranges_.push_back({start, end, dwarf_dieoffset(&unit)}); });
    sort_ranges(opened.unit_ranges_);
    return opened;
}

std::vector<Dwarf_Die> DwarfFile::units() const {
    std::vector<Dwarf_Die> found;
    Dwarf_CU *unit = nullptr;
    while (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, nullptr, nullptr, nullptr) == 0) {
        Dwarf_Die die;
        if (dwarf_cu_die(unit, &die, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr))
            found.push_back(die);
    }
    return found;
}

bool DwarfFile::unit_at(std::uint64_t address, Dwarf_Die &unit) const {
    const auto *range = range_of(unit_ranges_, address);
    return range && dwarf_offdie(dwarf_.get(), range->unit, &unit);
}

} // namespace argtrace::elf
