// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "model/event.h"

namespace argtrace {

/// The shortest text that is this floating-point number and no other of its type, with a point or an exponent: "2.0", "1e+20"; "nan",
/// "inf", "-inf". The value has been captured.
std::string floating_text(const Value &value);

/// The same of a long double of x86-64, of which the first 10 bytes count. Empty: there are less, or it is of a machine with other numbers.
std::string extended_text(std::span<const std::byte> bytes);

/// The same of a number of 16 bytes in IEEE 754's binary128, which __float128 is, and long double of arm64. Empty: there are less.
std::string quad_text(std::span<const std::byte> bytes);

/// Whether JSON has a number for it: neither infinite nor NaN.
bool is_finite(const Value &value);

} // namespace argtrace
