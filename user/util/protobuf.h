// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace argtrace {

/// The most bytes that a number takes; write_varint() may write so many, whatever it returns.
inline constexpr std::size_t varint_size_max = 10;

/// Writes a number as a varint, and returns the end: seven bits a byte, all bytes at once (the machine is
/// little-endian).
[[gnu::always_inline]] inline char *write_varint(char *to, std::uint64_t value) {
    if (value < 0x80) {
        *to = static_cast<char>(value);
        return to + 1;
    }
    std::uint64_t bytes = (value & 0x0fffffff) | (value & 0x00fffffff0000000) << 4;
    bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x0fffc0000fffc000) << 2;
    bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x3f803f803f803f80) << 1;
    bytes |= 0x8080808080808080; // others follow
    std::memcpy(to, &bytes, sizeof(bytes));
    const auto size = (9 * static_cast<unsigned>(std::bit_width(value)) + 64) / 64; // a seventh of the bits, rounded up
    if (size > sizeof(bytes)) {
        to[8] = static_cast<char>(value >> 56 | 0x80);
        to[9] = static_cast<char>(value >> 63);
    }
    to[size - 1] &= 0x7f;
    return to + size;
}

/// What the length of a message takes, whose beginning and end these are and which is below 16 KiB; it is before the message.
inline constexpr std::size_t short_length_size = 2;

[[gnu::always_inline]] inline void write_length(char *begin, const char *end) {
    const auto length = static_cast<std::size_t>(end - begin);
    // A varint may be longer than it needs to be.
    const auto bytes = static_cast<std::uint16_t>((length & 0x7f) | 0x80 | length >> 7 << 8);
    static_assert(sizeof(bytes) == short_length_size);
    std::memcpy(begin - sizeof(bytes), &bytes, sizeof(bytes));
}

/// Messages in the wire format of protocol buffers
/// (https://protobuf.dev/programming-guides/encoding).
class ProtobufWriter {
public:
    std::string_view view() const { return {bytes_.get(), size()}; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - bytes_.get()); }
    bool empty() const { return end_ == bytes_.get(); }
    void clear() { end_ = bytes_.get(); }

    // Inlined by force: with a field that is known the key is a byte, or two.
    [[gnu::always_inline]] void number(unsigned field, std::uint64_t value) {
        reserve(2 * varint_max);
        put_varint(field << 3 | wire_varint);
        put_varint(value);
    }

    /// As int64 and int32 are encoded.
    void signed_number(unsigned field, std::int64_t value) {
        number(field, static_cast<std::uint64_t>(value));
    }

    void floating(unsigned field, double value) {
        reserve(varint_max + sizeof(value));
        put_varint(field << 3 | wire_fixed64);
        put({reinterpret_cast<const char *>(&value), sizeof(value)});
    }

    void text(unsigned field, std::string_view value) {
        reserve(2 * varint_max + value.size());
        put_varint(field << 3 | wire_length);
        put_varint(value.size());
        put(value);
    }

    /// Makes room for so many bytes, and returns where they go; set_end() takes the end of what has been
    /// written there.
    [[nodiscard, gnu::always_inline]] char *room(std::size_t bytes) {
        reserve(bytes);
        return end_;
    }
    void set_end(char *end) { end_ = end; }

    /// Fields that have been encoded already.
    void raw(std::string_view fields) {
        reserve(fields.size());
        put(fields);
    }

    /// Begins a message in this one; close() takes what this returns.
    [[nodiscard, gnu::always_inline]] std::size_t open(unsigned field) {
        reserve(2 * varint_max);
        put_varint(field << 3 | wire_length);
        end_ += length_size;
        return size();
    }

    /// Ends the message: its length goes to the place that open() left for it.
    void close(std::size_t begin) {
        const std::size_t length = size() - begin;
        if (length >> 7 * length_size) [[unlikely]]
            return close_long(begin, length);
        write_length(&bytes_[begin], end_);
    }

private:
    enum : unsigned { wire_varint = 0, wire_fixed64 = 1, wire_length = 2 };

    static constexpr std::size_t varint_max = varint_size_max;
    static constexpr std::size_t length_size = short_length_size;
    static constexpr std::size_t long_length_size = 5; // of all others

    void close_long(std::size_t begin, std::size_t length) {
        constexpr std::size_t bytes = long_length_size;
        reserve(bytes);
        std::memmove(&bytes_[begin - length_size + bytes], &bytes_[begin], length);
        end_ += bytes - length_size;
        char *to = &bytes_[begin - length_size];
        for (std::size_t i = 0; i < bytes; ++i)
            to[i] = static_cast<char>((length >> 7 * i & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
    }

    [[gnu::always_inline]] void reserve(std::size_t bytes) {
        if (capacity_ - size() < bytes) [[unlikely]]
            grow(bytes);
    }

    void grow(std::size_t bytes) {
        const std::size_t filled = size();
        while (capacity_ - filled < bytes)
            capacity_ *= 2;
        std::unique_ptr<char[]> larger(new char[capacity_]);
        std::memcpy(larger.get(), bytes_.get(), filled);
        bytes_ = std::move(larger);
        end_ = bytes_.get() + filled;
    }

    void put(std::string_view bytes) {
        if (bytes.empty()) // it may have no address
            return;
        std::memcpy(end_, bytes.data(), bytes.size());
        end_ += bytes.size();
    }

    [[gnu::always_inline]] void put_varint(std::uint64_t value) {
        end_ = write_varint(end_, value);
    }

    std::size_t capacity_ = 1024;
    std::unique_ptr<char[]> bytes_{new char[capacity_]};
    char *end_ = bytes_.get();
};

} // namespace argtrace
