// SPDX-License-Identifier: GPL-2.0-only
#include "elf/function_returns.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>

#include <Zydis/Zydis.h>
#include <elf.h>

#include "elf/function_code.h"
#include "elf/function_returns_arm64.h"
#include "elf/x86_64_code.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t data_max = 16; // bytes

struct Instruction {
    ZydisDecodedInstruction is;
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands;
    std::uint64_t address;

    std::uint64_t end() const { return address + is.length; }
    bool is_branch() const {
        return is.meta.category == ZYDIS_CATEGORY_COND_BR || is.meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    }
    /// C3 or C2; a far return is none of a function's.
    bool is_return() const { return is.mnemonic == ZYDIS_MNEMONIC_RET && is.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR; }
    /// No program executes another of these; HLT stands behind what does not return, as in _start.
    bool is_privileged() const { return is.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED && is.mnemonic != ZYDIS_MNEMONIC_HLT; }
    bool is_padding() const { return is.meta.category == ZYDIS_CATEGORY_NOP || is.meta.category == ZYDIS_CATEGORY_WIDENOP; }
    /// What comes behind it is not executed next. Compilers end a function with a call only if that never returns.
    bool is_end() const {
        return is.meta.category == ZYDIS_CATEGORY_UNCOND_BR || is.meta.category == ZYDIS_CATEGORY_CALL ||
               is.mnemonic == ZYDIS_MNEMONIC_UD2 || is.mnemonic == ZYDIS_MNEMONIC_HLT || is.mnemonic == ZYDIS_MNEMONIC_INT3;
    }
    /// Where a branch leads; nothing if a register or memory says so.
    std::optional<std::uint64_t> target() const {
        const auto distance = branch_distance(is, operands.data());
        return distance ? std::optional(end() + static_cast<std::uint64_t>(*distance)) : std::nullopt;
    }
};

/// Whether an indirect jump goes by a table of places in the function, as compilers make it of a `switch`: they mark it with the prefix
/// 3E where they mark the others, or load the address from an array, at once or two instructions before. Else it may lead to another
/// function.
class TableJump {
public:
    void see(const Instruction &instruction) {
        before_ = last_;
        last_ = loads_from_array(instruction);
    }

    bool is_one(const Instruction &jump) const {
        if (jump.is.attributes & ZYDIS_ATTRIB_HAS_NOTRACK || loads_from_array(jump))
            return true;
        return jump.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && (last_ || before_);
    }

private:
    static bool loads_from_array(const Instruction &instruction) {
        const auto end = instruction.operands.begin() + instruction.is.operand_count_visible;
        return std::any_of(instruction.operands.begin(), end, [](const ZydisDecodedOperand &operand) {
            return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.type == ZYDIS_MEMOP_TYPE_MEM &&
                   operand.mem.index != ZYDIS_REGISTER_NONE && operand.mem.scale >= 4;
        });
    }

    bool last_ = false, before_ = false;
};

class FunctionDecoder {
public:
    FunctionDecoder(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool has_data)
        : code_(object, pieces, entry), has_data_(has_data) {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    FunctionReturns decode() {
        const bool known = code_.decode_pieces([this](const CodePiece &piece, const Text &bytes) { return decode(piece, bytes); }) &&
                           std::all_of(targets_.begin(), targets_.end(), [this](std::uint64_t target) { return starts_.contains(target); });
        return code_.take_returns(known);
    }

private:
    bool decode(const CodePiece &piece, const Text &bytes) {
        TableJump tables;
        bool ends = false;
        for (std::uint64_t at = 0; at < piece.size;) {
            Instruction instruction;
            if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data() + at, piece.size - at, &instruction.is, instruction.operands.data())))
                return false;
            instruction.address = piece.address + at;
            starts_.insert(instruction.address);
            if (!take(instruction, tables))
                return false;
            tables.see(instruction);
            if (!instruction.is_padding())
                ends = instruction.is_end();
            at += instruction.is.length + (is_first(piece, instruction.address) ? data_behind(instruction) : 0);
        }
        if (!ends)
            code_.add_open_end();
        return true;
    }

    /// Whether a function may have data behind this instruction: its first one, or the one behind the mark that indirect branches may lead
    /// to it. Elsewhere the code behind a short jump belongs to an `else`.
    bool is_first(const CodePiece &piece, std::uint64_t address) const {
        constexpr std::uint64_t mark_size = 4; // ENDBR64
        return has_data_ && code_.is_first(piece) && address - piece.address <= mark_size && starts_.size() <= 2;
    }

    /// Bytes behind a jump that leads over so few of them are no code, such as what clang's -fsanitize=function puts there. Should another
    /// jump lead to them all the same, that is not to an instruction.
    static std::uint64_t data_behind(const Instruction &instruction) {
        const auto target = instruction.target();
        return instruction.is.mnemonic == ZYDIS_MNEMONIC_JMP && target && *target - instruction.end() <= data_max ? *target - instruction.end() : 0;
    }

    /// False: it may lead to another function, or is no code of a program's.
    bool take(const Instruction &instruction, const TableJump &tables) {
        if (instruction.is_return())
            return code_.add_return(instruction.address);
        if (!instruction.is_branch())
            return instruction.is.meta.category != ZYDIS_CATEGORY_RET && !instruction.is_privileged();
        const auto target = instruction.target();
        if (!target)
            return tables.is_one(instruction);
        targets_.insert(*target);
        return code_.add_jump(*target);
    }

    FunctionCode code_;
    bool has_data_;
    ZydisDecoder decoder_;
    std::set<std::uint64_t> starts_, targets_;
};

} // namespace

FunctionReturns find_returns(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool has_data) {
    if (object.machine() == EM_AARCH64)
        return find_arm64_returns(object, pieces, entry, !has_data);
    if (object.machine() != EM_X86_64)
        return {};
    return FunctionDecoder(object, pieces, entry, has_data).decode();
}

} // namespace argtrace::elf
