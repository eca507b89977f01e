// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace argtrace::elf {

/// Reads what DWARF consists of. Once something has been missing, it is at an end and all further
/// numbers are 0.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

    bool at_end() const { return bytes_.empty(); }
    bool failed() const { return failed_; }
    std::string_view rest() const { return bytes_; }

    template<typename T>
    T number() {
        T value = 0;
        if (bytes_.size() < sizeof(T)) {
            fail();
            return value;
        }
        std::memcpy(&value, bytes_.data(), sizeof(T));
        bytes_.remove_prefix(sizeof(T));
        return value;
    }

    std::uint64_t uleb() {
        unsigned shift = 0;
        bool negative = false;
        return leb(shift, negative);
    }

    std::int64_t sleb() {
        unsigned shift = 0;
        bool negative = false;
        std::uint64_t value = leb(shift, negative);
        if (negative && shift < 64)
            value |= ~std::uint64_t(0) << shift;
        return static_cast<std::int64_t>(value);
    }

    /// Bytes whose number stands before them.
    std::string_view block() { return take(uleb()); }

    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size()) {
            fail();
            return {};
        }
        const std::string_view taken = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return taken;
    }

private:
    void fail() {
        failed_ = true;
        bytes_ = {};
    }

    std::uint64_t leb(unsigned &shift, bool &negative) {
        std::uint64_t value = 0;
        for (;;) {
            const auto byte = number<std::uint8_t>();
            if (failed_)
                return 0;
            if (shift < 64)
                value |= std::uint64_t(byte & 0x7f) << shift;
            shift += 7;
            negative = byte & 0x40;
            if (!(byte & 0x80))
                return value;
        }
    }

    std::string_view bytes_;
    bool failed_ = false;
};

} // namespace argtrace::elf
