// SPDX-License-Identifier: GPL-2.0-only
// Encodings: Arm Architecture Reference Manual for A-profile, C4.1, by the sections named below.
#include "elf/function_returns_arm64.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "elf/arm64_field.h"
#include "elf/function_code.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t word_size = 4;

struct Arm64Instruction {
    std::uint32_t word;
    std::uint64_t address;

    /// "Reserved" and what is not allocated beside it: nothing that compilers write.
    bool is_code() const { return (word & 0x18000000) != 0 || (word & 0x1e000000) == 0x04000000; }
    bool is_return() const { return word == 0xd65f03c0; } // by x30
    bool is_jump_by_register() const { return (word & 0xfffffc1f) == 0xd61f0000; }
    /// "Unconditional branch (register)" without calls, plain returns and plain jumps: what is signed, or returns by another register, or
    /// from an exception. And "Compare and branch" of FEAT_CMPBR.
    bool is_other_branch() const {
        return ((word & 0xfe000000) == 0xd6000000 && !is_return() && !is_jump_by_register() && !is_call_by_register()) ||
               (word & 0x7e000000) == 0x74000000;
    }
    bool is_call_by_register() const { return (word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800; }
    bool is_padding() const { return word == 0xd503201f; } // NOP
    /// What comes behind it is not executed next: B and BL, BRK and HLT, "Unconditional branch (register)". Compilers end a function with
    /// a call only if that never returns.
    bool is_end() const {
        return (word & 0x7c000000) == 0x14000000 || (word & 0xffe0001f) == 0xd4200000 || (word & 0xffe0001f) == 0xd4400000 || (word & 0xfe000000) == 0xd6000000;
    }
    unsigned register_at(unsigned bit) const { return word >> bit & 31; }

    /// Where a jump leads that is no call: B; B.cond and BC.cond, CBZ and CBNZ; TBZ and TBNZ.
    std::optional<std::uint64_t> target() const {
        if ((word & 0xfc000000) == 0x14000000)
            return address + arm64_distance(word, 0, 26);
        if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
            return address + arm64_distance(word, 5, 19);
        if ((word & 0x7e000000) == 0x36000000)
            return address + arm64_distance(word, 5, 14);
        return std::nullopt;
    }

    /// "Load register (literal)": what it loads from.
    std::optional<CodePiece> literal() const {
        if ((word & 0x3b000000) != 0x18000000)
            return std::nullopt;
        const bool is_vector = word & 0x04000000;
        const unsigned kind = word >> 30; // W, X, the sign-extended W, PRFM; of vectors S, D, Q
        const std::uint64_t size = kind == 0 ? 4 : kind == 1 ? 8 : is_vector ? 16 : 4;
        return CodePiece{address + arm64_distance(word, 5, 19), size};
    }

    /// ADR: which address it makes.
    std::optional<std::uint64_t> made_address() const {
        if ((word & 0x9f000000) != 0x10000000)
            return std::nullopt;
        return address + arm64_distance(word, 5, 19) + (word >> 29 & 3);
    }

    /// "Add/subtract (shifted register)" and "(extended register)", of 64 bits.
    bool is_sum() const { return (word & 0xffe00000) == 0x8b000000 || (word & 0xffe00000) == 0x8b200000; }
};

/// Whether a jump by a register goes by a table of places in the function, as compilers make it of a `switch`: to the sum of an address
/// within the function and a distance. Else it may lead to another function.
class Arm64TableJump {
public:
    void see(const Arm64Instruction &instruction, bool has_address) {
        made_by_sum_ = instruction.is_sum() && (is_address(instruction.register_at(5)) || is_address(instruction.register_at(16)))
                           ? std::optional(instruction.register_at(0))
                           : std::nullopt;
        if (instruction.made_address()) {
            const std::uint32_t bit = 1u << instruction.register_at(0);
            addresses_ = has_address ? addresses_ | bit : addresses_ & ~bit;
        }
    }

    bool is_one(const Arm64Instruction &jump) const { return made_by_sum_ == jump.register_at(5); }

private:
    bool is_address(unsigned number) const { return addresses_ >> number & 1; }

