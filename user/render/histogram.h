// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstdint>
#include <string>

#include "analyze/aggregation.h"

namespace argtrace {

/// What values are, which says how they are written.
enum class ValueUnit : std::uint8_t { plain, nanoseconds };

/// What bars are made of.
enum class BarStyle : std::uint8_t { ascii, blocks };

/// "4096", "1.83us"; "?" where there is none.
std::string format_value(WideNumber value, ValueUnit unit);

/// "[4K, 8K)", "[1]", "(..., 0)": numbers as format_value() writes them, but 4096 as 4K.
std::string format_range(const Buckets::Range &range, ValueUnit unit);

/// A line for each bucket from the first that has values to the last, 80 columns wide:
///
///     [4K, 8K)               12 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@                        |
void append_histogram(std::string &out, const Aggregation &all, const Aggregation::Entry &entry,
                      ValueUnit unit, BarStyle style);

} // namespace argtrace
