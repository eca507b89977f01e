// SPDX-License-Identifier: GPL-2.0-only
// Encodings: Arm Architecture Reference Manual for A-profile, C4.1.
#include "elf/code_execution_arm64.h"

#include <array>
#include <cstring>

#include "elf/arm64_field.h"
#include "elf/unwind_rule.h"

namespace argtrace::elf {

namespace {

constexpr std::size_t arm64_instruction = 4; // bytes
constexpr std::int64_t arm64_register = 8;
constexpr std::uint32_t link_register = 30, sp_or_zero = 31; // which of these, an instruction says
constexpr std::uint32_t no_second = 32;                      // an instruction loads or stores one register

/// What calls need not preserve (AAPCS64, 6.1.1).
constexpr std::array<std::uint8_t, 20> lost_in_calls_arm64 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, link_register};

constexpr std::int64_t clone_number = 220; // include/uapi/asm-generic/unistd.h; x8 has it

constexpr unsigned no_write_back = 0, post_index = 1; // as instructions have it; else pre-index

} // namespace

CodeExecutionArm64::CodeExecutionArm64(const Text &code, std::size_t from) : CodeExecution(code, from, sp_or_zero) {}

std::optional<CodeExecution::Flow> CodeExecutionArm64::decode() {
    if (code_.size() < arm64_instruction || at_ > code_.size() - arm64_instruction)
        return std::nullopt;
    std::memcpy(&is_, code_.data() + at_, arm64_instruction);
    at_ += arm64_instruction;
    if (has(0xfffffc1f, 0xd65f0000)) // ret
        return Flow::returns;
    if (has(0xff000010, 0x54000000) || has(0x7c000000, 0x34000000)) // b.COND; cbz, cbnz, tbz, tbnz
        return Flow::branches;
    if (has(0xfc000000, 0x14000000) || has(0xfffffc1f, 0xd61f0000)) // b, br
        return Flow::jumps;
    return Flow::on;
}

std::optional<std::uint64_t> CodeExecutionArm64::target() const {
    if (!has(0xfc000000, 0x14000000))
        return std::nullopt;
    return at_ - arm64_instruction + arm64_distance(is_, 0, 26);
}

void CodeExecutionArm64::write(std::uint32_t number, const KnownValue &value) {
    registers_[number] = value;
    if (number == link_register || number == sp_or_zero)
        link_at_.reset();
}

void CodeExecutionArm64::write_but_zero(std::uint32_t number, const KnownValue &value) {
    if (number != sp_or_zero)
        write(number, value);
}

KnownValue CodeExecutionArm64::read_but_zero(std::uint32_t number) const {
    return number == sp_or_zero ? CodeExecution::number(0) : registers_[number];
}

/// add, sub: with a number, or with another register that is not shifted; mov, of a register or a number.
bool CodeExecutionArm64::execute_sum() {
    const bool is_difference = field(30, 1) != 0;
    const std::uint32_t to = field(0, 5), first = field(5, 5);
    if (has(0xbf800000, 0x91000000)) {
        const auto added = static_cast<std::int64_t>(field(10, 12)) << (field(22, 1) ? 12 : 0);
        std::optional<std::int64_t> link_at = link_at_;
        if (link_at && first == sp_or_zero)
            *link_at -= is_difference ? -added : added;
        write(to, sum(registers_[first], number(added), is_difference));
        if (to == sp_or_zero && first == sp_or_zero)
            link_at_ = link_at;
        return true;
    }
    if (has(0xbfe0fc00, 0x8b000000)) {
        write_but_zero(to, sum(read_but_zero(first), read_but_zero(field(16, 5)), is_difference));
        return true;
    }
    if (has(0xffe0ffe0, 0xaa0003e0)) { // mov, which is orr with zero
        write_but_zero(to, read_but_zero(field(16, 5)));
        return true;
    }
    if (has(0xff800000, 0xd2800000)) { // movz
        write_but_zero(to, number(static_cast<std::int64_t>(std::uint64_t{field(5, 16)} << 16 * field(21, 2))));
        return true;
    }
    return false;
}

