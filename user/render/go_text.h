// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "render/value_writer.h"

namespace argtrace {

// Values of Go's, whose parts are recorded behind them (spec/go_parts.h), as text:
//
//     b=[1 2 3] len=3 cap=8, p={X:1 S:"a"}, m=map[...] len=3, err=error(*errors.errorString)"third", d=1.5s

/// As Go's Duration.String() has it: "1.5s", "1h0m0s", "100µs".
std::string go_duration(std::int64_t nanoseconds);

/// Appends the value with that index, of which `count` values from `first` on are the parts.
void append_go_value(Line &out, ValueWriter &values, const EventView &view, std::size_t argument, std::size_t first, std::size_t count);

} // namespace argtrace
