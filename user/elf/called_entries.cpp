// SPDX-License-Identifier: GPL-2.0-only
#include "elf/called_entries.h"

#include "elf/unwind_rule.h"

namespace argtrace::elf {

CalledEntries::CalledEntries(const Object &object)
    : start_(object.offset_of(object.entry()).value_or(~0ull)), machine_(object.machine()), table_(unwind_table(object)) {}

bool CalledEntries::is_called(std::uint64_t offset) const {
    const FrameRegisters *const registers = frame_registers(machine_);
    if (offset == start_)
        return false;
    const argtrace_unwind_rule *const rule = rule_at(table_, offset);
    if (!registers || !rule)
        return true;
    constexpr std::int32_t address_size = 8;
    const argtrace_unwind_rule called = registers->is_linked ? link_rule(*registers) : stack_rule(*registers, address_size);
    return rule->cfa == called.cfa && rule->reg == called.reg && rule->offset == called.offset && rule->ra == called.ra && rule->ra_at == called.ra_at;
}

} // namespace argtrace::elf
