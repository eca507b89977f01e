// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

namespace argtrace::test {

/// What a frame's memory and registers may be: any number, but the same each time.
inline std::uint64_t made_up_memory(std::uint64_t address) {
    return (address * 0x9e3779b97f4a7c15 ^ address >> 29) * 0xbf58476d1ce4e5b9;
}

/// x86-64 has 16, behind which is the return address; arm64 has 32. One more is room for the address of the instruction.
constexpr std::size_t made_up_registers = 33;

/// The caller's registers, each as a value or as the place where it is, in a frame whose own
/// registers are made up.
struct CallersFrame {
    std::uint64_t cfa = 0;
    struct Register {
        enum class Kind { unknown, same, undefined, at, value } kind = Kind::unknown;
        std::uint64_t number = 0; ///< the address or the value
        bool operator==(const Register &) const = default;
    };
    std::array<Register, made_up_registers> registers;
    bool is_signal_frame = false;
    std::uint64_t end = 0; ///< of the instructions that this is for
};

using MadeUpRegisters = std::array<std::uint64_t, made_up_registers>;

/// libdw's answer to how an instruction is unwound: elfutils parses .eh_frame, or .debug_frame, and executes it.
class LibdwFrames {
public:
    enum class Source { eh_frame, debug_frame };

    explicit LibdwFrames(int fd, Source source = Source::eh_frame) {
        elf_version(EV_CURRENT);
        elf_.reset(elf_begin(fd, ELF_C_READ, nullptr));
        if (source == Source::eh_frame) {
            owned_.reset(dwarf_getcfi_elf(elf_.get()));
            cfi_ = owned_.get();
        } else {
            dwarf_.reset(dwarf_begin_elf(elf_.get(), DWARF_C_READ, nullptr));
            cfi_ = dwarf_getcfi(dwarf_.get());
        }
    }

    std::optional<CallersFrame> at(std::uint64_t address, const MadeUpRegisters &registers) const {
        Dwarf_Frame *found = nullptr;
        if (!cfi_ || dwarf_cfi_addrframe(cfi_, address, &found) != 0)
            return std::nullopt;
        const std::unique_ptr<Dwarf_Frame, void (*)(void *)> frame(found, std::free);
        CallersFrame caller;
        Dwarf_Addr start = 0, end = 0;
        dwarf_frame_info(found, &start, &end, &caller.is_signal_frame);
        caller.end = end;
        Dwarf_Op *ops = nullptr;
        std::size_t count = 0;
        if (dwarf_frame_cfa(found, &ops, &count) != 0)
            return std::nullopt;
        const auto cfa = evaluate(ops, count, registers, 0);
        if (!cfa)
            return std::nullopt;
        caller.cfa = *cfa;
        for (int reg = 0; reg < static_cast<int>(made_up_registers); reg++)
            caller.registers[static_cast<std::size_t>(reg)] = callers_register(found, reg, registers, caller.cfa);
        return caller;
    }

private:
    static CallersFrame::Register callers_register(Dwarf_Frame *frame, int reg, const MadeUpRegisters &registers, std::uint64_t cfa) {
        using Kind = CallersFrame::Register::Kind;
        Dwarf_Op memory[3], *ops = nullptr;
        std::size_t count = 0;
        if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0)
            return {};
        if (count == 0)
            return {ops ? Kind::undefined : Kind::same, 0};
        if (count == 1 && ops[0].atom == DW_OP_regx)
            return {Kind::value, registers[ops[0].number]};
        if (count == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
            return {Kind::value, registers[ops[0].atom - DW_OP_reg0]};
        const bool is_value = ops[count - 1].atom == DW_OP_stack_value;
        const auto number = evaluate(ops, count - is_value, registers, cfa);
        return number ? CallersFrame::Register{is_value ? Kind::value : Kind::at, *number} : CallersFrame::Register{};
    }

    static std::optional<std::uint64_t> evaluate(const Dwarf_Op *ops, std::size_t count, const MadeUpRegisters &registers, std::uint64_t cfa) {
        std::vector<std::uint64_t> stack;
        const auto pop = [&stack] {
            const std::uint64_t top = stack.empty() ? 0 : stack.back();
            if (!stack.empty())
                stack.pop_back();
            return top;
        };
        for (std::size_t i = 0; i < count; i++) {
            const Dwarf_Op &op = ops[i];
            if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
                stack.push_back(registers[op.atom - DW_OP_breg0] + op.number);
            } else if (op.atom == DW_OP_bregx) {
                stack.push_back(registers.at(op.number) + op.number2);
            } else if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
                stack.push_back(op.atom - DW_OP_lit0);
            } else if (op.atom == DW_OP_call_frame_cfa) {
                stack.push_back(cfa);
            } else if (op.atom == DW_OP_deref) {
                stack.push_back(made_up_memory(pop()));
            } else if (op.atom == DW_OP_plus_uconst) {
                stack.push_back(pop() + op.number);
            } else {
                const std::uint64_t b = pop(), a = pop();
                switch (op.atom) {
                case DW_OP_plus:
                    stack.push_back(a + b);
                    break;
                case DW_OP_and:
                    stack.push_back(a & b);
                    break;
                case DW_OP_ge:
                    stack.push_back(static_cast<std::int64_t>(a) >= static_cast<std::int64_t>(b));
                    break;
                case DW_OP_shl:
                    stack.push_back(a << b);
                    break;
                default:
                    return std::nullopt;
                }
            }
        }
        return stack.empty() ? std::nullopt : std::optional(stack.back());
    }

    std::unique_ptr<Elf, int (*)(Elf *)> elf_{nullptr, elf_end};
    std::unique_ptr<Dwarf, int (*)(Dwarf *)> dwarf_{nullptr, dwarf_end};
    std::unique_ptr<Dwarf_CFI, int (*)(Dwarf_CFI *)> owned_{nullptr, dwarf_cfi_end};
    Dwarf_CFI *cfi_ = nullptr;
};

} // namespace argtrace::test
