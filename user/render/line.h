// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace argtrace {

/// Text that is appended to many lines.
class Snippet {
public:
    Snippet() : Snippet(std::string()) {}
    explicit Snippet(std::string text) : size_(text.size()), text_(std::move(text)) {
        text_.append(block, '\0');
    }

    std::string_view view() const { return {text_.data(), size_}; }

private:
    friend class Line;

    // Copied in blocks of constant size, which takes no call: the last may reach beyond the end.
    static constexpr std::size_t block = 16;

    std::size_t size_;
    std::string text_;
};

/// Text in the making: what is appended most is appended in a few instructions. Its memory is
/// used again after clear().
class Line {
public:
    using value_type = char; // as std::back_inserter() wants it

    Line() : text_(new char[first_capacity + slack]) {}

    void clear() { size_ = 0; }
    std::string_view view() const { return {text_.get(), size_}; }

    void push_back(char character) { *room(1) = character, ++size_; }

    Line &operator+=(char character) {
        push_back(character);
        return *this;
    }

    Line &operator+=(std::string_view text) {
        std::memcpy(room(text.size()), text.data(), text.size());
        size_ += text.size();
        return *this;
    }

    Line &operator+=(const Snippet &snippet) {
        char *to = room(snippet.size_);
        const char *from = snippet.text_.data();
        for (std::size_t done = 0; done < snippet.size_; done += Snippet::block)
            std::memcpy(to + done, from + done, Snippet::block);
        size_ += snippet.size_;
        return *this;
    }

    void append_spaces(std::size_t count) {
        char *to = room(count);
        for (std::size_t done = 0; done < count; done += Snippet::block)
            std::memset(to + done, ' ', Snippet::block);
        size_ += count;
    }

    void append_decimal(std::uint64_t number) { append_integer(number); }
    void append_signed(std::int64_t number) { append_integer(number); }

    /// As 0x and lower-case digits.
    void append_hex(std::uint64_t number) {
        const int skipped = number == 0 ? 15 : std::countl_zero(number) / 4;
        char *to = room(2 + 16);
        std::memcpy(to, "0x", 2);
        number <<= 4 * skipped;
        store(to + 2, hex_digits(static_cast<std::uint32_t>(number >> 32)));
        store(to + 10, hex_digits(static_cast<std::uint32_t>(number)));
        size_ += static_cast<std::size_t>(2 + 16 - skipped);
    }

    /// As nine digits.
    void append_nanoseconds(std::uint32_t number) {
        char *to = room(9);
        to[0] = static_cast<char>('0' + number / 100000000);
        store(to + 1, decimal_digits(number % 100000000));
        size_ += 9;
    }

private:
    static constexpr std::size_t first_capacity = 1024;
    static constexpr std::size_t slack = 2 * Snippet::block; // what blocks may reach beyond

    /// Where to append so many bytes.
    char *room(std::size_t bytes) {
        if (capacity_ - size_ < bytes) [[unlikely]]
            grow(bytes);
        return text_.get() + size_;
    }

    void grow(std::size_t bytes);

    template<typename Integer>
    void append_integer(Integer number) {
        char *to = room(20); // as many digits as 2^64 has, or 19 and a sign
        size_ += static_cast<std::size_t>(std::to_chars(to, to + 20, number).ptr - to);
    }

    // Eight digits at once, each in its byte, the first one lowest: the machine is little-endian.
    static void store(char *to, std::uint64_t digits) { std::memcpy(to, &digits, sizeof(digits)); }

    static std::uint64_t hex_digits(std::uint32_t number) {
        std::uint64_t each = number;
        each = (each << 16 | each) & 0x0000ffff0000ffff;
        each = (each << 8 | each) & 0x00ff00ff00ff00ff;
        each = (each << 4 | each) & 0x0f0f0f0f0f0f0f0f;
        const std::uint64_t letters = (each + 0x0606060606060606) >> 4 & 0x0101010101010101;
        return __builtin_bswap64(each + 0x3030303030303030 + letters * ('a' - '0' - 10));
    }

    static std::uint64_t decimal_digits(std::uint32_t number) {
        // Halves, then pairs, then digits, side by side; x * 5243 >> 19 is x / 100 and x * 103 >>
        // 10 is x / 10, as far as x can go here.
        const std::uint64_t halves = number / 10000 | std::uint64_t{number % 10000} << 32;
        const std::uint64_t hundreds = (halves * 5243 >> 19) & 0x0000007f0000007f;
        const std::uint64_t pairs = hundreds | (halves - hundreds * 100) << 16;
        const std::uint64_t tens = (pairs * 103 >> 10) & 0x000f000f000f000f;
        return (tens | (pairs - tens * 10) << 8) + 0x3030303030303030;
    }

    std::size_t size_ = 0;
    std::size_t capacity_ = first_capacity;
    std::unique_ptr<char[]> text_;
};

} // namespace argtrace
