// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/wide_number.h"

namespace argtrace {

/// Reads a size in bytes: "65536", "64K", "4M", "1G" (powers of 1024; lower case, "KB" and
/// "KiB" too). Throws Error, which begins with `what`, on anything else.
std::uint64_t parse_size(std::string_view what, std::string_view text);

/// The shortest exact form that parse_size() reads: "64K", "4M", "1000".
std::string format_size(std::uint64_t bytes);

/// Reads a whole number from 1 on. Throws Error, which begins with `what`, on anything else.
std::uint64_t parse_count(std::string_view what, std::string_view text);

/// Reads a duration as nanoseconds, more than none and at most a year: seconds ("2", "0.25"), or a
/// number with a unit ("500ms", "10s", "1.5m", "2h").
/// Throws Error, which begins with `what`, on anything else.
std::uint64_t parse_duration(std::string_view what, std::string_view text);

/// Exactly, in the largest unit that divides it: "500ms", "10s", "2m".
std::string format_span(std::uint64_t nanoseconds);

/// With three digits and a unit: "832ns", "1.83us", "12.3ms", "1.20s", "125s".
std::string format_duration(WideNumber nanoseconds);

/// Reads a moment ("12.5", any number of digits behind the point up to nine) in seconds as
/// nanoseconds, exactly. Throws Error, which begins with `what`, on anything else.
std::uint64_t parse_moment(std::string_view what, std::string_view text);

} // namespace argtrace
