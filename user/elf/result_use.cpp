// SPDX-License-Identifier: GPL-2.0-only
#include "elf/result_use.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <vector>

#include <Zydis/Zydis.h>

#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t decoded_max = 64;   // instructions behind a call

/// One instruction, and what it does with a register.
class RegisterUse {
public:
    explicit RegisterUse(bool in_vector) : wanted_(in_vector ? ZYDIS_REGISTER_ZMM0 : ZYDIS_REGISTER_RAX) {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    bool decode(std::string_view code) { return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(), &is_, operands_.data())); }

    bool reads() const {
        const bool is_zeroed = zeroes();
        for (std::size_t i = 0; i < is_.operand_count; i++) {
            const ZydisDecodedOperand &operand = operands_[i];
            if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && (is_wanted(operand.mem.base) || is_wanted(operand.mem.index)))
                return true;
            const bool is_part = operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_wanted(operand.reg.value);
            if (is_part && !is_zeroed && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ || !is_whole(operand.size)))
                return true;
        }
        return is_.mnemonic == ZYDIS_MNEMONIC_SYSCALL;
    }

    bool writes() const {
        return std::any_of(operands_.begin(), operands_.begin() + is_.operand_count, [this](const ZydisDecodedOperand &operand) {
            return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_wanted(operand.reg.value) && operand.actions == ZYDIS_OPERAND_ACTION_WRITE;
        }) || (zeroes() && is_wanted(operands_[0].reg.value));
    }

    const ZydisDecodedInstruction &instruction() const { return is_; }
    std::optional<std::int64_t> distance() const { return branch_distance(is_, operands_.data()); }

private:
    bool is_wanted(ZydisRegister reg) const {
        return reg != ZYDIS_REGISTER_NONE && ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg) == wanted_;
    }

    /// A part that leaves the rest as it is, is as good as read.
    bool is_whole(std::uint16_t bits) const { return bits >= 32; }

    bool is_combined() const {
        switch (is_.mnemonic) {
        case ZYDIS_MNEMONIC_XOR:
        case ZYDIS_MNEMONIC_SUB:
        case ZYDIS_MNEMONIC_PXOR:
        case ZYDIS_MNEMONIC_XORPS:
        case ZYDIS_MNEMONIC_XORPD:
        case ZYDIS_MNEMONIC_VPXOR:
        case ZYDIS_MNEMONIC_VXORPS:
        case ZYDIS_MNEMONIC_VXORPD:
            return true;
        default:
            return false;
        }
    }

    /// It combines a register with itself, which is then zero: that reads nothing.
    bool zeroes() const {
        if (!is_combined() || is_.operand_count_visible < 2)
            return false;
        const ZydisDecodedOperand &to = operands_[0], &from = operands_[is_.operand_count_visible - 1];
        return to.type == ZYDIS_OPERAND_TYPE_REGISTER && from.type == ZYDIS_OPERAND_TYPE_REGISTER && to.reg.value == from.reg.value;
    }

    ZydisRegister wanted_;
    ZydisDecoder decoder_;
    ZydisDecodedInstruction is_ = {};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_ = {};
};

} // namespace

/// Whether some way from there reads the register before it is overwritten, as far as that is known.
bool ResultUse::is_read(std::uint64_t address, bool in_vector) const {
    RegisterUse use(in_vector);
    std::vector<std::uint64_t> ways = {address};
    std::set<std::uint64_t> known;
    while (!ways.empty()) {
        const std::uint64_t at = ways.back();
        ways.pop_back();
        if (!known.insert(at).second)
            continue;
        if (known.size() > decoded_max || !use.decode(calls_.code_at(at)) || use.reads())
            return true;
        const std::uint64_t next = at + use.instruction().length;
        const auto distance = use.distance();
        switch (use.instruction().meta.category) {
        case ZYDIS_CATEGORY_CALL: // which may return another
            continue;
        case ZYDIS_CATEGORY_RET:
            return true;
        case ZYDIS_CATEGORY_COND_BR:
            ways.push_back(next);
            [[fallthrough]];
        case ZYDIS_CATEGORY_UNCOND_BR:
            if (!distance)
                return true;
            ways.push_back(next + static_cast<std::uint64_t>(*distance));
            continue;
        default:
            break;
        }
        if (use.instruction().mnemonic != ZYDIS_MNEMONIC_UD2 && !use.writes())
            ways.push_back(next);
    }
    return false;
}

bool ResultUse::is_never_read(std::uint64_t address, bool in_vector) {
    if (object_.machine() != EM_X86_64)
        return false;
    const std::span<const DirectCalls::Site> sites = calls_.to(address);
    return !sites.empty() && !calls_.has_short_jump_to(address) &&
           std::ranges::none_of(sites, [&](const DirectCalls::Site &site) { return site.is_jump || is_read(site.behind, in_vector); });
}

} // namespace argtrace::elf
