// SPDX-License-Identifier: GPL-2.0-only
// Encodings: Arm Architecture Reference Manual for A-profile, C4.1.
#include "elf/go_entry_arm64.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "elf/arm64_field.h"

namespace argtrace::elf {

namespace {

constexpr std::uint64_t arm64_word = 4, arm64_check_max = 64; // bytes
constexpr std::size_t arm64_growth_max = 128;               // instructions, which store the arguments and load them again

constexpr std::uint32_t below = 3, below_or_same = 9; // conditions

/// The check of a function's stack, as Go's assembler writes it (stacksplit() in cmd/internal/obj/arm64/obj7.go). x28 has the goroutine.
class Arm64StackCheck {
public:
    Arm64StackCheck(const Text &code, std::uint64_t size) : code_(code), size_(std::min<std::uint64_t>(size, code.size())) {}

    /// The offset behind it, or 0.
    std::uint32_t end() {
        // ldr x16, [x28, #GUARD]: g.stackguard0 and, for functions on the system's stack, g.stackguard1.
        if (!next() || (is_ != 0xf9400b90 && is_ != 0xf9400f90) || !next())
            return 0;
        if (is_ != compares_sp && !(sets_x17() && is_ == compares_x17))
            return 0;
        if (!next() || !grows_stack(below_or_same) || at_ > arm64_check_max)
            return 0;
        return static_cast<std::uint32_t>(at_);
    }

private:
    static constexpr std::uint32_t compares_sp = 0xeb3063ff, compares_x17 = 0xeb10023f; // cmp sp, x16; cmp x17, x16

    bool next() {
        if (at_ + arm64_word > size_)
            return false;
        std::memcpy(&is_, code_.data() + at_, arm64_word);
        at_ += arm64_word;
        return true;
    }

    /// A number that no instruction has room for is made in x27: movz, movn, movk, or orr with a mask.
    bool sets_x27() const {
        const std::uint32_t wide = is_ & 0xff80001f;
        return wide == 0xd280001b || wide == 0x9280001b || wide == 0xf280001b || (is_ & 0xff8003ff) == 0xb20003fb;
    }

    /// mov x17, sp, as older versions do; a frame that is not small: sub x17, sp, #SIZE. A huge one: subs x17, sp, #SIZE or x27; b.lo.
    /// Leaves the instruction behind it.
    bool sets_x17() {
        if (is_ == 0x910003f1 || (is_ & 0xff8003ff) == 0xd10003f1)
            return next();
        while (sets_x27())
            if (!next())
                return false;
        if (is_ == 0xcb3b63f1) // sub x17, sp, x27
            return next();
        if ((is_ & 0xff8003ff) != 0xf10003f1 && is_ != 0xeb3b63f1)
            return false;
        return next() && grows_stack(below) && next();
    }

    /// Where this instruction jumps to: `bits` of it, from `first` on, are a number of words.
    std::uint64_t target(unsigned first, unsigned bits) const {
        return at_ - arm64_word + arm64_distance(is_, first, bits);
    }

    /// Whether it jumps under that condition to where the stack grows: a call, and then a jump back to the function's first instruction.
    bool grows_stack(std::uint32_t condition) {
        if ((is_ & 0xff00001f) != (0x54000000 | condition))
            return false;
        const std::uint64_t behind = at_, to = target(5, 19);
        if (to >= size_ || to <= behind)
            return false;
        at_ = to;
        bool calls = false, begins_again = false;
        for (std::size_t i = 0; i < arm64_growth_max && !begins_again && next(); i++) {
            calls = calls || (is_ & 0xfc000000) == 0x94000000; // bl
            const bool jumps = (is_ & 0xfc000000) == 0x14000000; // b
            begins_again = jumps && calls && target(0, 26) == 0;
            if (is_ == 0xd65f03c0 || (jumps && !begins_again)) // ret
                break;
        }
        at_ = behind;
        return begins_again;
    }

    const Text &code_;
    std::uint64_t size_, at_ = 0;
    std::uint32_t is_ = 0;
};

} // namespace

std::uint32_t go_entry_arm64(const Text &code, std::uint64_t size) {
    return Arm64StackCheck(code, size).end();
}

} // namespace argtrace::elf
