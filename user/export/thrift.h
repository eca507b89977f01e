// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace argtrace {

/// Structs in Thrift's compact protocol
/// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). Fields are
/// written in the order of their ids.
class ThriftWriter {
public:
    ThriftWriter() { last_.push_back(0); }

    const std::string &bytes() const { return out_; }

    void i8(int id, std::int8_t value) {
        field(id, 3);
        out_ += static_cast<char>(value);
    }
    void i32(int id, std::int64_t value) {
        field(id, 5);
        zigzag(value);
    }
    void i64(int id, std::int64_t value) {
        field(id, 6);
        zigzag(value);
    }
    void boolean(int id, bool value) { field(id, value ? 1 : 2); }
    void binary(int id, std::string_view value) {
        field(id, 8);
        text(value);
    }

    /// A struct as a field, or with the id 0 as an element of a list.
    void begin(int id) {
        if (id > 0)
            field(id, 12);
        last_.push_back(0);
    }
    void end() {
        out_ += '\0';
        last_.pop_back();
    }

    /// Begins a list; the elements follow.
    void structs(int id, std::size_t count) { list(id, 12, count); }
    void integers(int id, std::initializer_list<std::int64_t> values) {
        list(id, 5, values.size());
        for (const std::int64_t value : values)
            zigzag(value);
    }
    void texts(int id, std::initializer_list<std::string_view> values) {
        list(id, 8, values.size());
        for (const std::string_view value : values)
            text(value);
    }

    /// Ends the outermost struct.
    void finish() { out_ += '\0'; }

private:
    void field(int id, unsigned type) {
        const int step = id - last_.back();
        if (step > 0 && step <= 15) {
            out_ += static_cast<char>(static_cast<unsigned>(step) << 4 | type);
        } else {
            out_ += static_cast<char>(type);
            zigzag(id);
        }
        last_.back() = id;
    }
    void list(int id, unsigned type, std::size_t count) {
        field(id, 9);
        if (count < 15) {
            out_ += static_cast<char>(count << 4 | type);
        } else {
            out_ += static_cast<char>(0xf0 | type);
            varint(count);
        }
    }
    void text(std::string_view value) {
        varint(value.size());
        out_ += value;
    }
    void zigzag(std::int64_t value) {
        varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
    }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7)
            out_ += static_cast<char>(value | 0x80);
        out_ += static_cast<char>(value);
    }

    std::string out_;
    std::vector<int> last_; // the ids of the last fields, by nesting
};

} // namespace argtrace
