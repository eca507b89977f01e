// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace argtrace::test {

/// Takes a number of Protocol Buffers or Thrift from the front of `bytes`: seven bits a byte, the lowest
/// first, and the highest bit of each says that another follows. Throws when it has no end.
inline std::uint64_t take_varint(std::string_view &bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        if (bytes.empty() || shift > 63)
            throw std::runtime_error("a number has no end");
        const auto byte = static_cast<unsigned char>(bytes[0]);
        bytes.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80)
            return value;
    }
}

} // namespace argtrace::test
