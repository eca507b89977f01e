// SPDX-License-Identifier: GPL-2.0-only
#include "elf/go_entry.h"

#include <algorithm>
#include <array>
#include <optional>

#include <Zydis/Zydis.h>
#include <elf.h>

#include "elf/go_entry_arm64.h"
#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t check_max = 64; // bytes
constexpr std::size_t growth_max = 64;  // instructions
// Go's runtime/runtime2.go: g.stackguard0 and, for functions on the system's stack, g.stackguard1.
constexpr std::int64_t guard_at = 0x10, system_guard_at = 0x18;

/// The check of a function's stack, as Go's assembler writes it (stacksplit() in cmd/internal/obj/x86/obj6.go). R14 has the goroutine.
class StackCheck {
public:
    StackCheck(const Text &code, std::uint64_t size) : code_(code), size_(std::min<std::uint64_t>(size, code.size())) {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    /// The offset behind it, or 0.
    std::uint32_t end() {
        if (!next())
            return 0;
        if (!is_compared(ZYDIS_REGISTER_RSP) && !(sets_r12() && is_compared(ZYDIS_REGISTER_R12)))
            return 0;
        if (!next() || !grows_stack(ZYDIS_MNEMONIC_JBE) || at_ > check_max)
            return 0;
        return static_cast<std::uint32_t>(at_);
    }

private:
    bool next() {
        if (at_ >= size_ || !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code_.data() + at_, size_ - at_, &is_, operands_.data())))
            return false;
        at_ += is_.length;
        return true;
    }

    bool has_register(std::size_t operand, ZydisRegister wanted) const {
        return operands_[operand].type == ZYDIS_OPERAND_TYPE_REGISTER && operands_[operand].reg.value == wanted;
    }

    /// cmp REGISTER, GUARD(%r14)
    bool is_compared(ZydisRegister reg) const {
        const auto &memory = operands_[1];
        return is_.mnemonic == ZYDIS_MNEMONIC_CMP && has_register(0, reg) && memory.type == ZYDIS_OPERAND_TYPE_MEMORY &&
               memory.mem.segment != ZYDIS_REGISTER_FS && memory.mem.segment != ZYDIS_REGISTER_GS && memory.mem.base == ZYDIS_REGISTER_R14 &&
               memory.mem.index == ZYDIS_REGISTER_NONE && (memory.mem.disp.value == guard_at || memory.mem.disp.value == system_guard_at);
    }

    /// A frame that is not small: lea -SIZE(%rsp), %r12. A huge one: mov %rsp, %r12; sub $SIZE, %r12; jb. Leaves the instruction behind it.
    bool sets_r12() {
        if (is_.mnemonic == ZYDIS_MNEMONIC_LEA && has_register(0, ZYDIS_REGISTER_R12) && operands_[1].mem.base == ZYDIS_REGISTER_RSP &&
            operands_[1].mem.index == ZYDIS_REGISTER_NONE)
            return next();
        if (is_.mnemonic != ZYDIS_MNEMONIC_MOV || !has_register(0, ZYDIS_REGISTER_R12) || !has_register(1, ZYDIS_REGISTER_RSP) || !next())
            return false;
        if (is_.mnemonic != ZYDIS_MNEMONIC_SUB || !has_register(0, ZYDIS_REGISTER_R12) || operands_[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !next())
            return false;
        return grows_stack(ZYDIS_MNEMONIC_JB) && next();
    }

    std::optional<std::uint64_t> target() const {
        const auto distance = branch_distance(is_, operands_.data());
        return distance ? std::optional(at_ + static_cast<std::uint64_t>(*distance)) : std::nullopt;
    }

    /// Whether this jump leads to where the stack grows: a call, and then a jump back to the function's first instruction.
    bool grows_stack(ZydisMnemonic jump) {
        const auto to = target();
        if (is_.mnemonic != jump || !to || *to >= size_ || *to <= at_)
            return false;
        const std::uint64_t behind = at_;
        at_ = *to;
        bool calls = false, begins_again = false;
        for (std::size_t i = 0; i < growth_max && !begins_again && next(); i++) {
            calls = calls || is_.mnemonic == ZYDIS_MNEMONIC_CALL;
            if (is_.mnemonic == ZYDIS_MNEMONIC_JMP)
                begins_again = calls && target() == std::optional<std::uint64_t>(0);
            if (is_.mnemonic == ZYDIS_MNEMONIC_RET || (is_.mnemonic == ZYDIS_MNEMONIC_JMP && !begins_again))
                break;
        }
        at_ = behind;
        return begins_again;
    }

    const Text &code_;
    std::uint64_t size_, at_ = 0;
    ZydisDecoder decoder_;
    ZydisDecodedInstruction is_;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_;
};

} // namespace

std::uint32_t go_entry(const Object &object, const CodePiece &function) {
    constexpr std::uint64_t function_max = 1 << 20;
    const auto offset = object.offset_of(function.address);
    if (!offset || function.size > function_max)
        return 0;
    const Text code = object.read(*offset, function.size);
    if (object.machine() == EM_AARCH64)
        return go_entry_arm64(code, function.size);
    if (object.machine() != EM_X86_64)
        return 0;
    return StackCheck(code, function.size).end();
}

} // namespace argtrace::elf
