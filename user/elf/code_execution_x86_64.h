// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>

#include <Zydis/Zydis.h>

#include "elf/code_execution.h"

namespace argtrace::elf {

class CodeExecutionX8664 final : public CodeExecution {
public:
    CodeExecutionX8664(const Text &code, std::size_t from);

    std::optional<ReturnAddress> return_address() const override { return ReturnAddress{false, -1}; }
    std::int64_t popped() const override { return 8; }

private:
    std::optional<Flow> decode() override;
    std::optional<std::uint64_t> target() const override;
    void execute() override;

    KnownValue of_register(ZydisRegister reg) const;
    std::optional<CodePath> address_of(const ZydisDecodedOperand &operand) const;
    KnownValue read(const ZydisDecodedOperand &operand) const;
    void write(const ZydisDecodedOperand &operand, const KnownValue &value);

    ZydisDecoder decoder_;
    ZydisDecodedInstruction is_;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_;
};

} // namespace argtrace::elf
