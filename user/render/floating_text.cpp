// SPDX-License-Identifier: GPL-2.0-only
#include "render/floating_text.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "model/floating.h"

namespace argtrace {

namespace {

template<typename Number>
std::string text_of(Number number) {
    if (std::isnan(number))
        return "nan"; // its sign and payload mean nothing
    std::string text = fmt::format("{}", number);
    if (text.find_first_not_of("-0123456789") == text.npos)
        text += ".0";
    return text;
}

} // namespace

std::string floating_text(const Value &value) {
    return value.type == ARGTRACE_TYPE_F32 ? text_of(std::bit_cast<float>(static_cast<std::uint32_t>(value.low)))
                                           : text_of(std::bit_cast<double>(value.low));
}

bool is_finite(const Value &value) {
    return std::isfinite(floating_value(value));
}

} // namespace argtrace
