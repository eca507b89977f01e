// SPDX-License-Identifier: GPL-2.0-only
#include "render/floating_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/floating.h"

#if defined(__x86_64__)
__extension__ using Quad = __float128;

// glibc's <stdlib.h> has them for gcc alone.
extern "C" int strfromf128(char *text, std::size_t size, const char *format, Quad number) noexcept;
extern "C" Quad strtof128(const char *text, char **end) noexcept;
#else
using Quad = long double;
static_assert(std::numeric_limits<Quad>::digits == 113);
#endif

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

namespace {

std::string digits_of(Quad number, unsigned digits) {
    char text[64];
#if defined(__x86_64__)
    strfromf128(text, sizeof(text), fmt::format("%.{}g", digits).c_str(), number);
#else
    std::snprintf(text, sizeof(text), "%.*Lg", static_cast<int>(digits), number);
#endif
    return text;
}

Quad quad_of(const std::string &text) {
#if defined(__x86_64__)
    return strtof128(text.c_str(), nullptr);
#else
    return std::strtold(text.c_str(), nullptr);
#endif
}

} // namespace

std::string quad_text(std::span<const std::byte> bytes) {
    constexpr unsigned digits_max = 36; // with which each is another
    Quad number;
    if (bytes.size() < sizeof(number))
        return {};
    std::memcpy(&number, bytes.data(), sizeof(number));
    if (number != number)
        return "nan";
    std::string text;
    for (unsigned digits = 1; digits <= digits_max && (text.empty() || quad_of(text) != number); digits++)
        text = digits_of(number, digits);
    return with_point(std::move(text));
}

bool is_finite(const Value &value) {
    return std::isfinite(floating_value(value));
}

} // namespace argtrace
