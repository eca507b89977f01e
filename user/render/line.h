// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "render/digits.h"

namespace argtrace {

/// Text that is appended to many lines.
class Snippet {
public:
    // Copied in blocks of constant size, which takes no call.
    static constexpr std::size_t block = 16;

    Snippet() : Snippet(std::string()) {}
    explicit Snippet(std::string text) : size_(text.size()), text_(std::move(text)) {
        text_.append(block, '\0'); // what is read beyond the end
    }

    std::string_view view() const { return {text_.data(), size_}; }

    /// Returns the end; may write up to a block more.
    char *write(char *to) const {
        const char *from = text_.data();
        std::memcpy(to, from, block);
        for (std::size_t done = block; done < size_; done += block)
            std::memcpy(to + done, from + done, block);
        return to + size_;
    }

private:
    std::size_t size_;
    std::string text_;
};

/// Text in the making, in memory that is used again after clear().
///
/// What is written most goes past all checks: reserve() room for it once, write it behind end() a
/// piece at a time, and set_end().
class Line {
public:
    using value_type = char; // as std::back_inserter() wants it

    /// What is written may reach so far beyond the room reserved.
    static constexpr std::size_t slack = 2 * Snippet::block;

    Line() : text_(new char[first_capacity + slack]), end_(text_.get()) {}

    void clear() { end_ = text_.get(); }
    std::string_view view() const { return {text_.get(), size()}; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - text_.get()); }

    /// Makes room for so many bytes more, and returns the end.
    char *reserve(std::size_t bytes) {
        if (capacity_ - size() < bytes) [[unlikely]]
            grow(bytes);
        return end_;
    }

    void set_end(char *end) { end_ = end; }

    void push_back(char character) {
        *reserve(1) = character;
        ++end_;
    }

    Line &operator+=(char character) {
        push_back(character);
        return *this;
    }

    Line &operator+=(std::string_view text) {
        if (text.empty()) // it may have no address, which memcpy() does not take
            return *this;
        std::memcpy(reserve(text.size()), text.data(), text.size());
        end_ += text.size();
        return *this;
    }

    Line &operator+=(const Snippet &snippet) {
        end_ = snippet.write(reserve(snippet.view().size()));
        return *this;
    }

    void append_spaces(std::size_t count) { end_ = write_spaces(reserve(count), count); }

    void append_decimal(std::uint64_t number) {
        end_ = write_decimal(reserve(decimal_size_max), number);
    }
    void append_signed(std::int64_t number) {
        end_ = write_decimal(reserve(decimal_size_max), number);
    }
    /// The nine digits behind a decimal point.
    void append_nanoseconds(std::uint32_t number) {
        constexpr std::size_t size_max = 10; // see write_nanoseconds()
        end_ = write_nanoseconds(reserve(size_max), number);
    }

    void append_hex(std::uint64_t number) { end_ = write_hex(reserve(hex_size_max), number); }

    /// May write up to Snippet::block - 1 bytes more.
    static char *write_spaces(char *to, std::size_t count) {
        for (std::size_t done = 0; done < count; done += Snippet::block)
            std::memset(to + done, ' ', Snippet::block);
        return to + count;
    }

private:
    static constexpr std::size_t first_capacity = 1024;

    void grow(std::size_t bytes);

    std::size_t capacity_ = first_capacity;
    std::unique_ptr<char[]> text_;
    char *end_;
};

} // namespace argtrace
