// SPDX-License-Identifier: GPL-2.0-only
#include "lang/arithmetic.h"

#include <algorithm>

namespace argtrace::lang {

namespace {

constexpr std::uint32_t int_bytes = 4;

} // namespace

Type promoted(const TypeTraits &traits, std::uint32_t bits) {
    if (traits.kind == TypeTraits::Kind::pointer)
        return ulong_type;
    if (bits > 8 * int_bytes || (bits == 0 && traits.bytes > int_bytes))
        return traits.is_signed ? long_type : ulong_type;
    const bool as_wide = bits ? bits == 8 * int_bytes : traits.bytes == int_bytes;
    return as_wide && !traits.is_signed ? uint_type : int_type;
}

Type common_type(Type a, Type b) {
    if (is_wide(a) != is_wide(b))
        return is_wide(a) ? a : b;
    return is_signed(a) ? b : a;
}

std::optional<std::uint64_t> compute(argtrace_alu op, std::uint64_t a, std::uint64_t b,
                                     unsigned bytes, bool is_signed) {
    const unsigned bits = 8 * bytes;
    a = extend(a, bits, is_signed);
    b = extend(b, bits, is_signed);
    const auto sa = static_cast<std::int64_t>(a), sb = static_cast<std::int64_t>(b);
    std::uint64_t result = 0;
    switch (op) {
    case ARGTRACE_ALU_ADD:
        result = a + b;
        break;
    case ARGTRACE_ALU_SUB:
        result = a - b;
        break;
    case ARGTRACE_ALU_MUL:
        result = a * b;
        break;
    case ARGTRACE_ALU_DIV:
        if (b == 0)
            return std::nullopt;
        if (is_signed)
            result = sb == -1 ? 0 - a : static_cast<std::uint64_t>(sa / sb);
        else
            result = a / b;
        break;
    case ARGTRACE_ALU_MOD:
        if (b == 0)
            return std::nullopt;
        if (is_signed)
            result = sb == -1 ? 0 : static_cast<std::uint64_t>(sa % sb);
        else
            result = a % b;
        break;
    case ARGTRACE_ALU_AND:
        result = a & b;
        break;
    case ARGTRACE_ALU_OR:
        result = a | b;
        break;
    case ARGTRACE_ALU_XOR:
        result = a ^ b;
        break;
    case ARGTRACE_ALU_SHL:
        result = a << (b & (bits - 1));
        break;
    case ARGTRACE_ALU_SHR:
        result =
            is_signed ? static_cast<std::uint64_t>(sa >> (b & (bits - 1))) : a >> (b & (bits - 1));
        break;
    case ARGTRACE_ALU_EQ:
        result = a == b;
        break;
    case ARGTRACE_ALU_NE:
        result = a != b;
        break;
    case ARGTRACE_ALU_LT:
        result = is_signed ? sa < sb : a < b;
        break;
    case ARGTRACE_ALU_LE:
        result = is_signed ? sa <= sb : a <= b;
        break;
    }
    return extend(result, bits, is_signed);
}

} // namespace argtrace::lang
