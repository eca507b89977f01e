// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include "elf/code_execution.h"

namespace argtrace::elf {

class CodeExecutionArm64 final : public CodeExecution {
public:
    CodeExecutionArm64(const Text &code, std::size_t from);

    std::optional<ReturnAddress> return_address() const override;
    std::int64_t popped() const override { return 0; }

private:
    std::optional<Flow> decode() override;
    std::optional<std::uint64_t> target() const override;
    void execute() override;

    bool has(std::uint32_t mask, std::uint32_t value) const { return (is_ & mask) == value; }
    std::uint32_t field(unsigned first, unsigned bits) const { return is_ >> first & ((1u << bits) - 1); }
    void write(std::uint32_t number, const KnownValue &value);
    void write_but_zero(std::uint32_t number, const KnownValue &value);
    KnownValue read_but_zero(std::uint32_t number) const;
    bool execute_sum();
    bool execute_memory();
    bool writes_stack_pointer() const;
    bool writes_address() const;
    void access(std::uint32_t first, std::uint32_t second, std::int64_t offset, bool is_load, unsigned writes_back);

    std::uint32_t is_ = 0;
    std::optional<std::int64_t> link_at_; ///< from the stack pointer: where the link register was loaded from; nothing: not from there
};

} // namespace argtrace::elf
