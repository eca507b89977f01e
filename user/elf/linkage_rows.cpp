// SPDX-License-Identifier: GPL-2.0-only
#include "elf/linkage_rows.h"

#include <string_view>

#include "elf/call_frames.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t entry_size = 16;

argtrace_unwind_rule linkage_rule(std::uint8_t cfa, std::int32_t offset, std::int32_t add) {
    argtrace_unwind_rule rule = {};
    rule.cfa = cfa;
    rule.reg = rsp;
    rule.offset = offset;
    rule.add = add;
    rule.ra = ARGTRACE_RA_MEMORY;
    rule.ra_at = -1;
    return rule;
}

using Add = std::function<void(std::uint64_t start, std::uint64_t end, const argtrace_unwind_rule &rule)>;

/// One entry, of 16 bytes. What is none of these is left out.
void visit_entry(std::string_view code, std::uint64_t at, const Add &add) {
    constexpr std::string_view push_slot("\xff\x35", 2), endbr64("\xf3\x0f\x1e\xfa", 4), jump("\xff\x25", 2), bound_jump("\xf2\xff\x25", 3);
    constexpr char push = '\x68', jump_near = '\xe9', bound = '\xf2';
    if (code.starts_with(push_slot)) {
        // The first entry, which the others jump to, with the number of a relocation above the return address.
        add(at, at + 6, linkage_rule(ARGTRACE_CFA_REGISTER, 16, 0));
        add(at + 6, at + entry_size, linkage_rule(ARGTRACE_CFA_REGISTER, 24, 0));
        return;
    }
    // Where the number is pushed: behind the jump through the slot, or with branch protection at the beginning.
    std::size_t pushed = code.starts_with(endbr64) ? endbr64.size() : 0;
    if (code.substr(pushed).starts_with(jump) || code.substr(pushed).starts_with(bound_jump)) {
        pushed += code[pushed] == bound ? 7 : 6;
        if (pushed + 6 > entry_size || code[pushed] != push) {
            add(at, at + entry_size, linkage_rule(ARGTRACE_CFA_REGISTER, 8, 0));
            return;
        }
    }
    const std::size_t behind = pushed + 5;
    if (behind < entry_size && code[pushed] == push && (code[behind] == jump_near || code[behind] == bound))
        add(at, at + entry_size, linkage_rule(ARGTRACE_CFA_PLT, 8, static_cast<std::int32_t>(behind)));
}

} // namespace

void visit_linkage_rows(const Object &object, const Add &add) {
    for (const Object::Section &section : object.sections()) {
        const Elf64_Shdr &header = section.header;
        // Rules go by the lower bits of addresses.
        if ((section.name != ".plt" && section.name != ".plt.sec") || header.sh_addr % entry_size != 0 ||
            object.offset_of(header.sh_addr) != header.sh_offset)
            continue;
        const Text code = object.content(section);
        for (std::uint64_t at = 0; at + entry_size <= code.size(); at += entry_size)
            visit_entry(view(code).substr(at, entry_size), header.sh_offset + at, add);
    }
}

} // namespace argtrace::elf
