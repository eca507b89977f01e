// SPDX-License-Identifier: GPL-2.0-only
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "decode/status.h"
#include "model/event.h"

namespace argtrace {

/// What may follow the arguments, up to the record's alignment.
inline constexpr std::size_t record_padding_max = 7;

// The data of a record -> one value for each argument of its probe (`values` has room for
// them; what BYTES consist of is appended to `bytes`). Arguments that are not captured have no
// data. Both encodings give the same values. Behind the arguments only the padding to the record's
// alignment may follow.

DecodeStatus read_compact(std::span<const std::byte> data, const Probe &probe,
                          std::span<Value> values, std::vector<std::byte> &bytes);

DecodeStatus read_named(std::span<const std::byte> data, const Probe &probe,
                        std::span<Value> values, std::vector<std::byte> &bytes);

} // namespace argtrace
