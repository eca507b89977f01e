// SPDX-License-Identifier: GPL-2.0-only
#include "render/floating_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "model/floating.h"

namespace argtrace {

namespace {

std::string with_point(std::string text) {
    if (text.find_first_not_of("-0123456789") == text.npos)
        text += ".0";
    return text;
}

template<typename Number>
std::string text_of(Number number) {
    if (std::isnan(number))
        return "nan"; // its sign and payload mean nothing
    return with_point(fmt::format("{}", number));
}

} // namespace

std::string floating_text(const Value &value) {
    return value.type == ARGTRACE_TYPE_F32 ? text_of(std::bit_cast<float>(static_cast<std::uint32_t>(value.low)))
                                           : text_of(std::bit_cast<double>(value.low));
}

std::string extended_text(std::span<const std::byte> bytes) {
    constexpr std::size_t used = 10; // the significand's 64 bits, the exponent and the sign
    using Extended = std::numeric_limits<long double>;
    if (bytes.size() < used || Extended::digits != 64)
        return {};
    long double number = 0;
    std::memcpy(&number, bytes.data(), used);
    if (std::isnan(number))
        return "nan";
    char text[64];
    const auto [end, error] = std::to_chars(text, std::end(text), number);
    return error == std::errc() ? with_point(std::string(text, end)) : std::string();
}

bool is_finite(const Value &value) {
    return std::isfinite(floating_value(value));
}

} // namespace argtrace
