// SPDX-License-Identifier: GPL-2.0-only
#include "render/load_value.h"

#include <algorithm>
#include <cstring>

#include "model/type.h"

namespace argtrace {

namespace {

std::uint64_t sign_extend(std::uint64_t value, std::uint32_t bits) {
    const std::uint32_t spare = 64 - bits;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << spare) >> spare);
}

} // namespace

Value load_value(const Format &format, std::span<const std::byte> data) {
    Value value;
    if (data.size() < format.bytes || format.bytes > 16)
        return value;
    std::memcpy(&value.low, data.data(), std::min<std::size_t>(format.bytes, 8));
    if (format.is_big_endian && format.bytes <= 8)
        value.low = __builtin_bswap64(value.low) >> (64 - 8 * format.bytes);
    if (format.bytes > 8)
        std::memcpy(&value.high, data.data() + 8, format.bytes - 8);
    else if (type_info(format.type).is_signed)
        value.low = sign_extend(value.low, 8 * format.bytes);
    value.type = format.type;
    value.captured = true;
    return value;
}

Value load_bits(const Format &format, std::span<const std::byte> data, std::uint32_t offset,
                std::uint32_t bits) {
    Value value;
    if (bits > 64 || (std::size_t{offset} + bits + 7) / 8 > data.size())
        return value;
    for (std::uint32_t got = 0; got < bits;) {
        const std::uint32_t at = offset + got;
        const std::uint32_t take = std::min(8 - at % 8, bits - got);
        const auto byte = std::to_integer<std::uint64_t>(data[at / 8]);
        value.low |= (byte >> at % 8 & ((1u << take) - 1)) << got;
        got += take;
    }
    if (type_info(format.type).is_signed)
        value.low = sign_extend(value.low, bits);
    value.type = format.type;
    value.captured = true;
    return value;
}

} // namespace argtrace
