// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <optional>

#include "lang/type.h"
#include "uapi/argtrace_program.h"

namespace argtrace::lang {

/// The low `bits` (1 to 64) of a value, extended by their sign or by zeros.
constexpr std::uint64_t extend(std::uint64_t value, unsigned bits, bool is_signed) {
    if (bits >= 64)
        return value;
    const std::uint64_t low = value & ((std::uint64_t{1} << bits) - 1);
    const bool negative = is_signed && (low >> (bits - 1)) != 0;
    return negative ? low | ~std::uint64_t{0} << bits : low;
}

/// C's integer promotions (C17 6.3.1.1): int, unsigned int, long or unsigned long. `bits` is the
/// width of a bit-field, else 0. gcc computes with wider bit-fields than int in just their width;
/// here they are long.
Type promoted(const TypeTraits &traits, std::uint32_t bits = 0);

/// C's usual arithmetic conversions (6.3.1.8) of two promoted types.
Type common_type(Type a, Type b);

/// Whether a promoted type has 8 bytes, and whether it has a sign. Pointers have none.
constexpr bool is_wide(Type type) {
    return type.basic == Type::Basic::long_ || type.basic == Type::Basic::ulong || type.stars > 0;
}
constexpr bool is_signed(Type type) {
    return type.stars == 0 && (type.basic == Type::Basic::long_ || type.basic == Type::Basic::int_);
}

/// What an ALU instruction of that width (4 or 8 bytes) does, as the module does it. Nothing for
/// a division by zero.
std::optional<std::uint64_t> compute(argtrace_alu op, std::uint64_t a, std::uint64_t b,
                                     unsigned bytes, bool is_signed);

} // namespace argtrace::lang