    std::uint32_t addresses_ = 0; ///< which registers ADR has last given an address within the function
    std::optional<unsigned> made_by_sum_;
};

/// What a function has that is no code: what it loads from behind a jump or its end, which is known before it is come to, and so is never
/// taken for code.
class Arm64Literals {
public:
    void add(std::uint64_t begin, std::uint64_t end) {
        for (; begin < end; begin += word_size)
            words_.insert(begin);
    }

    bool has(std::uint64_t address) const { return words_.contains(address); }
    void add_target(std::uint64_t target) { targets_.push_back(target); }
    bool is_target_of_jump() const {
        return std::any_of(targets_.begin(), targets_.end(), [this](std::uint64_t target) { return has(target); });
    }

private:
    std::set<std::uint64_t> words_;
    std::vector<std::uint64_t> targets_; ///< of jumps
};

class Arm64Decoder {
public:
    Arm64Decoder(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool is_padded) : code_(object, pieces, entry), is_padded_(is_padded) {}

    FunctionReturns decode() {
        const bool known = code_.decode_pieces([this](const CodePiece &piece, const Text &bytes) { return decode(piece, bytes); });
        return code_.take_returns(known && !literals_.is_target_of_jump());
    }

private:
    bool decode(const CodePiece &piece, const Text &bytes) {
        if (piece.size % word_size != 0 || piece.address % word_size != 0)
            return false;
        Arm64TableJump tables;
        bool ends = false;
        if (is_padded_)
            add_end(piece, bytes);
        for (std::uint64_t at = 0; at < piece.size; at += word_size) {
            const Arm64Instruction instruction{word_before(bytes, at + word_size), piece.address + at};
            if (literals_.has(instruction.address)) {
                if (!ends)
                    return false;
                continue;
            }
            if (!take(instruction, tables))
                return false;
            const auto made = instruction.made_address();
            tables.see(instruction, made && code_.has(*made));
            if (!instruction.is_padding())
                ends = instruction.is_end();
        }
        if (!ends)
            code_.add_open_end();
        return true;
    }

    /// Go's assembler puts constants at a function's end, behind a jump to itself (flushpool() in cmd/internal/obj/arm64/asm7.go), even such
    /// as nothing loads, and its linker zeros.
    void add_end(const CodePiece &piece, const Text &bytes) {
        std::uint64_t end = bytes.size();
        while (end >= word_size && word_before(bytes, end) == 0)
            end -= word_size;
        bool has_data = false;
        for (std::uint64_t at = end; at >= word_size; at -= word_size) {
            const Arm64Instruction instruction{word_before(bytes, at), piece.address + at - word_size};
            if (instruction.target() == instruction.address) {
                end = has_data ? at : end;
                break;
            }
            has_data = has_data || !instruction.is_code();
        }
        literals_.add(piece.address + end, piece.address + bytes.size());
    }

    static std::uint32_t word_before(const Text &bytes, std::uint64_t at) {
        std::uint32_t word;
        std::memcpy(&word, bytes.data() + at - word_size, word_size);
        return word;
    }

    /// False: it may lead to another function, or is no code of a program's, or says that something before it is data.
    bool take(const Arm64Instruction &instruction, const Arm64TableJump &tables) {
        if (instruction.is_return())
            return code_.add_return(instruction.address);
        if (!instruction.is_code() || instruction.is_other_branch())
            return false;
        if (const auto literal = instruction.literal(); literal && code_.has(literal->address))
            return add_literal(instruction, *literal);
        if (instruction.is_jump_by_register())
            return tables.is_one(instruction);
        const auto target = instruction.target();
        if (!target)
            return true;
        literals_.add_target(*target);
        return code_.add_jump(*target);
    }

    /// False: it lies before the instruction that loads it, and has been taken for code.
    bool add_literal(const Arm64Instruction &load, const CodePiece &literal) {
        literals_.add(literal.address, literal.address + literal.size);
        return literal.address > load.address;
    }

    FunctionCode code_;
    Arm64Literals literals_;
    bool is_padded_;
};

} // namespace

FunctionReturns find_arm64_returns(const Object &object, std::span<const CodePiece> pieces, std::uint32_t entry, bool is_padded) {
    return Arm64Decoder(object, pieces, entry, is_padded).decode();
}

} // namespace argtrace::elf
