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
// them; what BYTES and STR consist of is appended to `bytes`). Arguments that are not captured have no
// data. Both encodings give the same values. Behind the arguments only the padding to the record's
// alignment may follow.
//
// What a program has computed (LOC_PROGRAM) follows all other arguments, wherever it is among the probe's, and is in
// the compact encoding alone. Of these values, those that could not be read are not captured.

DecodeStatus read_compact(std::span<const std::byte> data, const Probe &probe,
                          std::span<Value> values, std::vector<std::byte> &bytes);

DecodeStatus read_named(std::span<const std::byte> data, const Probe &probe,
                        std::span<Value> values, std::vector<std::byte> &bytes);

/// Whether all of an array is recorded: the module cannot know that what follows it is no text.
bool is_whole_array(const Argument &argument);

/// The value of an argument that is a number in one of the argument registers, `regs`, or in two; any other is not captured.
Value read_register(const Argument &argument, std::span<const __u64> regs);

} // namespace argtrace