/// Loads or stores one word or two that follow each other, from where the register leads, in the fields of the instruction.
void CodeExecutionArm64::access(std::uint32_t first, std::uint32_t second, std::int64_t offset, bool is_load, unsigned writes_back) {
    const std::uint32_t base = field(5, 5);
    const KnownValue pointer = registers_[base], moved = sum(pointer, number(offset), false);
    const std::int64_t distance = writes_back == post_index ? 0 : offset;
    const std::int64_t moves_by = writes_back == no_write_back ? 0 : offset;
    std::optional<std::int64_t> link_at = link_at_;
    if (link_at && base == sp_or_zero)
        *link_at -= moves_by;
    const auto one = [&](std::uint32_t number, std::int64_t at) {
        std::optional<CodePath> address;
        if (pointer && !pointer->minus && pointer->path.base != CodePath::nothing)
            address = pointer->path.plus(at);
        if (!is_load)
            return store(address, read_but_zero(number));
        write_but_zero(number, load(address));
        if (number == link_register)
            link_at = base == sp_or_zero ? std::optional(at - moves_by) : std::nullopt;
    };
    one(first, distance);
    if (second != no_second)
        one(second, distance + arm64_register);
    if (writes_back != no_write_back)
        write(base, moved);
    link_at_ = link_at;
}

/// ldr, str, ldp and stp of whole registers.
bool CodeExecutionArm64::execute_memory() {
    const std::uint32_t first = field(0, 5);
    const bool is_load = field(22, 1) != 0;
    if (has(0xff800000, 0xf9000000)) {
        access(first, no_second, static_cast<std::int64_t>(field(10, 12)) * arm64_register, is_load, no_write_back);
        return true;
    }
    if (has(0xffa00000, 0xf8000000) && field(10, 2) != 2) {
        access(first, no_second, arm64_signed_field(is_, 12, 9), is_load, field(10, 2));
        return true;
    }
    if (has(0xfe000000, 0xa8000000)) {
        access(first, field(10, 5), arm64_signed_field(is_, 15, 7) * arm64_register, is_load, field(23, 2) == 2 ? no_write_back : field(23, 2));
        return true;
    }
    return false;
}

void CodeExecutionArm64::execute() {
    if (has(0xfc000000, 0x94000000) || has(0xfffffc1f, 0xd63f0000)) { // bl, blr
        forget(lost_in_calls_arm64);
        link_at_.reset();
        return;
    }
    if (execute_sum() || execute_memory())
        return;
    if (has(0xffe0001f, 0xd4000001)) { // svc
        if (registers_[8] == number(clone_number)) // from there on there is a thread with another stack as well
            write(sp_or_zero, std::nullopt);
        return write(0, std::nullopt);
    }
    // Others write no register but the first field's, and the one that has the address, if they change that.
    if (writes_stack_pointer())
        write(field(0, 5), std::nullopt);
    else
        write_but_zero(field(0, 5), std::nullopt);
    if (writes_address())
        write(field(5, 5), std::nullopt);
}

/// Whether the number 31 is the stack pointer's for what it writes: add and sub with a number, or a register that is extended; and, orr and eor with a number.
bool CodeExecutionArm64::writes_stack_pointer() const {
    return has(0x3f800000, 0x11000000) || has(0x3fe00000, 0x0b200000) || (has(0x1f800000, 0x12000000) && field(29, 2) != 3);
}

/// Whether it loads or stores something, or two of it, and adds to the address before or behind that.
bool CodeExecutionArm64::writes_address() const {
    return (has(0x3b200000, 0x38000000) && field(10, 1) != 0) || (has(0x3a000000, 0x28000000) && field(23, 1) != 0);
}

std::optional<CodeExecution::ReturnAddress> CodeExecutionArm64::return_address() const {
    if (link_at_) {
        if (*link_at_ % arm64_register != 0 || !fits<std::int16_t>(*link_at_ / arm64_register))
            return std::nullopt;
        return ReturnAddress{false, static_cast<std::int16_t>(*link_at_ / arm64_register)};
    }
    const KnownValue &value = registers_[link_register];
    if (!value || value->minus || value->path != CodePath{link_register, {0}})
        return std::nullopt;
    return ReturnAddress{true, link_register};
}

} // namespace argtrace::elf
