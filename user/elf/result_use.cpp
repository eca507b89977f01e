// SPDX-License-Identifier: GPL-2.0-only
#include "elf/result_use.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include <Zydis/Zydis.h>

#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t decoded_max = 64;   // instructions behind a call
constexpr std::uint64_t code_max = 256 << 20; // bytes of an object

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

/// A call or jump that these bytes may be, whose distance has four bytes.
struct Branch {
    std::size_t size = 0; ///< 0: it is none
    bool is_jump = true;
};

Branch long_branch(std::string_view code) {
    const auto byte = [code](std::size_t at) { return static_cast<unsigned char>(code[at]); };
    if (code.size() >= 5 && (byte(0) == 0xe8 || byte(0) == 0xe9)) // call, jmp
        return {5, byte(0) == 0xe9};
    return {code.size() >= 6 && byte(0) == 0x0f && (byte(1) & 0xf0) == 0x80 ? 6u : 0u}; // jcc
}

/// The same of one byte: jmp, jcc.
bool is_short_jump(unsigned char first) {
    return first == 0xeb || (first & 0xf0) == 0x70;
}

} // namespace

void ResultUse::find_sites() {
    sites_.emplace();
    std::uint64_t left = object_.machine() == EM_X86_64 ? code_max : 0;
    for (const CodeSegment &segment : object_.code_segments()) {
        if (segment.size > left)
            break;
        left -= segment.size;
        code_.emplace_back(segment, object_.read(segment.offset, segment.size));
        const std::string_view code = view(code_.back().second);
        for (std::size_t at = 0; at < code.size(); at++) {
            const Branch branch = long_branch(code.substr(at));
            if (branch.size == 0)
                continue;
            std::int32_t distance;
            std::memcpy(&distance, code.data() + at + branch.size - sizeof(distance), sizeof(distance));
            const std::uint64_t behind = segment.address + at + branch.size, target = behind + static_cast<std::uint64_t>(std::int64_t{distance});
            if (target - segment.address < segment.size)
                sites_->push_back({target, behind, branch.is_jump});
        }
    }
    std::ranges::sort(*sites_, {}, &Site::target);
}

/// Whether a jump near it leads there. It may be what looks like one.
bool ResultUse::has_short_jump_to(std::uint64_t address) const {
    constexpr std::uint64_t reach = 128, size = 2;
    const auto *const segment = segment_at(address);
    if (!segment)
        return false;
    const std::string_view code = view(segment->second);
    const std::uint64_t place = address - segment->first.address;
    for (std::uint64_t at = place - std::min(place, reach + size); at + size <= std::min<std::uint64_t>(code.size(), place + reach + size); at++)
        if (is_short_jump(static_cast<unsigned char>(code[at])) && at + size + static_cast<std::uint64_t>(std::int64_t{static_cast<signed char>(code[at + 1])}) == place)
            return true;
    return false;
}

const std::pair<CodeSegment, Text> *ResultUse::segment_at(std::uint64_t address) const {
    const auto found = std::ranges::find_if(code_, [address](const auto &one) { return address - one.first.address < one.second.size(); });
    return found == code_.end() ? nullptr : &*found;
}

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
        const auto *const segment = segment_at(at);
        if (known.size() > decoded_max || !segment || !use.decode(view(segment->second).substr(at - segment->first.address)) || use.reads())
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
    if (!sites_)
        find_sites();
    const auto first = std::ranges::lower_bound(*sites_, address, {}, &Site::target), behind = std::ranges::upper_bound(*sites_, address, {}, &Site::target);
    return first != behind && !has_short_jump_to(address) &&
           std::none_of(first, behind, [&](const Site &site) { return site.is_jump || is_read(site.behind, in_vector); });
}

} // namespace argtrace::elf
