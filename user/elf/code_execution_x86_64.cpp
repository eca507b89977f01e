// SPDX-License-Identifier: GPL-2.0-only
#include "elf/code_execution_x86_64.h"

#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::uint8_t dwarf_rsp = 7;

/// What calls need not preserve (x86-64 psABI, 3.2.1), and what a system call does not.
constexpr std::array<std::uint8_t, 9> lost_in_calls_x86_64 = {0, 1, 2, 4, 5, 8, 9, 10, 11};
constexpr std::array<std::uint8_t, 3> lost_in_system_calls = {0, 2, 11};

} // namespace

CodeExecutionX8664::CodeExecutionX8664(const Text &code, std::size_t from) : CodeExecution(code, from, dwarf_rsp) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

std::optional<CodeExecution::Flow> CodeExecutionX8664::decode() {
    if (at_ >= code_.size() || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at_, code_.size() - at_, &is_, operands_.data())))
        return std::nullopt;
    at_ += is_.length;
    if (is_.mnemonic == ZYDIS_MNEMONIC_RET)
        return Flow::returns;
    switch (is_.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        return Flow::branches;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return Flow::jumps;
    default:
        return Flow::on;
    }
}

std::optional<std::uint64_t> CodeExecutionX8664::target() const {
    const auto distance = branch_distance(is_, operands_.data());
    return distance ? std::optional(at_ + static_cast<std::uint64_t>(*distance)) : std::nullopt;
}

KnownValue CodeExecutionX8664::of_register(ZydisRegister reg) const {
    const auto number = dwarf_number_of(reg);
    return number ? registers_[*number] : std::nullopt;
}

std::optional<CodePath> CodeExecutionX8664::address_of(const ZydisDecodedOperand &operand) const {
    const auto &memory = operand.mem;
    if (memory.index != ZYDIS_REGISTER_NONE || memory.segment == ZYDIS_REGISTER_GS)
        return std::nullopt;
    const bool is_of_thread = memory.segment == ZYDIS_REGISTER_FS;
    KnownValue base = memory.base == ZYDIS_REGISTER_NONE ? number(0) : of_register(memory.base);
    if (!base || base->minus || (is_of_thread && !base->path.is_number()))
        return std::nullopt;
    CodePath at = base->path.plus(memory.disp.value);
    if (is_of_thread)
        at.base = CodePath::thread;
    return at.base == CodePath::nothing ? std::nullopt : std::optional(at);
}

KnownValue CodeExecutionX8664::read(const ZydisDecodedOperand &operand) const {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER)
        return of_register(operand.reg.value);
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return number(operand.imm.value.s);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.size == 64)
        return load(address_of(operand));
    return std::nullopt;
}

void CodeExecutionX8664::write(const ZydisDecodedOperand &operand, const KnownValue &value) {
    const KnownValue whole = operand.size == 64 ? value : std::nullopt;
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) {
        const auto number = dwarf_number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, operand.reg.value));
        if (number)
            registers_[*number] = whole;
    } else if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM) {
        store(address_of(operand), whole);
    }
}

void CodeExecutionX8664::execute() {
    const auto &to = operands_[0], &from = operands_[1];
    switch (is_.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return write(to, read(from));
    case ZYDIS_MNEMONIC_LEA: {
        const auto address = from.mem.segment == ZYDIS_REGISTER_FS ? std::nullopt : address_of(from);
        return write(to, address ? KnownValue(CodeValue{*address}) : std::nullopt);
    }
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return write(to, sum(read(to), read(from), is_.mnemonic == ZYDIS_MNEMONIC_SUB));
    case ZYDIS_MNEMONIC_PUSH:
        registers_[dwarf_rsp] = sum(registers_[dwarf_rsp], number(8), true);
        if (registers_[dwarf_rsp] && !registers_[dwarf_rsp]->minus)
            store(registers_[dwarf_rsp]->path, read(to));
        return;
    case ZYDIS_MNEMONIC_POP: {
        const KnownValue top = registers_[dwarf_rsp];
        registers_[dwarf_rsp] = sum(top, number(8), false);
        return write(to, top && !top->minus ? load(top->path) : std::nullopt);
    }
    case ZYDIS_MNEMONIC_CALL:
        return forget(lost_in_calls_x86_64);
    case ZYDIS_MNEMONIC_SYSCALL:
        return forget(lost_in_system_calls);
    default:
        for (std::size_t i = 0; i < is_.operand_count; i++)
            if (operands_[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                write(operands_[i], std::nullopt);
    }
}

} // namespace argtrace::elf
