// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace argtrace {

// Numbers as digits, written to where there is room for the longest. They return the end.

inline constexpr std::size_t decimal_size_max = 20; ///< -2^63 as well as 2^64 - 1
inline constexpr std::size_t hex_size_max = 2 + 16;

template<typename Integer>
char *write_decimal(char *to, Integer number) {
    return std::to_chars(to, to + decimal_size_max, number).ptr;
}

/// As 0x and lower-case digits. Writes hex_size_max characters, whatever it returns.
inline char *write_hex(char *to, std::uint64_t number) {
    using Words __attribute__((vector_size(16))) = std::uint64_t;
    using Bytes __attribute__((vector_size(16))) = signed char;
    constexpr std::uint64_t nibbles = 0x0f0f0f0f0f0f0f0f;
    const int skipped = number == 0 ? 15 : std::countl_zero(number) / 4;

    // All digits at once, the first one in the first byte (the machine is little-endian).
    const std::uint64_t pairs = __builtin_bswap64(number << 4 * skipped);
    const auto first = reinterpret_cast<Bytes>(Words{pairs >> 4 & nibbles, 0});
    const auto second = reinterpret_cast<Bytes>(Words{pairs & nibbles, 0});
    const Bytes digits = __builtin_shufflevector(first, second, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20,
                                                 5, 21, 6, 22, 7, 23);
    const Bytes text = digits + '0' + ((digits > 9) & ('a' - '9' - 1));
    std::memcpy(to, "0x", 2);
    std::memcpy(to + 2, &text, sizeof(text));
    return to + hex_size_max - skipped;
}

/// What std::array would have to be filled with by hand: 000, 001 ... 999.
inline constexpr auto three_digits = [] {
    std::array<std::array<char, 4>, 1000> table{};
    for (unsigned i = 0; i < table.size(); ++i)
        table[i] = {static_cast<char>('0' + i / 100), static_cast<char>('0' + i / 10 % 10),
                    static_cast<char>('0' + i % 10), '0'};
    return table;
}();

/// As nine digits. Writes one more.
inline char *write_nanoseconds(char *to, std::uint32_t number) {
    std::memcpy(to, three_digits[number / 1000000].data(), 4);
    std::memcpy(to + 3, three_digits[number / 1000 % 1000].data(), 4);
    std::memcpy(to + 6, three_digits[number % 1000].data(), 4);
    return to + 9;
}

} // namespace argtrace
