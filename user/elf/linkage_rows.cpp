// SPDX-License-Identifier: GPL-2.0-only
#include "elf/linkage_rows.h"

#include <string_view>

#include "elf/unwind_rule.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t entry_size = 16;

using Add = std::function<void(std::uint64_t start, std::uint64_t end, const argtrace_unwind_rule &rule)>;

argtrace_unwind_rule linkage_rule(const FrameRegisters &registers, std::int32_t behind) {
    argtrace_unwind_rule rule = stack_rule(registers, 8);
    rule.cfa = ARGTRACE_CFA_PLT;
    rule.add = behind;
    return rule;
}

/// One entry, of 16 bytes. What is none of these is left out.
void visit_entry(const FrameRegisters &registers, std::string_view code, std::uint64_t at, const Add &add) {
    constexpr std::string_view push_slot("\xff\x35", 2), endbr64("\xf3\x0f\x1e\xfa", 4), jump("\xff\x25", 2), bound_jump("\xf2\xff\x25", 3);
    constexpr char push = '\x68', jump_near = '\xe9', bound = '\xf2';
    if (code.starts_with(push_slot)) {
        // The first entry, which the others jump to, with the number of a relocation above the return address.
        add(at, at + 6, stack_rule(registers, 16));
        add(at + 6, at + entry_size, stack_rule(registers, 24));
        return;
    }
    // Where the number is pushed: behind the jump through the slot, or with branch protection at the beginning.
    std::size_t pushed = code.starts_with(endbr64) ? endbr64.size() : 0;
    if (code.substr(pushed).starts_with(jump) || code.substr(pushed).starts_with(bound_jump)) {
        pushed += code[pushed] == bound ? 7 : 6;
        if (pushed + 6 > entry_size || code[pushed] != push) {
            add(at, at + entry_size, stack_rule(registers, 8));
            return;
        }
    }
    const std::size_t behind = pushed + 5;
    if (behind < entry_size && code[pushed] == push && (code[behind] == jump_near || code[behind] == bound))
        add(at, at + entry_size, linkage_rule(registers, static_cast<std::int32_t>(behind)));
}

/// arm64: entries leave the stack and x30 alone, but for the first, which begins with `stp x16, x30, [sp, #-16]!`, perhaps behind `bti c`.
void visit_linked_table(const FrameRegisters &registers, std::string_view code, std::uint64_t at, const Add &add) {
    constexpr std::string_view push("\xf0\x7b\xbf\xa9", 4);
    constexpr std::uint64_t first_size = 2 * entry_size;
    std::size_t pushed = 0;
    while (pushed <= 2 * push.size() && code.substr(pushed, push.size()) != push)
        pushed += push.size();
    std::uint64_t behind = 0;
    if (pushed <= push.size() && code.size() >= first_size) {
        behind = first_size;
        add(at, at + pushed + push.size(), link_rule(registers));
        add(at + pushed + push.size(), at + behind, stack_rule(registers, 16));
    }
    if (behind < code.size())
        add(at + behind, at + code.size(), link_rule(registers));
}

} // namespace

void visit_linkage_rows(const Object &object, const FrameRegisters &registers, const Add &add) {
    for (const Object::Section &section : object.sections()) {
        const Elf64_Shdr &header = section.header;
        // Rules go by the lower bits of addresses.
        if ((section.name != ".plt" && section.name != ".plt.sec") || header.sh_addr % entry_size != 0 ||
            object.offset_of(header.sh_addr) != header.sh_offset)
            continue;
        const Text content = object.content(section);
        const std::string_view code = view(content);
        if (registers.is_linked) {
            visit_linked_table(registers, code, header.sh_offset, add);
            continue;
        }
        for (std::uint64_t at = 0; at + entry_size <= code.size(); at += entry_size)
            visit_entry(registers, code.substr(at, entry_size), header.sh_offset + at, add);
    }
}

} // namespace argtrace::elf
