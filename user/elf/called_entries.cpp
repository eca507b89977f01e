// SPDX-License-Identifier: GPL-2.0-only
#include "elf/called_entries.h"

#include <algorithm>
#include <iterator>

#include "elf/unwind_rule.h"

namespace argtrace::elf {

CalledEntries::CalledEntries(const Object &object)
    : start_(object.offset_of(object.entry()).value_or(~0ull)), machine_(object.machine()), table_(unwind_table(object)) {}

bool CalledEntries::is_called(std::uint64_t offset) const {
    const FrameRegisters *const registers = frame_registers(machine_);
    if (offset == start_)
        return false;
    const auto behind = std::ranges::upper_bound(table_.rows, offset, {}, &argtrace_unwind_row::offset);
    if (!registers || behind == table_.rows.begin() || std::prev(behind)->rule == ARGTRACE_UNWIND_NONE)
        return true;
    const argtrace_unwind_rule &rule = table_.rules[std::prev(behind)->rule];
    constexpr std::int32_t address_size = 8;
    const argtrace_unwind_rule called = registers->is_linked ? link_rule(*registers) : stack_rule(*registers, address_size);
    return rule.cfa == called.cfa && rule.reg == called.reg && rule.offset == called.offset && rule.ra == called.ra && rule.ra_at == called.ra_at;
}

} // namespace argtrace::elf
