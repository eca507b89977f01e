// SPDX-License-Identifier: GPL-2.0-only
#include "elf/direct_calls.h"

#include <algorithm>
#include <cstring>

#include "elf/section_entries.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t code_max = 256 << 20; // bytes of an object

/// A call or jump that these bytes may be, whose distance has four bytes.
struct Branch {
    std::size_t size = 0; ///< 0: it is none
    bool is_jump = true;
};

Branch long_branch(std::string_view code) {
    const auto byte = [code](std::size_t at) { return static_cast<unsigned char>(code[at]); };
    if (code.size() >= 5 && (byte(0) == 0xe8 || byte(0) == 0xe9)) // call, jmp
        return {5, byte(0) == 0xe9};
    return {code.size() >= 6 && byte(0) == 0x0f && (byte(1) & 0xf0) == 0x80 ? 6u : 0u}; // jcc
}

/// The same of one byte: jmp, jcc.
bool is_short_jump(unsigned char first) {
    return first == 0xeb || (first & 0xf0) == 0x70;
}

} // namespace

void DirectCalls::find_sites() {
    sites_.emplace();
    const int machine = object_.machine();
    std::uint64_t left = code_max;
    is_whole_ = machine == EM_X86_64 || machine == EM_AARCH64;
    for (const CodeSegment &segment : object_.code_segments()) {
        is_whole_ = is_whole_ && segment.size <= left;
        if (!is_whole_)
            break;
        left -= segment.size;
        code_.emplace_back(segment, object_.read(segment.offset, segment.size));
        if (machine == EM_X86_64)
            find_sites_of_x86_64(segment, view(code_.back().second));
        else
            find_sites_of_arm64(segment, view(code_.back().second));
    }
    std::ranges::sort(*sites_, {}, &Site::target);
    find_linked();
}

void DirectCalls::find_sites_of_x86_64(const CodeSegment &segment, std::string_view code) {
    for (std::size_t at = 0; at < code.size(); at++) {
        const Branch branch = long_branch(code.substr(at));
        if (branch.size == 0)
            continue;
        std::int32_t distance;
        std::memcpy(&distance, code.data() + at + branch.size - sizeof(distance), sizeof(distance));
        const std::uint64_t behind = segment.address + at + branch.size, target = behind + static_cast<std::uint64_t>(std::int64_t{distance});
        if (target - segment.address < segment.size)
            sites_->push_back({target, behind, branch.is_jump});
    }
}

// Arm ARM, C4.1.66, "Unconditional branch (immediate)": B and BL, with the distance in instructions in the lower 26 bits.
void DirectCalls::find_sites_of_arm64(const CodeSegment &segment, std::string_view code) {
    constexpr std::uint32_t branch_mask = 0x7c000000, branch = 0x14000000, with_link = 0x80000000;
    constexpr unsigned size = 4, unused_bits = 6;
    for (std::size_t at = 0; at + size <= code.size(); at += size) {
        std::uint32_t instruction;
        std::memcpy(&instruction, code.data() + at, sizeof(instruction));
        if ((instruction & branch_mask) != branch)
            continue;
        const std::int32_t distance = static_cast<std::int32_t>(instruction << unused_bits) >> unused_bits;
        const std::uint64_t place = segment.address + at, target = place + static_cast<std::uint64_t>(std::int64_t{distance} * size);
        if (target - segment.address < segment.size)
            sites_->push_back({target, place + size, (instruction & with_link) == 0});
    }
}

// Its own functions that relocations have the address of.
void DirectCalls::find_linked() {
    for (const char *name : {".rela.plt", ".rela.dyn"}) {
        const Object::Section *relocations = object_.section(name);
        if (!relocations || relocations->header.sh_link >= object_.sections().size())
            continue;
        const auto symbols = entries_of<Elf64_Sym>(object_, object_.sections()[relocations->header.sh_link]);
        for (const Elf64_Rela &relocation : entries_of<Elf64_Rela>(object_, *relocations))
            if (const std::size_t number = ELF64_R_SYM(relocation.r_info); number > 0 && number < symbols.size() && symbols[number].st_value != 0)
                linked_.insert(symbols[number].st_value);
    }
}

std::span<const DirectCalls::Site> DirectCalls::to(std::uint64_t address) {
    if (!sites_)
        find_sites();
    const auto first = std::ranges::lower_bound(*sites_, address, {}, &Site::target), behind = std::ranges::upper_bound(*sites_, address, {}, &Site::target);
    return {first, behind};
}

bool DirectCalls::is_called(std::uint64_t address) {
    return !to(address).empty() || !is_whole_ || linked_.contains(address) || (object_.machine() == EM_X86_64 && has_short_jump_to(address));
}

// It may be what looks like one.
bool DirectCalls::has_short_jump_to(std::uint64_t address) const {
    constexpr std::uint64_t reach = 128, size = 2;
    const auto *const segment = segment_at(address);
    if (!segment)
        return false;
    const std::string_view code = view(segment->second);
    const std::uint64_t place = address - segment->first.address;
    for (std::uint64_t at = place - std::min(place, reach + size); at + size <= std::min<std::uint64_t>(code.size(), place + reach + size); at++)
        if (is_short_jump(static_cast<unsigned char>(code[at])) && at + size + static_cast<std::uint64_t>(std::int64_t{static_cast<signed char>(code[at + 1])}) == place)
            return true;
    return false;
}

const std::pair<CodeSegment, Text> *DirectCalls::segment_at(std::uint64_t address) const {
    const auto found = std::ranges::find_if(code_, [address](const auto &one) { return address - one.first.address < one.second.size(); });
    return found == code_.end() ? nullptr : &*found;
}

std::string_view DirectCalls::code_at(std::uint64_t address) const {
    const auto *const segment = segment_at(address);
    return segment ? view(segment->second).substr(address - segment->first.address) : std::string_view();
}

} // namespace argtrace::elf
